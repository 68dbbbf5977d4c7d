"""What an environment says about nodes: how they are bought, of which types, in which zones."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contract.words import Word
from ..demand import NodeChoice


class Capacity(Word):
    """Purchase option of the nodes."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    ODCR = "odcr"
    """Out of an On-Demand Capacity Reservation."""
    CAPACITY_BLOCK = "capacity-block"


RESERVED = (Capacity.ODCR, Capacity.CAPACITY_BLOCK)
RESERVED_CAPACITY = "reserved"
"""In labels of nodes: capacity that is reserved in any way; which one, the policy of the instance type says."""
MOST_NODES = 450
"""Nodes of one node group where the environment sets no other bound: the limit of managed node groups of EKS (aws-gpu
spec 14), also for simulated nodes, so that a plan is the same with and without the cloud."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Reserved capacity: an On-Demand Capacity Reservation or a Capacity Block (aws-gpu spec 4).

    Attributes:
        id: ``cr-...``, or the ARN of a resource group of On-Demand reservations.
        zone: Its availability zone.
        count: How many instances it holds.
        starts: When a Capacity Block begins; None for On-Demand reservations.
        ends: When it ends.
    """

    id: str
    zone: str
    count: int
    starts: datetime.datetime | None = None
    ends: datetime.datetime | None = None


@dataclass(frozen=True, slots=True)
class TypePolicy:
    """What an environment says about one instance type.

    Attributes:
        capacity: None takes the environment's.
        reservation: Needed where the capacity is ``odcr`` or ``capacity-block``.
        next_blocks: Capacity Blocks that follow the reservation, which is one then.
        zones: Availability zones of its nodes; empty for all of the environment's.
        alternatives: Further types that pods may run on instead, for spot capacity in several pools.
        efa: Whether nodes get EFA interfaces even where no pod asks for them.
        placement_group: Whether nodes are put close together, in a cluster placement group.
        ami_id: An image of one's own, for types that AWS has no image for.
        min_nodes: Lower bound instead of the computed one.
        max_nodes: Upper bound instead of the computed one: what the group may cost.
        labels: Labels of its nodes, beside those of all nodes.
        taints: Taints of its nodes, beside those of all nodes and that of its accelerators.
    """

    capacity: Capacity | None = None
    reservation: Reservation | None = None
    next_blocks: tuple[Reservation, ...] = ()
    zones: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    efa: bool = False
    placement_group: bool = False
    ami_id: str | None = None
    min_nodes: int | None = None
    max_nodes: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()


_NOTHING = TypePolicy()


@dataclass(frozen=True, slots=True)
class NodePolicy:
    """What an environment says about all its nodes.

    Attributes:
        capacity: For types that say nothing of their own.
        labels: Labels that every pod selects, and every node carries therefore.
        further: Labels of all nodes that no pod must select.
        taints: Taints of all nodes, beside those of their accelerators; the models' pods tolerate them.
        prefixes: Whether the network plugin hands out prefixes, so that addresses do not bound the pods of a node.
        most_nodes: Nodes that one node group may have at most.
    """

    capacity: Capacity = Capacity.ON_DEMAND
    types: Mapping[str, TypePolicy] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    prefixes: bool = True
    further: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    most_nodes: int = MOST_NODES

    def labels_of(self, instance_type: str) -> dict[str, str]:
        """Return the labels of every node of a type."""
        return {**self.further, **self.of(instance_type).labels, **self.labels}

    def taints_of(self, instance_type: str) -> tuple[Mapping[str, str], ...]:
        """Return the taints of every node of a type, beside that of its accelerators."""
        return (*self.taints, *self.of(instance_type).taints)

    @property
    def tolerations(self) -> tuple[dict[str, Any], ...]:
        """What the models' pods tolerate: affinity binds each to its nodes, whatever else it tolerates."""
        every = [*self.taints, *(taint for rule in self.types.values() for taint in rule.taints)]
        met = [{"key": t["key"], "operator": "Equal", "value": t["value"], "effect": t["effect"]} for t in every]
        return tuple(each for index, each in enumerate(met) if each not in met[:index])

    def of(self, instance_type: str) -> TypePolicy:
        """Return what is said about a type."""
        return self.types.get(instance_type, _NOTHING)

    def capacity_of(self, choice: NodeChoice) -> str:
        """Return how nodes of a choice are bought: as its labels say, else its type, else the environment.

        Labels may have any word; what is no ``Capacity`` is reported by the checks of a cloud.
        """
        rule = self.of(choice.instance_type or "")
        if choice.capacity == RESERVED_CAPACITY:
            return rule.capacity if rule.capacity in RESERVED and rule.capacity else Capacity.ODCR
        return choice.capacity or rule.capacity or self.capacity

    @property
    def efa_types(self) -> frozenset[str]:
        """Instance types whose nodes have their EFA interfaces whether or not a pod asks for them."""
        return frozenset(name for name, rule in self.types.items() if rule.efa)

    @property
    def alternatives(self) -> dict[str, tuple[str, ...]]:
        """Further types by instance type, for :class:`~..fleet.options.Options`."""
        return {name: rule.alternatives for name, rule in self.types.items() if rule.alternatives}


def most_at_once(blocks: Iterable[Reservation]) -> int:
    """Return the most instances that Capacity Blocks have at one moment; those without times count always."""
    blocks = list(blocks)
    return max(
        (sum(other.count for other in blocks if _runs_at_start_of(block, other)) for block in blocks), default=0
    )


def _runs_at_start_of(block: Reservation, other: Reservation) -> bool:
    if block.starts is None or other.starts is None or other.ends is None:
        return True
    return other.starts <= block.starts < other.ends
