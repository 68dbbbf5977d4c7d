"""One revision of an environment as plain data: everything that a report says, with secrets masked.

Snapshots of two revisions may be made by two versions of this code, so each can be written as JSON and read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..costs.bill import Bill
from ..memory.cases import MemoryVerdict


@dataclass(frozen=True, slots=True)
class RegisteredResource:
    """A resource as the program registers it, of Kubernetes or of a cloud.

    Attributes:
        urn: What Pulumi knows it by.
        type: Its type token, such as ``kubernetes:apps/v1:Deployment``.
        title: What a reader knows it by: ``Deployment models/llama``, ``aws:eks/nodeGroup g6e-12xlarge``.
        inputs: Its inputs, secrets masked, unknown values as ``[unknown]``.
        is_component: Whether it only holds others.
    """

    urn: str
    type: str
    title: str
    inputs: Mapping[str, Any]
    is_component: bool = False


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A resource that serves.

    Attributes:
        title: ``Kind/name``.
        model: Name of what is served.
        workloads: Its workloads, each by ``Kind namespace/name``.
        replicas: Replicas at rest, at least and at most.
        accelerators: Accelerators at rest, at least and at most.
        groups: The node groups that it prefers.
        verdict: Whether it fits; one per workload that serves.
    """

    title: str
    namespace: str
    model: str
    file: str
    workloads: tuple[str, ...]
    replicas: tuple[int, int, int]
    accelerators: tuple[int, int, int]
    groups: tuple[str, ...]
    verdicts: Mapping[str, MemoryVerdict] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeGroupState:
    """Nodes of one kind."""

    name: str
    instance_type: str
    capacity: str
    nodes: int
    max_nodes: int
    accelerators: int


@dataclass(frozen=True, slots=True)
class FindingState:
    """One finding.

    Attributes:
        rule: Its id.
        ignored: The reason why it is ignored; empty where it counts.
    """

    rule: str
    severity: str
    file: str
    line: int
    kind: str
    name: str
    path: str
    reason: str
    ignored: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One revision.

    Attributes:
        stack: The environment.
        revision: What it is of: a commit, or empty for the work tree.
        failed: Why no plan could be made, such as settings that cannot be read; empty where one was.
        resources: What the program registers; empty where an error forbids it.
        endpoints: By name, where models answer: url, api, model, port.
        bill: What it costs; None where no plan was made.
    """

    stack: str
    revision: str = ""
    failed: str = ""
    resources: tuple[RegisteredResource, ...] = ()
    models: tuple[ServedModel, ...] = ()
    groups: tuple[NodeGroupState, ...] = ()
    endpoints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    findings: tuple[FindingState, ...] = ()
    bill: Bill | None = None
