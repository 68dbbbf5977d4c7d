"""Node groups: what nodes the pods of a fleet need, and how many.

Labels, taints and tags here, and the affinity and tolerations of :mod:`.placement`, come from the same choices.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Self

from ..cloud_facts import capacity_labels, is_set_by_cloud
from ..demand import INSTANCE_TYPE_LABEL, ZONE_LABEL, NodeChoice, PodDemand
from ..instances import MAX_PODS, Instance, fabrics, instance
from ..placement import taints
from ..rendered import Fleet
from .bounds import nodes_for_any_order
from .order import group_order
from .policy import Capacity, NodePolicy

MAX_UNCLAIMED_NODES = 10
"""Maximum size of a group for flavors without models: there are no pods to count."""
_DEFAULT = NodePolicy()
_NAME_LENGTH = 48
"""Of the 63 characters that EKS allows, so that a cluster's name can go before it."""
_DIGEST = 6
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_MIB = Decimal(2**20)
_DAEMONS = {"cpu": Decimal("0.5"), "memory": 512 * _MIB, "pods": Decimal(10)}
"""An allowance for the DaemonSets of a node, whose requests nothing here knows: network plugin (25m twice),
kube-proxy (100m), volume drivers (30m and 120 MiB each), and what else an environment adds."""


def allocatable(node: Instance, *, efa: bool = False) -> dict[str, Decimal]:
    """Return what pods can ask of a node, whoever makes it and from whichever image.

    Args:
        node: The instance type.
        efa: Whether the node has its fast network interfaces.
    """
    efa = efa and node.fabric_interfaces > 0
    memory = node.allocatable_memory - (node.fabric_memory if efa else 0)
    offered = {"cpu": node.allocatable_cpu, "memory": memory, "pods": Decimal(MAX_PODS)}
    if node.accelerator_resource:
        offered[node.accelerator_resource] = Decimal(node.accelerators)
    if efa:
        offered[node.fabric_resource] = Decimal(node.fabric_interfaces)
    return offered


def takes(node: Instance, requests: Mapping[str, Decimal]) -> bool:
    """Whether an empty node, with its fast network interfaces where those are asked for, has what a pod requests."""
    offered = allocatable(node, efa=node.fabric_resource in requests)
    return all(amount <= offered.get(key, 0) for key, amount in requests.items())


def wants_efa(demand: PodDemand) -> bool:
    """Whether a pod asks for fast network interfaces."""
    return any(demand.requests.get(resource, 0) > 0 for resource in fabrics())


@dataclass(frozen=True, slots=True)
class NodeGroupDemand:
    """Nodes of one kind that the models need: a node group in the cloud, simulated nodes at home.

    Attributes:
        nodes: Enough for every model that prefers them, at rest.
        labels: What pods select, and the labels that every node of the environment carries.
        capacity: How the nodes are bought, a ``Capacity``.
        max_nodes: Enough when autoscalers have added all they may and fallbacks land here.
        alternatives: Further instance types that the nodes may be of.
        efa: Whether pods ask for EFA interfaces.
        rank: Position of the flavor in the order of preference; 0 is first. The best of all models counts.
        level: How early an autoscaler with one order for all pods adds nodes here; the highest comes first.
        pods: How many pods a node takes.
    """

    name: str
    instance_type: str
    nodes: int
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    capacity: str = Capacity.ON_DEMAND
    zone: str | None = None
    max_nodes: int = 0
    alternatives: tuple[str, ...] = ()
    efa: bool = False
    rank: int = 0
    level: int = 0
    pods: int = MAX_PODS


@dataclass(frozen=True, slots=True, order=True)
class _Need:
    """What tells the nodes of a group from all others. Nothing of it depends on who else needs nodes.

    Attributes:
        labels: Labels beside those that say type, capacity and zone, and beside those of every node.
    """

    instance_type: str
    capacity: str
    zone: str
    labels: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, choice: NodeChoice, policy: NodePolicy) -> Self:
        """Return what a choice needs."""
        known = (INSTANCE_TYPE_LABEL, ZONE_LABEL, *capacity_labels())
        shared = policy.labels_of(choice.instance_type or "")
        further = {k: v for k, v in choice.labels.items() if k not in known and shared.get(k) != v}
        capacity = str(policy.capacity_of(choice))
        return cls(choice.instance_type or "", capacity, choice.zone or "", tuple(sorted(further.items())))

    @property
    def name(self) -> str:
        """Name of the group: what can be read of the need, and a digest where that is not all of it."""
        capacity = "" if self.capacity == Capacity.ON_DEMAND else self.capacity
        parts = (self.instance_type, capacity, self.zone, *(value for _, value in self.labels))
        name = _NOT_IN_NAME.sub("-", "-".join(filter(None, parts)).lower()).strip("-")
        if not self.labels and len(name) <= _NAME_LENGTH:
            return name
        need = json.dumps((self.instance_type, self.capacity, self.zone, self.labels))
        digest = hashlib.sha256(need.encode()).hexdigest()[:_DIGEST]
        return f"{name[: _NAME_LENGTH - _DIGEST - 1].rstrip('-')}-{digest}"


