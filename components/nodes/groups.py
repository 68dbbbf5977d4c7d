"""Node groups: what nodes the pods of a fleet need, and how many.

Labels, taints and tags here, and the affinity and tolerations of :mod:`.placement`, come from the same choices.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ..aws.names import CAPACITY_LABELS, EFA_RESOURCE, MOST_NODES, is_set_by_cloud
from ..fleet.demand import INSTANCE_TYPE_LABEL, NodeChoice, PodDemand
from ..fleet.placement import taints
from ..fleet.rendered import Fleet
from .bounds import nodes_for_any_order
from .instances import Instance, instance
from .policy import NodePolicy

MAX_PODS = 110
"""Pods of one node: written into kubelet's configuration, so that no table of network interfaces is needed."""
_DEFAULT = NodePolicy()
_NAME_LENGTH = 48
"""Of the 63 characters that EKS allows, so that a cluster's name can go before it."""
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_MIB = Decimal(2**20)
_RESERVED_CPU = (
    (1, Decimal("0.06")),
    (1, Decimal("0.01")),
    (2, Decimal("0.005")),
    (math.inf, Decimal("0.0025")),
)


def allocatable(node: Instance, *, efa: bool = False) -> dict[str, Decimal]:
    """Return what pods can ask of a node, after what the EKS images reserve for kubelet and system.

    Source of the reservation: the bootstrap of the EKS optimized images (memory 255 MiB + 11 MiB per pod and
    100 MiB eviction threshold; CPU 6 %, 1 %, 0.5 %, 0.5 % of the first four cores, 0.25 % of the others).

    Args:
        node: The instance type.
        efa: Whether the node has its EFA interfaces.
    """
    cores, reserved = node.vcpu, Decimal(0)
    for count, share in _RESERVED_CPU:
        used = min(count, cores)
        reserved += share * Decimal(used)
        cores -= int(used)
    memory = node.memory_gib * 1024 * _MIB - (255 + 11 * MAX_PODS + 100) * _MIB
    offered = {"cpu": Decimal(node.vcpu) - reserved, "memory": memory, "pods": Decimal(MAX_PODS)}
    if node.accelerator_resource:
        offered[node.accelerator_resource] = Decimal(node.accelerators)
    if efa and node.efa_interfaces:
        offered[EFA_RESOURCE] = Decimal(node.efa_interfaces)
    return offered


def wants_efa(demand: PodDemand) -> bool:
    """Whether a pod asks for EFA interfaces."""
    return demand.requests.get(EFA_RESOURCE, Decimal(0)) > 0


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


@dataclass(slots=True)
class _Group:
    """Nodes of one type, capacity kind and zone whose labels agree."""

    choice: NodeChoice
    capacity: str
    labels: dict[str, str]
    preferred: list[PodDemand] = field(default_factory=list)
    possible: list[PodDemand] = field(default_factory=list)
    rank: int = 99

    def takes(self, labels: Mapping[str, str]) -> bool:
        """Whether a node can carry these labels beside those it has."""
        return all(self.labels.get(key, value) == value for key, value in labels.items())

    def admits(self, demand: PodDemand, policy: NodePolicy) -> bool:
        """Whether a pod may come here, also one that has a group of its own."""
        if not demand.choices:
            return not taints(self.choice.instance_type)
        return any(lands_on(choice, self.labels, self.capacity, policy) for choice in demand.choices)

    def add(self, choice: NodeChoice, demand: PodDemand, rank: int) -> None:
        """Take in a pod."""
        self.labels.update(choice.labels)
        self.possible.append(demand)
        self.rank = min(self.rank, rank)
        if rank == 0:
            self.preferred.append(demand)


def lands_on(choice: NodeChoice, labels: Mapping[str, str], capacity: str, policy: NodePolicy) -> bool:
    """Whether a choice may be met by nodes of a group with these labels, bought like this.

    Labels that the cloud sets are on nodes whether or not the group names them; where the group is in several zones,
    some of its nodes may be in the wanted one.
    """
    by_capacity = {key for key in choice.labels if key in CAPACITY_LABELS}
    if by_capacity and policy.capacity_of(choice) != capacity:
        return False
    others = {key: value for key, value in choice.labels.items() if key not in by_capacity}
    return all(labels[key] == value if key in labels else is_set_by_cloud(key) for key, value in others.items())


