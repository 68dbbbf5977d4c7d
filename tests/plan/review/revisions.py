"""Revisions to compare, written by hand."""

from collections.abc import Mapping
from typing import Any

from components.checks.memory.cases import Fit, MemoryCase, MemoryVerdict
from components.checks.memory.shapes import Shape
from components.plan.review.snapshot import (
    FindingState,
    NodeGroupState,
    RegisteredResource,
    ServedModel,
    Snapshot,
    WorkloadState,
)

GIB = 2**30
POD = {
    "containers": [{"name": "main", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "qwen", "--port", "80"]}]
}


def deployment(name: str = "chat", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"template": {"spec": POD}, **spec},
    }


def groups(name: str = "chat", **bounds: Any) -> dict[str, Any]:
    """Return a LeaderWorkerSet whose groups are replaced within bounds."""
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {
            "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": POD}},
            "rolloutStrategy": {"rollingUpdateConfiguration": bounds},
        },
    }


def stateful_set(
    strategy: str = "RollingUpdate", rolling: Mapping[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """Return a StatefulSet with a strategy of updates."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "chat", "namespace": "ml"},
        "spec": {
            "serviceName": "pods",
            "selector": {"matchLabels": {"app": "chat"}},
            "template": {"spec": POD},
            "updateStrategy": {"type": strategy, **({"rollingUpdate": dict(rolling)} if rolling else {})},
            **spec,
        },
    }


def changed(body: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return an object with another value at a path of keys and indices parted by dots."""
    head, _, rest = path.partition(".")
    if isinstance(body, list):
        return [changed(each, rest, value) if str(n) == head and rest else each for n, each in enumerate(body)]
    return {**body, head: changed(body.get(head, {}), rest, value) if rest else value}


def workload(
    body: Mapping[str, Any],
    replicas: tuple[int, int, int] = (2, 2, 2),
    accelerators: int = 1,
    group: str = "g6",
    served: str = "Playground/chat",
) -> WorkloadState:
    title = f"{body['kind']} ml/{body['metadata']['name']}"
    return WorkloadState(title, served, "ml", body, replicas, 1, accelerators, group)


def resource(body: Mapping[str, Any], name: str = "", **further: Any) -> RegisteredResource:
    """Return an object as a program registers it, below a component of this name."""
    kind, metadata = str(body["kind"]), body["metadata"]
    return RegisteredResource(
        urn=f"urn:pulumi:dev::p::kubernetes:apps/v1:{kind}::{name or metadata['name']}",
        type=f"kubernetes:apps/v1:{kind}",
        title=f"{kind} {metadata['namespace']}/{metadata['name']}",
        inputs=body,
        **further,
    )


def cloud(type_token: str, name: str, inputs: Mapping[str, Any], **further: Any) -> RegisteredResource:
    return RegisteredResource(f"urn:pulumi:dev::p::{type_token}::{name}", type_token, name, inputs, **further)


def model(*workloads: WorkloadState, title: str = "Playground/chat", weights: int | None = None) -> ServedModel:
    shape = Shape("qwen", weights_bytes=weights)
    verdict = MemoryVerdict(Fit.FITS, "", MemoryCase(shape, "L4", 24 * GIB))
    return ServedModel(
        title,
        "ml",
        "qwen",
        "models.yaml",
        tuple(each.title for each in workloads),
        (1, 1, 1),
        (1, 1, 1),
        (),
        {each.title: verdict for each in workloads},
    )


def node_group(name: str = "g6", nodes: int = 2, most: int = 4, made_by: str = "cloud") -> NodeGroupState:
    return NodeGroupState(name, "g6.2xlarge", "on-demand", nodes, most, 1, made_by)


def finding(reason: str = "wrong", severity: str = "error", **further: Any) -> FindingState:
    facts: dict[str, Any] = {
        "file": "m.yaml",
        "line": 3,
        "kind": "Playground",
        "name": "chat",
        "path": "spec",
        **further,
    }
    return FindingState("contract", severity, reason=reason, **facts)


def revision(*workloads: WorkloadState, weights: int | None = None, **further: Any) -> Snapshot:
    """Return a revision that serves one model by some workloads, with what a program registers for them."""
    facts: dict[str, Any] = {
        "resources": tuple(resource(each.body) for each in workloads),
        "models": (model(*workloads, weights=weights),) if workloads else (),
        "workloads": workloads,
        "groups": (node_group(),),
        **further,
    }
    return Snapshot("dev", **facts)
