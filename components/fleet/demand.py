"""Node demand: how many pods there are, what they request, and on which nodes they may run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from .cloud_facts import capacity_in, type_named_by_cloud
from .instances import Instance, instance, is_accelerator
from .origins import Reporter

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"
TYPE_LABELS = (INSTANCE_TYPE_LABEL, "beta.kubernetes.io/instance-type")
"""Labels with the instance type of a node."""
UNLIMITED = 99999
"""Maximum replicas that llmaz gives an autoscaler without an upper bound (llmaz spec 1.3)."""


class NodeField(NamedTuple):
    """The manifest field that selects nodes, and the wording of messages about it.

    Attributes:
        type_name: The field's name for the instance type.
        alternative: Alternative fix if a node has too few accelerators; contains ``{key}`` and ``{count}``.
        remedy: How to select an instance type if none is selected; contains ``{type}``.
    """

    origin: Reporter
    type_name: str = INSTANCE_TYPE_LABEL
    alternative: str = "request at most {count}, with as much parallelism"
    remedy: str = f"add {{{{{INSTANCE_TYPE_LABEL}: {{type}}}}}}"


def instance_type_in(selector: Mapping[str, str]) -> str | None:
    """Return the instance type that a node selector names, by the labels of Kubernetes or of a cloud."""
    labeled = next((selector[label] for label in TYPE_LABELS if label in selector), None)
    return type_named_by_cloud(selector) if labeled is None else labeled


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """One kind of node that a pod may run on.

    Attributes:
        name: Its name in the manifest.
        alternatives: Other instance types that the environment allows instead.
        chosen_by: The field that selects it; None if a program does.
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
        """Purchase option that the labels select, such as ``spot`` or ``capacity-block``; empty for none."""
        return capacity_in(self.node_selector)

    @property
    def zone(self) -> str | None:
        """The required availability zone, if any."""
        return self.node_selector.get(ZONE_LABEL)


@dataclass(frozen=True, slots=True)
class PodDemand:
    """Identical pods: how many, their requests, and their node choices in order of preference.

    Attributes:
        pods: Pods with the autoscaler at its minimum, or without one.
        requests: Requests of one pod, per resource, in base units.
        max_pods: Pods with the autoscaler at its maximum; None without one.
        surge_pods: Extra pods during an update.
        per_replica: Pods of this kind in one replica.
        node_field: The field that could select nodes, if none does.
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
        """The largest possible number of pods, updates included."""
        return (self.pods if self.max_pods is None else self.max_pods) + self.surge_pods


def accelerated_nodes(pods: Iterable[PodDemand]) -> list[Instance]:
    """Return the known accelerator instance types that pods may run on, in order of preference."""
    names = dict.fromkeys(choice.instance_type for demand in pods for choice in demand.choices)
    return [node for name in names if name and (node := instance(name)) and node.accelerators]


def requested_accelerators(pods: Iterable[PodDemand]) -> tuple[int, int]:
    """Return the accelerators of the pod with the most, and of a whole replica."""
    counts = [
        (int(amount), int(amount) * demand.per_replica)
        for demand in pods
        for key, amount in demand.requests.items()
        if is_accelerator(key)
    ]
    return max((count for count, _ in counts), default=0), sum(count for _, count in counts)
