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
LLMKUBE = "llmkube"


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
    """One kind of node that a pod may run on, from one flavor.

    Attributes:
        alternatives: Further instance types that the environment takes instead.
    """

    flavor: str
    instance_type: str | None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    alternatives: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        """Labels that a node of this kind must carry."""
        typed = {INSTANCE_TYPE_LABEL: self.instance_type} if self.instance_type else {}
        return {**self.node_selector, **typed}

    @property
    def capacity(self) -> str:
        """How the node is bought, where its labels say so, such as ``spot`` or ``capacity-block``; else empty."""
        said = next((self.node_selector[key] for key in CAPACITY_LABELS if key in self.node_selector), "")
        return said.lower().replace("_", "-")

    @property
    def zone(self) -> str | None:
        """The availability zone that the node must be in, if any."""
        return self.node_selector.get(ZONE_LABEL)


INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
ZONE_LABEL = "topology.kubernetes.io/zone"
CLOUD_DOMAINS = ("kubernetes.io", "k8s.io", "karpenter.sh", "karpenter.k8s.aws", "eks.amazonaws.com")
"""Domains of labels that kubelet, EC2, EKS or Karpenter set on nodes."""
EFA_RESOURCE = "vpc.amazonaws.com/efa"
CAPACITY_LABELS = ("karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType")


@dataclass(frozen=True, slots=True)
class PodDemand:
    """Equal pods: how many, what one of them asks for, and where it may run, in order of preference.

    Attributes:
        requests: Requests of one pod, per resource, in base units.
        max_pods: Pods when an autoscaler has added all it may; None without autoscaler.
        surge_pods: Pods that an update starts before it ends others.
    """

    pods: int
    requests: Mapping[str, Decimal]
    choices: tuple[NodeChoice, ...]
    max_pods: int | None = None
    surge_pods: int = 0

    @property
    def most(self) -> int:
        """The largest number of pods that there can be."""
        return (self.pods if self.max_pods is None else self.max_pods) + self.surge_pods


@dataclass(frozen=True, slots=True)
class NodeGroupDemand:
    """Nodes of one kind that the models need: a node group in the cloud, simulated nodes at home.

    Attributes:
        nodes: Enough for every model that prefers them, at rest.
        labels: What pods select, and the labels that every node of the environment carries.
        capacity: How the nodes are bought: ``on-demand``, ``spot``, ``odcr`` or ``capacity-block``.
        max_nodes: Enough when autoscalers have added all they may and fallbacks land here.
        alternatives: Further instance types that the nodes may be of.
        efa: Whether pods ask for EFA interfaces.
        rank: Position of the flavor in the order of preference; 0 is first. The best of all models counts.
    """

    name: str
    instance_type: str
    nodes: int
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    capacity: str = "on-demand"
    zone: str | None = None
    max_nodes: int = 0
    alternatives: tuple[str, ...] = ()
    efa: bool = False
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Rendered:
    """One resource made real.

    Attributes:
        objects: Kubernetes objects in the order in which they can be applied.
        shared: Objects that other resources may need as well; a fleet makes each of them once, as an item of its own.
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
    shared: tuple[Object, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every resource made real, what several of them share first, and everything that is wrong with them."""

    rendered: tuple[Rendered, ...]
    problems: tuple[Problem, ...]
