"""One revision of an environment as plain data: everything that a report says, with secrets masked.

Snapshots of two revisions may be made by two versions of this code, so each can be written as JSON and read again
(``wire``). A field that is added later has a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...checks.memory.cases import MemoryVerdict
from ..costs.bill import Bill


@dataclass(frozen=True, order=True, slots=True)
class ValueSource:
    """An output that decides an unknown value.

    Attributes:
        urn: The resource.
        output: The output, such as ``arn`` or ``id``; empty where only the resource is known.
    """

    urn: str
    output: str = ""


ValueSources = Mapping[str, tuple[ValueSource, ...]]
"""Texts that stand for unknown values, in brackets, and what decides each."""


@dataclass(frozen=True, slots=True)
class RegisteredResource:
    """A resource as the program registers it, of Kubernetes or of a cloud.

    Attributes:
        urn: What Pulumi knows it by.
        type: Its type token, such as ``kubernetes:apps/v1:Deployment``.
        title: What a reader knows it by: ``Deployment models/llama``, ``aws:eks/nodeGroup g6e-12xlarge``.
        inputs: Its inputs, secrets masked; unknown values as what they come from, such as
            ``[id of aws:ec2/vpc network]``.
        is_component: Whether it only holds others.
        former: URNs that it may have had before it was renamed or moved.
        ignored: Fields of which the program ignores changes.
        replaced_on: Further fields that only a new resource can have, as the program says.
        provider: URN of its provider; empty where none is given.
        comes_from: URNs of what each input comes from, by the name of the input.
        deletes_first: Whether a replacement deletes it first; None where the provider decides.
        goes_with: URNs of resources without which it is not there: it is replaced together with each.
        protected: Whether Pulumi refuses to delete it.
        retained: Whether Pulumi leaves it where it is when it goes from the program.
    """

    urn: str
    type: str
    title: str
    inputs: Mapping[str, Any]
    is_component: bool = False
    former: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    replaced_on: tuple[str, ...] = ()
    provider: str = ""
    comes_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deletes_first: bool | None = None
    goes_with: tuple[str, ...] = ()
    protected: bool = False
    retained: bool = False

    @property
    def is_object(self) -> bool:
        """Whether it is an object of Kubernetes."""
        return "kind" in self.inputs and "metadata" in self.inputs and self.type.startswith("kubernetes:")

    @property
    def name(self) -> str:
        """The name that it has in the program."""
        return self.urn.split("::", 3)[-1]


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
        verdicts: Whether it fits, by title of the workload.
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

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace and name of the resource."""
        kind, _, name = self.title.partition("/")
        return kind, self.namespace, name


@dataclass(frozen=True, slots=True)
class ManifestState:
    """A manifest before rendering.

    Attributes:
        namespace: Its namespace, else that of the environment; empty for cluster-scoped kinds.
        body: The whole manifest, secrets masked.
    """

    kind: str
    namespace: str
    name: str
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others."""
        return self.kind, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class WorkloadState:
    """Equal replicas that serve, whoever makes them.

    Attributes:
        title: ``Kind namespace/name``.
        served: ``Kind/name`` of the resource that they are of, and ``namespace`` its namespace.
        body: The Deployment or LeaderWorkerSet, secrets masked.
        replicas: Replicas at rest, at least and at most.
        pods: Pods of one replica.
        accelerators: Accelerators of one replica.
        group: The node group that it prefers; empty if unknown.
        fallbacks: Other node groups that accept its pods.
        role: Its role if a resource has several workloads, such as ``prefill``.
        operated: Whether an operator makes it: then it also decides how it is updated.
    """

    title: str
    served: str
    namespace: str
    body: Mapping[str, Any]
    replicas: tuple[int, int, int]
    pods: int
    accelerators: int
    group: str = ""
    role: str = ""
    operated: bool = False
    fallbacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeGroupState:
    """Nodes of one kind.

    Attributes:
        capacity: How they are bought.
        nodes: How many the models need at rest.
        max_nodes: How many there may be.
        accelerators: Accelerators of one node.
        made_by: ``cloud`` where they are made on demand, ``simulated``; empty where somebody else makes them.
        identity: What the cloud knows it by; another one is another group with other nodes.
    """

    name: str
    instance_type: str
    capacity: str
    nodes: int
    max_nodes: int
    accelerators: int
    made_by: str = ""
    identity: str = ""


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
        ref: What that was asked for as, such as ``origin/main``: the commit is where the work tree left it.
        failed: Why there are no resources although no finding is an error, such as settings that cannot be read;
            empty where there are.
        absent: Whether this revision has no such stack.
        simulated: Whether all nodes are simulated, for which nobody pays.
        notes: How it came to be, where a reader must know it.
        resources: What the program registers; empty where an error forbids it.
        sources: What decides the unknown values in their inputs.
        manifests: The manifests that it was planned from.
        models: Each resource that serves.
        workloads: What they run as.
        groups: The nodes that they need.
        endpoints: By name, where models answer: url, api, model, port.
        bill: What it costs; None where no plan was made.
    """

    stack: str
    revision: str = ""
    ref: str = ""
    failed: str = ""
    absent: bool = False
    simulated: bool = False
    notes: tuple[str, ...] = ()
    resources: tuple[RegisteredResource, ...] = ()
    models: tuple[ServedModel, ...] = ()
    workloads: tuple[WorkloadState, ...] = ()
    groups: tuple[NodeGroupState, ...] = ()
    endpoints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    findings: tuple[FindingState, ...] = ()
    bill: Bill | None = None
    manifests: tuple[ManifestState, ...] = ()
    sources: ValueSources = field(default_factory=dict)

    @property
    def is_refused(self) -> bool:
        """Whether the program creates nothing: then what it would register is not known."""
        return bool(self.failed) or any(each.severity == "error" and not each.ignored for each in self.findings)
