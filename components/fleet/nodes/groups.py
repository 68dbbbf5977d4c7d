"""Node groups: which nodes the pods of a fleet need, and how many.

Labels, taints and tags here, and affinity and tolerations in :mod:`..placement`, derive from the same node choices.
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
"""Maximum length of a group name: EKS allows 63 characters, and the cluster's name may be prepended."""
_DIGEST = 6
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_MIB = Decimal(2**20)
DAEMON_PODS = 10
"""Allowance for the pods of DaemonSets on a node."""
_DAEMONS = {"cpu": Decimal("0.5"), "memory": 512 * _MIB, "pods": Decimal(DAEMON_PODS)}
"""Allowance for the DaemonSets of a node, whose requests are unknown here: network plugin (25m twice), kube-proxy
(100m), volume drivers (30m and 120 MiB each), and those that an environment adds."""


def allocatable(node: Instance, *, efa: bool = False) -> dict[str, Decimal]:
    """Return the allocatable resources of a node, with any provisioner and image.

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
    """Return whether an empty node fits a pod; it has fast network interfaces if the pod requests them."""
    offered = allocatable(node, efa=node.fabric_resource in requests)
    return all(amount <= offered.get(key, 0) for key, amount in requests.items())


def wants_efa(demand: PodDemand) -> bool:
    """Return whether a pod requests fast network interfaces."""
    return any(demand.requests.get(resource, 0) > 0 for resource in fabrics())


@dataclass(frozen=True, slots=True)
class NodeGroupDemand:
    """Nodes of one kind that models need: a node group in the cloud, or simulated nodes locally.

    Attributes:
        nodes: Nodes for all models that prefer this group, at their minimum replicas.
        labels: Labels that pods select, and those of every node of the environment.
        capacity: Purchase option, a ``Capacity``.
        max_nodes: Nodes that suffice with all autoscalers at their maximum and all fallbacks on this group.
        alternatives: Other instance types that the nodes may have.
        efa: Whether pods request EFA interfaces.
        rank: Position of the flavor in the order of preference, 0 for the first; the best of all models.
        level: Priority for autoscalers with one order for all pods; the highest level is filled first.
        pods: Maximum pods of a node.
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
    """Identity of a node group, which does not depend on other groups.

    Attributes:
        labels: Labels other than type, capacity and zone, and other than those of every node.
    """

    instance_type: str
    capacity: str
    zone: str
    labels: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, choice: NodeChoice, policy: NodePolicy) -> Self:
        known = (INSTANCE_TYPE_LABEL, ZONE_LABEL, *capacity_labels())
        shared = policy.labels_of(choice.instance_type or "")
        further = {k: v for k, v in choice.labels.items() if k not in known and shared.get(k) != v}
        capacity = str(policy.capacity_of(choice))
        return cls(choice.instance_type or "", capacity, choice.zone or "", tuple(sorted(further.items())))

    @property
    def name(self) -> str:
        """Name of the group, with a digest if the readable part is truncated or omits label keys."""
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
    """A node group under construction, with the pods that may run on it."""

    choice: NodeChoice
    capacity: str
    labels: dict[str, str]
    preferred: list[PodDemand] = field(default_factory=list)
    possible: list[PodDemand] = field(default_factory=list)
    rank: int = 99

    def admits(self, demand: PodDemand, policy: NodePolicy) -> bool:
        """Return whether a pod may run here, even if it prefers another group."""
        if not demand.choices:
            return not taints(self.choice.instance_type)
        return any(lands_on(choice, self.labels, self.capacity, policy) for choice in demand.choices)

    def add(self, choice: NodeChoice, demand: PodDemand, rank: int) -> None:
        self.labels.update(choice.labels)
        self.possible.append(demand)
        self.rank = min(self.rank, rank)
        if rank == 0:
            self.preferred.append(demand)


def lands_on(choice: NodeChoice, labels: Mapping[str, str], capacity: str, policy: NodePolicy) -> bool:
    """Return whether nodes with these group labels and this purchase option may satisfy a choice.

    Labels that the cloud sets may be present even if the group does not name them: a group in several zones may have
    nodes in the requested one.
    """
    by_capacity = {key for key in capacity_labels() if key in choice.labels}
    if by_capacity and policy.capacity_of(choice) != capacity:
        return False
    others = {key: value for key, value in choice.labels.items() if key not in by_capacity}
    return all(labels[key] == value if key in labels else is_set_by_cloud(key) for key, value in others.items())


def node_groups(fleet: Fleet, policy: NodePolicy = _DEFAULT) -> tuple[NodeGroupDemand, ...]:
    """Return the node groups of a fleet."""
    return groups_of([pod for item in fleet.rendered for pod in item.pods], policy)


def groups_of(demands: Sequence[PodDemand], policy: NodePolicy = _DEFAULT) -> tuple[NodeGroupDemand, ...]:
    """Return one node group per distinct instance type, capacity kind, zone and further labels, by name.

    Only identical needs share a group: with merged labels, a change of one model would rename the group of others and
    replace their nodes. A model's pods count towards its preferred flavor; the groups of its other flavors are
    fallbacks, empty unless needed.
    """
    choices = [
        (choice, rank, demand)
        for demand in demands
        for rank, choice in enumerate(demand.choices)
        if choice.instance_type and instance(choice.instance_type)
    ]
    groups: dict[_Need, _Group] = {}
    for choice, rank, demand in sorted(choices, key=lambda entry: sorted(entry[0].labels.items())):
        need = _Need.of(choice, policy)
        group = groups.setdefault(need, _Group(choice, need.capacity, policy.labels_of(need.instance_type)))
        group.add(choice, demand, rank)
    levels = group_order(preferences(demands, policy)).levels
    return tuple(
        _group_demand(group, need.name, demands, policy, levels[need.name]) for need, group in sorted(groups.items())
    )


