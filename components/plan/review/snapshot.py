"""One revision of an environment as plain data: the content of a report, with secrets masked.

Snapshots of two revisions may come from two versions of this code, so they are exchanged as JSON (``wire``). Fields
added later need a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...checks.memory.cases import MemoryVerdict
from ...contract.findings.ids import COMPARED
from ...fleet.instances import Instance, instance
from ...fleet.nodes.replacement import NodeReplacement
from ...fleet.workloads import UpdateUnit
from ..costs.bill import Bill
from ..starts.budget import StartBudget


@dataclass(frozen=True, order=True, slots=True)
class ValueSource:
    """An output that an unknown value depends on.

    Attributes:
        urn: The resource.
        output: The output, such as ``arn`` or ``id``; empty if only the resource is known.
    """

    urn: str
    output: str = ""


ValueSources = Mapping[str, tuple[ValueSource, ...]]
"""Placeholders of unknown values, in brackets, with the outputs they depend on."""


ObjectIdentity = tuple[str, str, str, str]
"""API group, kind, namespace and name of a Kubernetes object."""


@dataclass(frozen=True, slots=True)
class RegisteredResource:
    """A resource as the program registers it, of Kubernetes or of a cloud.

    Attributes:
        urn: URN of the resource.
        type: Its type token, such as ``kubernetes:apps/v1:Deployment``.
        title: Name for readers: ``Deployment models/llama``, ``aws:eks/nodeGroup g6e-12xlarge``.
        inputs: Its inputs, with secrets masked and unknown values as their source, such as
            ``[id of aws:ec2/vpc network]``.
        is_component: Whether it is a component.
        former: URNs of its aliases.
        ignored: Fields in ``ignore_changes``.
        replaced_on: Fields in ``replace_on_changes``.
        provider: URN of its provider; empty without an explicit one.
        comes_from: URNs of the resources that each input depends on, by the name of the input.
        deletes_first: Whether a replacement deletes it first; None if the provider decides.
        goes_with: URNs in ``deleted_with``: it is replaced together with each.
        protected: Whether Pulumi refuses to delete it.
        retained: Whether Pulumi keeps it when the program no longer contains it.
        nodes_of: Node groups whose nodes come from it, each with the most nodes that disappear with it; 0 if nodes
            stay without it, as without a template.
        is_read: Whether the program only reads it, and it belongs to no stack or to another one.
        timeouts: How long its provider waits for create, update and delete, such as 25m; without one, it has no
            timeout, or its provider's own applies.
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
    nodes_of: Mapping[str, int] = field(default_factory=dict)
    is_read: bool = False
    timeouts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_object(self) -> bool:
        """Whether it is a Kubernetes object."""
        return "kind" in self.inputs and "metadata" in self.inputs and self.type.startswith("kubernetes:")

    @property
    def identity(self) -> ObjectIdentity | None:
        """The Kubernetes object that it stands for; None for other resources."""
        metadata = self.inputs["metadata"] if self.is_object else None
        if not isinstance(metadata, Mapping):
            return None
        group = str(self.inputs.get("apiVersion", "")).rpartition("/")[0]
        return group, str(self.inputs["kind"]), str(metadata.get("namespace", "")), str(metadata.get("name", ""))

    @property
    def name(self) -> str:
        """Logical name in the program."""
        return self.urn.split("::", 3)[-1]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A resource that serves a model.

    Attributes:
        title: ``Kind/name``.
        model: Name of the served model.
        workloads: Its workloads, as ``Kind namespace/name``.
        replicas: Replicas at rest, at least and at most.
        accelerators: Accelerators at rest, at least and at most.
        groups: Preferred node groups.
        verdicts: Memory verdicts, by title of the workload.
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
        namespace: Its namespace, or that of the environment; empty for cluster-scoped kinds.
        body: The manifest, with secrets masked.
    """

    kind: str
    namespace: str
    name: str
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """Unique key."""
        return self.kind, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class WorkloadState:
    """A serving workload, created here or by an operator.

    Attributes:
        title: ``Kind namespace/name``.
        served: ``Kind/name`` of the resource that it belongs to; ``namespace`` is that of the resource.
        body: The Deployment or LeaderWorkerSet, with secrets masked.
        replicas: Replicas at rest, at least and at most.
        pods: Pods of one replica.
        accelerators: Accelerators of one replica.
        group: Preferred node group; empty if unknown.
        fallbacks: Other node groups that accept its pods.
        unit: How its operator replaces its replicas; None if its kind decides.
        start: The cold start of a replica; None without accelerators.
        role: Its role if a resource has several workloads, such as ``prefill``.
        operated: Whether an operator creates it, and so controls its updates.
        evicted_at_once: Replicas that a disruption budget lets a drain evict at the same time; None without one.
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
    unit: UpdateUnit | None = None
    start: StartBudget | None = None
    evicted_at_once: int | None = None


@dataclass(frozen=True, slots=True)
class NodeGroupState:
    """Nodes of one kind.

    Attributes:
        capacity: Capacity type, such as ``spot``.
        nodes: Nodes that the models need at rest.
        max_nodes: Maximum number of nodes.
        accelerators: Accelerators of one node.
        made_by: ``cloud`` for nodes created on demand, or ``simulated``; empty if another tool manages them.
        identity: Its ID in the cloud; a different one means a different group with other nodes.
        labels: Known labels of its nodes; empty if none is known.
        replacement: How its nodes are replaced one after another; None if unknown.
        described: What the settings say of its instance type; None if a table has it.
    """

    name: str
    instance_type: str
    capacity: str
    nodes: int
    max_nodes: int
    accelerators: int
    made_by: str = ""
    identity: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    replacement: NodeReplacement | None = None
    described: Instance | None = None

    @property
    def node(self) -> Instance | None:
        """Its instance type; None if it is unknown."""
        return self.described or instance(self.instance_type)


@dataclass(frozen=True, slots=True)
class FindingState:
    """One finding.

    Attributes:
        rule: ID of the rule.
        ignored: The reason why it is ignored; empty if it is not.
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
        revision: The commit; empty for the work tree.
        ref: The ref that was requested, such as ``origin/main``; ``revision`` is its merge base with the work tree.
        failed: Why there are no resources although no finding is an error, such as unreadable settings; otherwise
            empty.
        absent: Whether this revision does not have the stack.
        simulated: Whether all nodes are simulated, and so free of charge.
        notes: Notes for readers on how the snapshot was made.
        resources: Resources that the program registers; empty after an error.
        sources: Outputs that the unknown values in inputs depend on.
        manifests: The manifests that were planned.
        models: Resources that serve models.
        workloads: Their workloads.
        groups: Their node groups.
        endpoints: Endpoints of models by name, with url, api, model and port.
        bill: The costs; None without a plan.
        releases: The releases that are set, by family.
        file: File of the settings, for messages; empty if unknown.
        ignore: Rules to ignore in findings about the settings, each with the reason.
        given: Facts that come from the settings, because no table has them.
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
    releases: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    ignore: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether the program fails, so that the resources it would register are unknown.

        It does not fail because of what only the comparison with another revision finds.
        """
        return bool(self.failed) or any(
            finding.severity == "error" and not finding.ignored and finding.rule not in COMPARED
            for finding in self.findings
        )
