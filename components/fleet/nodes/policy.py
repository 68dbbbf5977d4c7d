"""Node settings of an environment: purchase options, instance types and zones."""

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
    """From an On-Demand Capacity Reservation."""
    CAPACITY_BLOCK = "capacity-block"


RESERVED = (Capacity.ODCR, Capacity.CAPACITY_BLOCK)
RESERVED_CAPACITY = "reserved"
"""Value of node labels for any kind of reserved capacity; the policy of the instance type determines which."""
MOST_NODES = 450
"""Default maximum size of a node group: the limit of EKS managed node groups (aws-gpu spec 14), which also applies to
simulated nodes so that a plan is the same with and without the cloud."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Reserved capacity: an On-Demand Capacity Reservation or a Capacity Block (aws-gpu spec 4).

    Attributes:
        id: ``cr-...``, or the ARN of a resource group of On-Demand reservations.
        zone: Its availability zone.
        count: Number of reserved instances.
        starts: Start of a Capacity Block; None for On-Demand reservations.
        ends: Its end.
    """

    id: str
    zone: str
    count: int
    starts: datetime.datetime | None = None
    ends: datetime.datetime | None = None


@dataclass(frozen=True, slots=True)
class TypePolicy:
    """Node settings of one instance type.

    Attributes:
        capacity: Purchase option; None for that of the environment.
        reservation: Required if the capacity is ``odcr`` or ``capacity-block``.
        next_blocks: Capacity Blocks after the reservation, which is then a Capacity Block itself.
        zones: Availability zones of its nodes; empty for all zones of the environment.
        existing_groups: Names of existing node groups with its nodes; empty if its node groups are to be created.
        alternatives: Instance types that pods may use instead, so that spot capacity comes from several pools.
        efa: Whether nodes get EFA interfaces even if no pod requests them.
        placement_group: Whether nodes are placed in a cluster placement group.
        ami_id: Custom image, for types that AWS has no image for.
        min_nodes: Minimum size; overrides the computed one.
        max_nodes: Maximum size, which bounds the cost; overrides the computed one.
        labels: Labels of its nodes, in addition to those of all nodes.
        taints: Taints of its nodes, in addition to those of all nodes and of its accelerators.
        generation: Name of the generation of its nodes, which pods select; empty for none.
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
    existing_groups: tuple[str, ...] = ()
    generation: str = ""


_NOTHING = TypePolicy()


@dataclass(frozen=True, slots=True)
class NodePolicy:
    """Node settings of an environment.

    Attributes:
        capacity: Default purchase option.
        labels: Labels that every pod selects and every node therefore carries.
        further: Further labels of all nodes, which pods do not select.
        taints: Taints of all nodes besides those of their accelerators; model pods tolerate them.
        prefixes: Whether the network plugin assigns prefixes, so that addresses do not limit the pods of a node.
        most_nodes: Maximum size of a node group.
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
        """Return the taints of every node of a type, without those of its accelerators."""
        return (*self.taints, *self.of(instance_type).taints)

    @property
    def tolerations(self) -> tuple[dict[str, Any], ...]:
        """Tolerations of model pods for the taints of all types; node affinity keeps each pod on its own nodes."""
        taints = [*self.taints, *(taint for rule in self.types.values() for taint in rule.taints)]
        matching = [
            {"key": t["key"], "operator": "Equal", "value": t["value"], "effect": t["effect"]} for t in taints
        ]
        return tuple(toleration for index, toleration in enumerate(matching) if toleration not in matching[:index])

    def of(self, instance_type: str) -> TypePolicy:
        return self.types.get(instance_type, _NOTHING)

    def capacity_of(self, choice: NodeChoice) -> str:
        """Return the purchase option of a choice: that of its labels, else of its type, else of the environment.

        Labels may have any value; the checks of a cloud report values that are not a ``Capacity``.
        """
        rule = self.of(choice.instance_type or "")
        if choice.capacity == RESERVED_CAPACITY:
            return rule.capacity if rule.capacity in RESERVED and rule.capacity else Capacity.ODCR
        return choice.capacity or rule.capacity or self.capacity

    @property
    def efa_types(self) -> frozenset[str]:
        """Instance types whose nodes have EFA interfaces even if no pod requests them."""
        return frozenset(name for name, rule in self.types.items() if rule.efa)

    @property
    def generations(self) -> dict[str, str]:
        """Name of the generation of nodes by instance type."""
        return {name: rule.generation for name, rule in self.types.items() if rule.generation}

    @property
    def alternatives(self) -> dict[str, tuple[str, ...]]:
        """Alternative types by instance type, for :class:`~..fleet.options.Options`."""
        return {name: rule.alternatives for name, rule in self.types.items() if rule.alternatives}


def most_at_once(blocks: Iterable[Reservation]) -> int:
    """Return the most instances that Capacity Blocks provide at once; blocks without times always count."""
    blocks = list(blocks)

    def runs_at_start_of(block: Reservation, other: Reservation) -> bool:
        if block.starts is None or other.starts is None or other.ends is None:
            return True
        return other.starts <= block.starts < other.ends

    # The number is largest at the start of some block.
    return max(
        (sum(other.count for other in blocks if runs_at_start_of(block, other)) for block in blocks), default=0
    )