def flavor_groups(
    flavors: Sequence[PodDemand], policy: NodePolicy = _DEFAULT, nodes: int = 0
) -> tuple[NodeGroupDemand, ...]:
    """Return the node groups of flavors that no model claims yet.

    Args:
        flavors: What each flavor needs of nodes, in order of preference.
        policy: The node settings of the environment.
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
    """Return the group names of each kind of pod, in its order of preference."""
    return [
        [_Need.of(choice, policy).name for choice in demand.choices if instance(choice.instance_type or "")]
        for demand in demands
    ]


def _group_demand(
    group: _Group, name: str, demands: Sequence[PodDemand], policy: NodePolicy, level: int
) -> NodeGroupDemand:
    instance_type = group.labels[INSTANCE_TYPE_LABEL]
    efa = any(map(wants_efa, group.possible))
    pods = MAX_PODS
    if not policy.prefixes:
        # Without prefixes a node takes as many pods as its smallest type has addresses for; more would wait for one
        # (EKS user guide, "Assign more IP addresses to Amazon EKS nodes with prefixes").
        types = map(instance, (instance_type, *group.choice.alternatives))
        pods = min([MAX_PODS, *(node.address_pods for node in types if node)])
    offered = offered_by(instance_type, efa=efa or policy.of(instance_type).efa, pods=pods)
    nodes = _nodes_for(instance_type, offered, group.preferred)
    visitors = [demand for demand in demands if group.admits(demand, policy)]
    # DaemonSets take part of each node. Without an allowance for them, pods that fit on paper would stay Pending at
    # the maximum size, where autoscalers stop.
    for_models = {key: max(amount - _DAEMONS.get(key, Decimal(0)), Decimal(0)) for key, amount in offered.items()}
    return NodeGroupDemand(
        name=name,
        instance_type=instance_type,
        nodes=nodes,
        labels=dict(sorted(group.labels.items())),
        taints=(*taints(instance_type), *policy.taints_of(instance_type)),
        capacity=group.capacity,
        zone=group.choice.zone,
        max_nodes=max(nodes, min(policy.most_nodes, nodes_for_any_order(for_models, visitors))),
        alternatives=group.choice.alternatives,
        efa=efa,
        rank=group.rank,
        level=level,
        pods=pods,
    )


def offered_by(instance_type: str, *, efa: bool, pods: int = MAX_PODS) -> dict[str, Decimal]:
    """Return the allocatable resources of an instance type; empty for an unknown type."""
    node = instance(instance_type)
    return {**allocatable(node, efa=efa), "pods": Decimal(pods)} if node else {}


def _nodes_for(instance_type: str, offered: Mapping[str, Decimal], demands: Iterable[PodDemand]) -> int:
    """Count nodes by first fit, largest pods first. A pod that fits no node takes one; ``fit`` reports it.

    Consecutive nodes with the same pods form a run, so that the time depends on the kinds of pods and not on the
    number of replicas. Free capacity only shrinks, so that a run without room for a kind of pod is never visited
    again for it.
    """
    node = instance(instance_type)
    scarce = (node.accelerator_resource if node else None) or "pods"
    first = last = _Run({}, 0)
    passed: dict[tuple[tuple[str, Decimal], ...], _Run] = {}
    total = 0
    for demand in sorted(demands, key=lambda d: d.requests.get(scarce, Decimal(0)), reverse=True):
        requests, pods = {**demand.requests, "pods": Decimal(1)}, demand.pods
        kind = tuple(sorted(requests.items()))
        before = passed.get(kind, first)
        while pods and (run := before.next):
            per_node = 0 if run.free.get(scarce, Decimal(0)) <= 0 else room_for(requests, run.free)
            if per_node:
                pods -= run.take(requests, per_node, pods)
            else:
                before = run
        passed[kind] = before
        if pods:
            per_node = room_for(requests, offered) or 1
            opened = -(-pods // per_node)
            last = last.end
            last.next = _Run(dict(offered), opened)
            last.next.take(requests, per_node, pods)
            total += opened
    return total


@dataclass(slots=True)
class _Run:
    """Consecutive nodes with equal free capacity; ``next`` is the run after them."""

    free: dict[str, Decimal]
    count: int
    next: "_Run | None" = None

    @property
    def end(self) -> "_Run":
        """The last run of the list."""
        run = self
        while run.next:
            run = run.next
        return run

    def take(self, requests: Mapping[str, Decimal], per_node: int, pods: int) -> int:
        """Fill the nodes one after another, split the run accordingly, and return how many pods were placed.

        Args:
            requests: Requests of a pod.
            per_node: Pods that fit a node of this run.
            pods: Pods to place.
        """
        taken = min(pods, per_node * self.count)
        full, rest = divmod(taken, per_node)
        parts = [(full, per_node), (1 if rest else 0, rest), (self.count - full - (1 if rest else 0), 0)]
        (self.count, most), *others = [(count, number) for count, number in parts if count]
        free, at, after = self.free, self, self.next
        self.free = _without(free, requests, most)
        for count, number in others:
            at.next = _Run(_without(free, requests, number), count)
            at = at.next
        at.next = after
        return taken


def room_for(requests: Mapping[str, Decimal], free: Mapping[str, Decimal]) -> int:
    """Return how many pods fit the free capacity of a node."""
    if any(free.get(key, Decimal(0)) < amount for key, amount in requests.items()):
        return 0
    return min(int(free[key] // amount) for key, amount in requests.items() if amount > 0)


def _without(free: Mapping[str, Decimal], requests: Mapping[str, Decimal], pods: int) -> dict[str, Decimal]:
    return {**free, **{key: free.get(key, Decimal(0)) - amount * pods for key, amount in requests.items()}}