def node_groups(fleet: Fleet, policy: NodePolicy = _DEFAULT) -> tuple[NodeGroupDemand, ...]:
    """Return one node group per distinct instance type, capacity kind and zone, large enough at rest.

    Labels of flavors that agree are put on one group; where they disagree there is a group for each. A model
    counts against its preferred flavor; groups of its other flavors exist for fallback, empty at rest.
    """
    demands = [pod for item in fleet.rendered for pod in item.pods]
    wanted = [
        (choice, rank, demand)
        for demand in demands
        for rank, choice in enumerate(demand.choices)
        if choice.instance_type and instance(choice.instance_type)
    ]
    kinds: dict[tuple[str, str, str], list[_Group]] = {}
    for choice, rank, demand in sorted(wanted, key=lambda w: sorted(w[0].labels.items())):
        capacity = policy.capacity_of(choice)
        kind = kinds.setdefault((choice.instance_type or "", capacity, choice.zone or ""), [])
        group = next((g for g in kind if g.takes(choice.labels)), None)
        if group is None:
            group = _Group(choice, capacity, dict(policy.labels))
            kind.append(group)
        group.add(choice, demand, rank)
    return tuple(
        _demand(group, name, demands, policy)
        for _, groups in sorted(kinds.items())
        for group, name in zip(groups, _names(groups), strict=True)
    )


def _demand(group: _Group, name: str, everybody: list[PodDemand], policy: NodePolicy) -> NodeGroupDemand:
    instance_type = group.labels[INSTANCE_TYPE_LABEL]
    efa = any(map(wants_efa, group.possible))
    offered = offered_by(instance_type, efa=efa)
    nodes = _nodes_for(instance_type, offered, group.preferred)
    visitors = [demand for demand in everybody if group.admits(demand, policy)]
    return NodeGroupDemand(
        name=name,
        instance_type=instance_type,
        nodes=nodes,
        labels=dict(sorted(group.labels.items())),
        taints=taints(instance_type),
        capacity=group.capacity,
        zone=group.choice.zone,
        max_nodes=max(nodes, min(MOST_NODES, nodes_for_any_order(offered, visitors))),
        alternatives=group.choice.alternatives,
        efa=efa,
        rank=group.rank,
    )


def offered_by(instance_type: str, *, efa: bool) -> dict[str, Decimal]:
    """Return what one node of a type offers to pods; nothing for an unknown type."""
    node = instance(instance_type)
    return allocatable(node, efa=efa) if node else {}


def _names(groups: list[_Group]) -> list[str]:
    """Name groups of one kind: by type, capacity and zone, then by the labels in which they differ.

    Labels on which all agree stay out of the name: a new one must not replace the nodes.
    """
    keys = sorted({key for group in groups for key in group.labels})
    differ = [key for key in keys if len({g.labels[key] for g in groups if key in g.labels}) > 1]
    names: list[str] = []
    for group in groups:
        choice = group.choice
        parts = [choice.instance_type or "", *([group.capacity] if group.capacity != "on-demand" else [])]
        parts += [choice.zone] if choice.zone else []
        parts += [group.labels[key] for key in differ if key in group.labels]
        name = _NOT_IN_NAME.sub("-", "-".join(parts).lower()).strip("-")
        if len(name) > _NAME_LENGTH or name in names:
            digest = hashlib.sha256(repr(sorted(group.labels.items())).encode()).hexdigest()[:6]
            name = f"{name[: _NAME_LENGTH - 7]}-{digest}"
        names.append(name)
    return names


def _nodes_for(instance_type: str, offered: Mapping[str, Decimal], demands: Iterable[PodDemand]) -> int:
    """Count nodes by first fit, largest pods first; a pod that fits no node takes one, and ``fit`` reports it."""
    node = instance(instance_type)
    scarce = (node.accelerator_resource if node else None) or "pods"
    count, open_nodes = 0, list[dict[str, Decimal]]()
    for demand in sorted(demands, key=lambda d: d.requests.get(scarce, Decimal(0)), reverse=True):
        wanted = {**demand.requests, "pods": Decimal(1)}
        for _ in range(demand.pods):
            room = next((f for f in open_nodes if all(f.get(k, 0) >= v for k, v in wanted.items())), None)
            if room is None:
                room = dict(offered)
                count += 1
                open_nodes.append(room)
            for key, amount in wanted.items():
                room[key] = room.get(key, Decimal(0)) - amount
            if room[scarce] <= 0:
                open_nodes.remove(room)
    return count
