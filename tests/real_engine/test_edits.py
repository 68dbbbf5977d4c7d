"""Edits of a fleet, one after the other: both engines plan the same, and the cluster has what is rendered."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.waiting import eventually, gone
from tests.fleets import open_model, playground, service
from tests.real_engine.fleet import Identity, SmallFleet, operations_of, operations_of_cli
from tests.resources.serving.manifests import A10G, inference_service, weights
from toolkit.kube import Kube
from workbench.cluster.cluster import Running
from workbench.engine.pulumi_cli import PulumiCli
from workbench.errors import WorkbenchError

Json = dict[str, Any]
SPACES = ("edited", "edited-too")
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
ELASTIC = {"minReplicas": 2, "maxReplicas": 3, "scaleTrigger": {"hpa": {"metrics": [CPU]}}}
SETTINGS: Mapping[str, Any] = {
    "namespace": SPACES[0],
    "simulatedNodes": True,
    "customResources": True,
    "otherKinds": "apply",
    "clusterName": "edits",
}
CHAT: Json = {"backendRuntimeConfig": {"backendName": "vllm", "version": "v0.20.0"}}
TWO_NODES = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge", "PP": "2"}}
GATEWAY = {"expose": "gateway", "internal": True, "auth": {"kind": "api-key", "secrets": ["keys"]}}


ANYWHERE = [{"operator": "Exists"}]
"""Tolerations of pods without a GPU: all simulated nodes have some."""


def placed(document: Json, namespace: str) -> Json:
    document["metadata"]["namespace"] = namespace
    return document


def llmkube(name: str) -> Json:
    return placed(inference_service(name, "tiny", SPACES[0]), SPACES[0])


def deployment(app: str) -> Json:
    labels = {"app": app}
    containers = [{"name": "web", "image": "registry.example/w:1"}]
    pod = {"metadata": {"labels": labels}, "spec": {"tolerations": ANYWHERE, "containers": containers}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    metadata = {"name": "web", "namespace": SPACES[0]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def web_service(**spec: Any) -> Json:
    body = {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec}
    metadata = {"name": "web", "namespace": SPACES[0]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": body}


def job(image: str) -> Json:
    pod = {"restartPolicy": "Never", "tolerations": ANYWHERE, "containers": [{"name": "job", "image": image}]}
    metadata = {"name": "once", "namespace": SPACES[0]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


def flags(*args: str) -> Json:
    return {"backendRuntimeConfig": {**CHAT["backendRuntimeConfig"], "args": [*args]}}


FIRST: Mapping[str, Json] = {
    "opt": open_model("opt", "facebook/opt-125m", [A10G]),
    "tiny": weights("tiny", SPACES[0]),
    "chat": playground("chat", "opt", replicas=1, **CHAT),
    "gguf": llmkube("gguf"),
    "web": deployment("web"),
    "web-service": web_service(),
    "once": job("registry.example/job:1"),
}
REMOVED: Json = {}
Edit = tuple[str, Mapping[str, Json], Mapping[str, Any]]
EDITS: list[Edit] = [
    ("a template of a Job", {"once": job("registry.example/job:2")}, {}),
    ("a model is added", {"second": playground("second", "opt", **CHAT)}, {}),
    ("more replicas", {"chat": playground("chat", "opt", replicas=2, **CHAT)}, {}),
    ("a flag", {"chat": playground("chat", "opt", replicas=2, **flags("--max-model-len", "1024"))}, {}),
    (
        "another image",
        {
            "chat": playground(
                "chat", "opt", replicas=2, backendRuntimeConfig={"backendName": "vllm", "version": "v0.20.1"}
            )
        },
        {},
    ),
    ("an autoscaler", {"chat": playground("chat", "opt", elasticConfig=ELASTIC, **CHAT)}, {}),
    ("a flag beside it", {"chat": playground("chat", "opt", elasticConfig=ELASTIC, **flags("--seed", "1"))}, {}),
    ("no autoscaler", {"chat": playground("chat", "opt", replicas=2, **flags("--seed", "1"))}, {}),
    ("the autoscaler again", {"chat": playground("chat", "opt", elasticConfig=ELASTIC, **flags("--seed", "1"))}, {}),
    ("without it", {"chat": playground("chat", "opt", replicas=2, **CHAT)}, {}),
    ("a Service instead of a Playground", {"chat": service("chat", "opt", replicas=2)}, {}),
    ("an InferenceService instead", {"chat": llmkube("chat")}, {}),
    ("a Playground again", {"chat": playground("chat", "opt", replicas=2, **CHAT)}, {}),
    ("another name", {"second": REMOVED, "third": playground("third", "opt", **CHAT)}, {}),
    ("another namespace", {"third": placed(playground("third", "opt", **CHAT), SPACES[1])}, {}),
    ("two nodes for a replica", {"opt": open_model("opt", "facebook/opt-125m", [TWO_NODES])}, {}),
    ("one node again", {"opt": FIRST["opt"]}, {}),
    ("labels of pods", {}, {"pods": {"labels": {"team": "a"}}}),
    ("a gateway", {}, {"frontDoor": GATEWAY, "prerequisites": {"present": ["envoy-gateway", "ai-gateway"]}}),
    ("policies and budgets", {}, {"hardening": {"networkPolicies": True, "disruptionBudgets": True}}),
    ("no gateway", {}, {"frontDoor": {}, "hardening": {}}),
    ("another selector", {"web": deployment("other")}, {}),
    ("a headless Service", {"web-service": web_service(clusterIP="None")}, {}),
    ("a manifest becomes a model", {"web": playground("web", "opt", **CHAT)}, {}),
    ("a model becomes a manifest", {"web": deployment("web")}, {}),
    ("no waiting", {}, {"waitForModels": False}),
    ("a model is removed", {"gguf": REMOVED}, {}),
    ("nothing", {}, {}),
]


REFUSED = {"a headless Service": "spec.clusterIPs.*may not change once set"}
"""The provider replaces such a Service, but its preview creates the new one beside the old one, which is rejected."""


@pytest.fixture
def fleet(
    real_engine: Path, cluster: Running, kube: Kube, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Iterator[SmallFleet]:
    made = SmallFleet(tmp_path / "project", cluster.kubeconfig, kube)
    yield made
    assert made.cli.destroy(yes=True) == 0, capfd.readouterr()
    left = made.cli.export()["deployment"].get("resources") or []
    assert left == []
    for space in SPACES:
        eventually(lambda space=space: gone(kube, "v1", "Namespace", space), "deletion")  # type: ignore[misc]


def test_both_engines_do_the_same_at_each_edit(
    fleet: SmallFleet, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    documents, settings = dict(copy.deepcopy(FIRST)), dict(SETTINGS)
    before: dict[Identity, str] = {}
    differences: dict[str, Any] = {}
    for title, changed, set_ in [("the first update", FIRST, {}), *EDITS]:
        documents |= copy.deepcopy(dict(changed))
        documents = {name: body for name, body in documents.items() if body}
        settings = {key: value for key, value in {**settings, **set_}.items() if value != {}}
        fleet.write(documents, settings)
        graph = fleet.record()
        plan = fleet.plan(graph)
        assert plan.refused == [], title
        fleet.cli._prepare()
        if reason := REFUSED.get(title):
            with pytest.raises(WorkbenchError, match=reason):
                fleet.cli.up(yes=True)
            assert fleet.uids(graph) == before
            documents |= copy.deepcopy({name: FIRST[name] for name in changed})
            continue
        previewed = fleet.cli._previewed()
        # The update checks the same preview, which takes as long as the rest of it.
        with monkeypatch.context() as patched:
            patched.setattr(PulumiCli, "_previewed", lambda _, found=previewed: found)
            code = fleet.cli.up(yes=True)
        printed = capfd.readouterr()
        if code:
            differences[f"{title}, failed"] = printed.err[-600:] + printed.out[-2500:]
        cli, local = operations_of_cli(previewed), operations_of(plan)
        if cli != local:
            urns = {urn for urn in {*cli, *local} if cli.get(urn) != local.get(urn)}
            differences[title] = {urn.split("::", 2)[2]: (cli.get(urn), local.get(urn)) for urn in sorted(urns)}
        if unlike := fleet.unlike(graph):
            differences[f"{title}, in the cluster"] = unlike
        after = fleet.uids(graph)
        made_anew = {
            key[1:]
            for key in before.keys() & after.keys()
            if before[key] != after[key] and not _is_replaced(key, cli)
        }
        if made_anew:
            differences[f"{title}, made anew"] = made_anew
        if title == "nothing":
            assert cli == local == {}
        fleet.note(plan)
        before = after
    assert differences == {}
    assert len(EDITS) > 20


def _is_replaced(key: Identity, operations: Mapping[str, str]) -> bool:
    _, kind, _, name = key
    return any(
        operation == "replace" and urn.split("::")[2].endswith(f":{kind}") and name in urn
        for urn, operation in operations.items()
    )