@dataclass(slots=True)
class _Group:
    """The nodes of one need, and the pods that may come to them."""

    choice: NodeChoice
    capacity: str
    labels: dict[str, str]
    preferred: list[PodDemand] = field(default_factory=list)
    possible: list[PodDemand] = field(default_factory=list)
    rank: int = 99

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
    by_capacity = {key for key in capacity_labels() if key in choice.labels}
    if by_capacity and policy.capacity_of(choice) != capacity:
        return False
    others = {key: value for key, value in choice.labels.items() if key not in by_capacity}
    return all(labels[key] == value if key in labels else is_set_by_cloud(key) for key, value in others.items())


def node_groups(fleet: Fleet, policy: NodePolicy = _DEFAULT) -> tuple[NodeGroupDemand, ...]:
    """Return the node groups of a fleet, large enough at rest."""
    return groups_of([pod for item in fleet.rendered for pod in item.pods], policy)


def groups_of(demands: Sequence[PodDemand], policy: NodePolicy = _DEFAULT) -> tuple[NodeGroupDemand, ...]:
    """Return one node group per distinct instance type, capacity kind, zone and further labels, by name.

    What agrees is shared; what differs in any label is not: a group that took in others' labels would get another
    name, and new nodes, when those others change. A model counts against its preferred flavor; groups of its other
    flavors exist for fallback, empty at rest.
    """
    wanted = [
        (choice, rank, demand)
        for demand in demands
        for rank, choice in enumerate(demand.choices)
        if choice.instance_type and instance(choice.instance_type)
    ]
    groups: dict[_Need, _Group] = {}
    for choice, rank, demand in sorted(wanted, key=lambda w: sorted(w[0].labels.items())):
        need = _Need.of(choice, policy)
        group = groups.setdefault(need, _Group(choice, need.capacity, policy.labels_of(need.instance_type)))
        group.add(choice, demand, rank)
    levels = group_order(preferences(demands, policy)).levels
    return tuple(
        _demand(group, need.name, demands, policy, levels[need.name]) for need, group in sorted(groups.items())
    )


def flavor_groups(
    flavors: Sequence[PodDemand], policy: NodePolicy = _DEFAULT, nodes: int = 0
) -> tuple[NodeGroupDemand, ...]:
    """Return the node groups of flavors that no model claims yet.

    Args:
        flavors: What each flavor needs of nodes, in order of preference.
        policy: What the environment says about nodes.
        nodes: Nodes of each group at rest.
    """
    names = [group.name for flavor in flavors for group in groups_of([flavor], policy)]
    return tuple(
        replace(
            group,
            nodes=nodes,
            max_nodes=MAX_UNCLAIMED_NODES,
            rank=names.index(group.name),
            level=len(names) - 1 - names.index(group.name),
        )
        for group in groups_of(flavors, policy)
    )


def preferences(demands: Iterable[PodDemand], policy: NodePolicy) -> list[list[str]]:
    """Return the names of the groups that each kind of pod may run on, in its order of preference."""
    return [
        [_Need.of(choice, policy).name for choice in demand.choices if instance(choice.instance_type or "")]
        for demand in demands
    ]


def _demand(
    group: _Group, name: str, everybody: Sequence[PodDemand], policy: NodePolicy, level: int
) -> NodeGroupDemand:
    instance_type = group.labels[INSTANCE_TYPE_LABEL]
    efa = any(map(wants_efa, group.possible))
    pods = _pods_per_node((instance_type, *group.choice.alternatives), policy)
    offered = offered_by(instance_type, efa=efa or policy.of(instance_type).efa, pods=pods)
    nodes = _nodes_for(instance_type, offered, group.preferred)
    visitors = [demand for demand in everybody if group.admits(demand, policy)]
    return NodeGroupDemand(
        name=name,
        instance_type=instance_type,
        nodes=nodes,
        labels=dict(sorted(group.labels.items())),
        taints=(*taints(instance_type), *policy.taints_of(instance_type)),
        capacity=group.capacity,
        zone=group.choice.zone,
        max_nodes=max(nodes, min(policy.most_nodes, nodes_for_any_order(_beside_daemons(offered), visitors))),
        alternatives=group.choice.alternatives,
        efa=efa,
        rank=group.rank,
        level=level,
        pods=pods,
    )


