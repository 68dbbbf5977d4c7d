"""What rendering returns: plain data, computed before anything is registered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..api.load import Loaded
from ..api.problems import Problem

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, in wire form."""

LEADER_WORKER_SET = "leaderworkerset"
RESOURCE_METRICS = "metrics-server"
CUSTOM_METRICS = "custom-metrics"
EXTERNAL_METRICS = "external-metrics"
LLMAZ = "llmaz"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers inside the cluster."""

    model: str
    url: str
    api: str
    port: int
    namespace: str
    service: str


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """One kind of node that a pod may run on, from one flavor."""

    flavor: str
    instance_type: str | None
    node_selector: Mapping[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> dict[str, str]:
        """Labels that a node of this kind must carry."""
        typed = {INSTANCE_TYPE_LABEL: self.instance_type} if self.instance_type else {}
        return {**self.node_selector, **typed}

    @property
    def capacity(self) -> str:
        """How the node is bought, where its labels say so: ``on-demand``, ``spot``, ``capacity-block``, ..."""
        said = next((self.node_selector[key] for key in CAPACITY_LABELS if key in self.node_selector), "on-demand")
        return said.lower().replace("_", "-")

    @property
    def zone(self) -> str | None:
        """The availability zone that the node must be in, if any."""
        return self.node_selector.get(ZONE_LABEL)


INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
ZONE_LABEL = "topology.kubernetes.io/zone"
CAPACITY_LABELS = ("karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType")


@dataclass(frozen=True, slots=True)
class PodDemand:
    """Equal pods: how many, what one of them asks for, and where it may run, in order of preference.

    Attributes:
        requests: Requests of one pod, per resource, in base units.
        max_pods: Pods when an autoscaler has added all it may; None without autoscaler.
    """

    pods: int
    requests: Mapping[str, Decimal]
    choices: tuple[NodeChoice, ...]
    max_pods: int | None = None


@dataclass(frozen=True, slots=True)
class NodeGroupDemand:
    """Nodes of one kind that the models need: a node group in the cloud, simulated nodes at home.

    Attributes:
        nodes: Enough for every model that prefers them, at rest.
        max_nodes: Enough when autoscalers have added all they may and fallbacks land here.
    """

    name: str
    instance_type: str
    nodes: int
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    capacity: str = "on-demand"
    zone: str | None = None
    max_nodes: int = 0


@dataclass(frozen=True, slots=True)
class Rendered:
    """One resource made real.

    Attributes:
        objects: Kubernetes objects in the order in which they can be applied.
        needs: What the cluster must offer for them to work, such as ``leaderworkerset``.
        replicas: Replicas at rest: those of the spec, or the lower bound of the autoscaler.
    """

    source: Loaded
    kind: str
    name: str
    namespace: str
    objects: tuple[Object, ...]
    model: str = ""
    endpoint: Endpoint | None = None
    workload_kind: str = ""
    workload_name: str = ""
    replicas: int = 0
    pods: tuple[PodDemand, ...] = ()
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every resource made real, and everything that is wrong with them."""

    rendered: tuple[Rendered, ...]
    problems: tuple[Problem, ...]
