"""What pods need from nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from .instances import Instance, instance
from .node_labels import capacity_in, type_named_by_cloud
from .origins import Reporter

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"
TYPE_LABELS = (INSTANCE_TYPE_LABEL, "beta.kubernetes.io/instance-type")
"""Labels that have the instance type of a node."""
UNLIMITED = 99999
"""Upper bound of an autoscaler without one (llmaz spec 1.3)."""


@dataclass(frozen=True, slots=True)
class NodeField:
    """The field of a manifest that chooses nodes, and how messages about it are worded.

    Attributes:
        type_name: What that field calls the instance type.
        alternative: Another way out if a node has too few accelerators; contains ``{key}`` and ``{count}``.
        remedy: How to choose an instance type where none is chosen; contains ``{type}``.
    """

    origin: Reporter
    type_name: str = INSTANCE_TYPE_LABEL
    alternative: str = "request at most {count}"
    remedy: str = f"add {{{{{INSTANCE_TYPE_LABEL}: {{type}}}}}}"


def instance_type_in(selector: Mapping[str, str]) -> str | None:
    """Return the instance type that a selector names, by the label of Kubernetes or by those of a cloud."""
    named = next((selector[label] for label in TYPE_LABELS if label in selector), None)
    return type_named_by_cloud(selector) if named is None else named


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """One kind of node that a pod may run on.

    Attributes:
        name: What the manifest calls it.
        alternatives: Further instance types that the environment allows instead.
        chosen_by: The field that chooses it; None if a program does.
    """

    name: str
    instance_type: str | None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    alternatives: tuple[str, ...] = ()
    chosen_by: NodeField | None = field(default=None, compare=False, repr=False)

    @property
    def labels(self) -> dict[str, str]:
        """Labels that a node of this kind must carry."""
        typed = {INSTANCE_TYPE_LABEL: self.instance_type} if self.instance_type else {}
        return {**self.node_selector, **typed}

    @property
    def capacity(self) -> str:
        """Purchase option that the labels name, such as ``spot`` or ``capacity-block``; otherwise empty."""
        return capacity_in(self.node_selector)

    @property
    def zone(self) -> str | None:
        """The availability zone that the node must be in, if any."""
        return self.node_selector.get(ZONE_LABEL)


@dataclass(frozen=True, slots=True)
class PodDemand:
    """Equal pods: how many, what each requests, and where it may run, in order of preference.

    Attributes:
        requests: Requests of one pod, per resource, in base units.
        max_pods: Pods with the autoscaler at its maximum; None without autoscaler.
        surge_pods: Extra pods during an update (surge).
        per_replica: Pods of this kind in one replica.
        node_field: The field that could choose nodes, where nothing does.
    """

    pods: int
    requests: Mapping[str, Decimal]
    choices: tuple[NodeChoice, ...]
    max_pods: int | None = None
    surge_pods: int = 0
    per_replica: int = 1
    node_field: NodeField | None = field(default=None, compare=False, repr=False)

    @property
    def most(self) -> int:
        """The largest number of pods that there can be."""
        return (self.pods if self.max_pods is None else self.max_pods) + self.surge_pods


def accelerated_nodes(pods: Iterable[PodDemand]) -> list[Instance]:
    """Return the known instance types with accelerators that pods may be on, in order of preference."""
    types = (choice.instance_type for demand in pods for choice in demand.choices)
    found = (instance(name) for name in dict.fromkeys(types) if name)
    return [node for node in found if node and node.accelerators]
