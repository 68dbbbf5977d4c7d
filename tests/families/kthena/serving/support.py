"""Short ways to write ModelServings, and to look at what they become."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]

from components.fleet.rendered import Rendered
from tests.fleets import errors, fleet_of, warnings

Object = dict[str, Any]
WORKLOAD_API = "workload.serving.volcano.sh/v1alpha1"
LABEL = "modelserving.volcano.sh"
VLLM = "vllm/vllm-openai:v0.11.0"
_VALIDATED = {"Service"}


def engine(*args: str, **fields: Any) -> Object:
    """A container with vLLM."""
    return {"name": "engine", "image": VLLM, "args": ["--model", "org/name", *args], **fields}


def pods(*containers: Object, metadata: Object | None = None, **spec: Any) -> Object:
    """A pod template."""
    template: Object = {"spec": {"containers": [*containers], **spec}}
    return {"metadata": metadata, **template} if metadata else template


def role(name: str = "leader", workers: int = 0, **fields: Any) -> Object:
    """A role; further fields by their wire names."""
    fields.setdefault("entryTemplate", pods(engine()))
    if workers:
        fields.setdefault("workerTemplate", pods(engine()))
    return {"name": name, "workerReplicas": workers, **fields}


def model_serving(name: str = "ms", *roles: Object, template: Object | None = None, **spec: Any) -> Object:
    """A ModelServing; further fields of its spec by their wire names."""
    group = {**(template or {}), "roles": [*(roles or (role(),))]}
    return {
        "apiVersion": WORKLOAD_API,
        "kind": "ModelServing",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"schedulerName": "volcano", "template": group, **spec},
    }


def served(*documents: Object, **options: Any) -> Rendered:
    """The only ModelServing of documents without an error."""
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet), [str(problem) for problem in errors(fleet)]
    (item,) = [item for item in fleet.rendered if item.kind == "ModelServing"]
    return item


def made(*documents: Object, **options: Any) -> dict[tuple[str, str], Object]:
    """The objects of the only ModelServing by kind and name."""
    bodies = served(*documents, **options).objects
    for body in bodies:
        if body["kind"] in _VALIDATED:
            kubernetes_validate.validate(body, "1.36", strict=True)
    found = {(body["kind"], body["metadata"]["name"]): body for body in bodies}
    assert len(found) == len(bodies), [body["metadata"]["name"] for body in bodies]
    return found


def group_of(body: Object) -> Object:
    """The group template of a LeaderWorkerSet."""
    template: Object = body["spec"]["leaderWorkerTemplate"]
    return template


def env_of(container: Object) -> dict[str, str]:
    """The variables of a container that have a value."""
    return {each["name"]: each["value"] for each in container.get("env") or () if "value" in each}


def told(*documents: Object, severity: str = "error", **options: Any) -> dict[str, str]:
    """The reasons of the problems of a severity, by field; no field has two."""
    fleet = fleet_of(*documents, **options)
    found = errors(fleet) if severity == "error" else warnings(fleet)
    reasons = {problem.path: problem.reason for problem in found}
    assert len(reasons) == len(found), [str(problem) for problem in found]
    return reasons


def warned(*documents: Object, **options: Any) -> dict[str, str]:
    """The warnings about documents without an error, by field."""
    assert not told(*documents, **options)
    return told(*documents, severity="warning", **options)