def _beside_daemons(offered: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Return what a node surely has for models: autoscalers stop at the number of nodes that is counted with it."""
    return {key: max(amount - _DAEMONS.get(key, Decimal(0)), Decimal(0)) for key, amount in offered.items()}


def _pods_per_node(types: Iterable[str], policy: NodePolicy) -> int:
    """Return how many pods each node takes: without prefixes, those that the smallest type has addresses for.

    More would wait for an address (EKS user guide, "Assign more IP addresses to Amazon EKS nodes with prefixes").
    """
    nodes = [node for node in map(instance, types) if node]
    return MAX_PODS if policy.prefixes else min([MAX_PODS, *(node.address_pods for node in nodes)])


def offered_by(instance_type: str, *, efa: bool, pods: int = MAX_PODS) -> dict[str, Decimal]:
    """Return what one node of a type offers to pods; nothing for an unknown type."""
    node = instance(instance_type)
    return {**allocatable(node, efa=efa), "pods": Decimal(pods)} if node else {}


def _nodes_for(instance_type: str, offered: Mapping[str, Decimal], demands: Iterable[PodDemand]) -> int:
    """Count nodes by first fit, largest pods first; a pod that fits no node takes one, and ``fit`` reports it.

    Nodes that were opened one after another with the same pods on them are one run, so that the time depends on the
    kinds of pods, and not on how many replicas there are. What a node has left only shrinks: a run without room for
    one kind of pod is never looked at again for that kind.
    """
    node = instance(instance_type)
    scarce = (node.accelerator_resource if node else None) or "pods"
    first = last = _Run({}, 0)
    passed: dict[tuple[tuple[str, Decimal], ...], _Run] = {}
    total = 0
    for demand in sorted(demands, key=lambda d: d.requests.get(scarce, Decimal(0)), reverse=True):
        wanted, pods = {**demand.requests, "pods": Decimal(1)}, demand.pods
        kind = tuple(sorted(wanted.items()))
        before = passed.get(kind, first)
        while pods and (run := before.next):
            each = 0 if run.free.get(scarce, Decimal(0)) <= 0 else _room_for(wanted, run.free)
            if each:
                pods -= run.take(wanted, each, pods)
            else:
                before = run
        passed[kind] = before
        if pods:
            each = _room_for(wanted, offered) or 1
            opened = -(-pods // each)
            last = last.end
            last.next = _Run(dict(offered), opened)
            last.next.take(wanted, each, pods)
            total += opened
    return total


@dataclass(slots=True)
class _Run:
    """Nodes that were opened one after another, and have as much left; ``next`` are those opened after them."""

    free: dict[str, Decimal]
    count: int
    next: "_Run | None" = None

    @property
    def end(self) -> "_Run":
        """The last run from here on."""
        found = self
        while found.next:
            found = found.next
        return found

    def take(self, wanted: Mapping[str, Decimal], each: int, pods: int) -> int:
        """Put pods on the nodes, so many on each before the next one, and return how many found room.

        Args:
            wanted: What a pod requests.
            each: How many of them a node has room for.
            pods: How many there are.
        """
        taken = min(pods, each * self.count)
        full, rest = divmod(taken, each)
        parts = [(full, each), (1 if rest else 0, rest), (self.count - full - (1 if rest else 0), 0)]
        (self.count, most), *others = [(count, number) for count, number in parts if count]
        free, at, after = self.free, self, self.next
        self.free = _without(free, wanted, most)
        for count, number in others:
            at.next = _Run(_without(free, wanted, number), count)
            at = at.next
        at.next = after
        return taken


def _room_for(wanted: Mapping[str, Decimal], free: Mapping[str, Decimal]) -> int:
    """Return how many pods find room in what a node has left."""
    if any(free.get(key, Decimal(0)) < amount for key, amount in wanted.items()):
        return 0
    return min(int(free[key] // amount) for key, amount in wanted.items() if amount > 0)


def _without(free: Mapping[str, Decimal], wanted: Mapping[str, Decimal], pods: int) -> dict[str, Decimal]:
    return {**free, **{key: free.get(key, Decimal(0)) - amount * pods for key, amount in wanted.items()}}
