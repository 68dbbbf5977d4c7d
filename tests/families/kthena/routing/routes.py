"""Short ways to write ModelServers and ModelRoutes, and to look at where they lead."""

import json
from typing import Any

from components.fleet.endpoints import Endpoint
from components.fleet.rendered import Rendered
from tests.families.kthena.serving.support import LABEL, Object, engine, model_serving, pods, role
from tests.fleets import errors, fleet_of

API = "networking.serving.volcano.sh/v1alpha1"
HOST = {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
ROUTER = "http://networking-kthena-router.kthena-system.svc.cluster.local:80/v1"


def networked(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": "ns"}, "spec": spec}


def pool(name: str, *args: str, app: str = "", replicas: int = 1, **spec: Any) -> Object:
    """A ModelServing with one role, whose pods have a label of their own."""
    metadata = {"labels": {"app": app or name}}
    entry = pods(engine(*args), metadata=metadata)
    return model_serving(name, role("leader", entryTemplate=entry), replicas=replicas, **spec)


def model_server(name: str = "s", app: str = "", port: int | None = 8000, **spec: Any) -> Object:
    """A ModelServer for a pool; further fields of its spec by their wire names."""
    spec.setdefault("workloadSelector", {"matchLabels": {"app": app or name}})
    spec.setdefault("inferenceEngine", "vLLM")
    if port is not None:
        spec.setdefault("workloadPort", {"port": port})
    return networked("ModelServer", name, spec)


def rule(*targets: str | tuple[str, int], **fields: Any) -> Object:
    """A rule to ModelServers, with their weights where these are given; further fields by their wire names."""
    listed = [
        {"modelServerName": each} if isinstance(each, str) else {"modelServerName": each[0], "weight": each[1]}
        for each in targets
    ]
    return {**fields, "targetModels": listed}


def model_route(*rules: Object, name: str = "r", model: str | None = "m", **spec: Any) -> Object:
    """A ModelRoute; further fields of its spec by their wire names."""
    named = {"modelName": model} if model else {}
    return networked("ModelRoute", name, {**named, "rules": [*rules], **spec})


def pair(name: str = "pd", connector: str = "NixlConnector") -> Object:
    """A ModelServing whose prefill hands over to its decode."""
    roles = []
    for side, word in (("prefill", "kv_producer"), ("decode", "kv_consumer")):
        told = json.dumps({"kv_connector": connector, "kv_role": word})
        container = {**engine("--kv-transfer-config", told, env=[HOST]), "image": "vllm/vllm-openai:v0.20.0"}
        roles.append(role(side, entryTemplate=pods(container)))
    return model_serving(name, *roles)


def pair_server(name: str = "pd", **spec: Any) -> Object:
    """The ModelServer of a pair."""
    selector = {
        "matchLabels": {f"{LABEL}/name": name},
        "pdGroup": {
            "groupKey": f"{LABEL}/group-name",
            "prefillLabels": {f"{LABEL}/role": "prefill"},
            "decodeLabels": {f"{LABEL}/role": "decode"},
        },
    }
    spec.setdefault("kvConnector", {"type": "nixl"})
    spec.setdefault("model", "org/name")
    return model_server(name, workloadSelector=selector, **spec)


def routed(*documents: Object, **options: Any) -> Rendered:
    """The only ModelRoute of documents without an error."""
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet), [str(problem) for problem in errors(fleet)]
    (item,) = [item for item in fleet.rendered if item.kind == "ModelRoute"]
    return item


def endpoints(*documents: Object, **options: Any) -> dict[str, Endpoint]:
    """The endpoints of the only ModelRoute by name."""
    return {endpoint.name: endpoint for endpoint in routed(*documents, **options).endpoints}
