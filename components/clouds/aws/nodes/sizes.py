"""How many nodes a managed node group has, and what decides it.

EKS gets sizes once, when a group is created: 0 to what EKS allows, starting with 0. Each later change would send all
three, the desired size as the provider last read it (hashicorp/terraform-provider-aws,
internal/service/eks/node_group.go, ``UpdateNodegroupConfig``), and so take nodes away that the autoscaler added, or
be refused because EKS requires minimum <= desired <= maximum.

A group also starts empty where it has a minimum: if EC2 has no capacity for the first node, creation ends in
CREATE_FAILED (aws/containers-roadmap 2204), and a failed group neither serves nor can be created again under its
name. Without a node it is ACTIVE at once.

From then on the autoscaler keeps the bounds of the plan. Groups that it is given explicitly keep the bounds that they
are given, whatever those of the Auto Scaling group are (kubernetes/autoscaler,
cloudprovider/aws/auto_scaling_groups.go). It adds nodes up to a minimum (``--enforce-node-group-min-size``), never
above a maximum; with a maximum below what runs it adds none and takes none away (core/scaleup/orchestrator). The
maximum is the number that costs, quotas and checks count with.
"""

import datetime
from dataclasses import dataclass

from ....fleet.nodes.groups import NodeGroupDemand
from ....fleet.nodes.policy import RESERVED, Capacity, Reservation, TypePolicy
from ..facts.eks import limits

_EMPTIED = datetime.timedelta(minutes=40)
"""EKS takes nodes of a Capacity Block away so long before it ends, by a scheduled action of its own (EKS user guide,
"Create a managed node group with Capacity Blocks for ML")."""
_FILLED = _EMPTIED + datetime.timedelta(minutes=5)
"""Our own action recurs no more from so long before the end: EKS's must be the last."""
_UPDATE = datetime.timedelta(hours=1)
"""Between the look at the clock and the last request of an update; AWS refuses actions that begin or end in the past
(Auto Scaling API, PutScheduledUpdateGroupAction)."""
_EVERY = 5
"""Minutes after which a group gets the nodes of its Capacity Block again: a block that is named, extended or
corrected while it runs has no other beginning, and EKS may not know of an extension."""


@dataclass(frozen=True, slots=True)
class Filling:
    """The scheduled action that gives a node group the nodes of its Capacity Block.

    A group is made without nodes, and a scheduled action adds them: one of the ways that the EKS user guide names
    ("Create a managed node group with Capacity Blocks for ML"). No two actions of a group may be due at one moment
    (Auto Scaling user guide, "Scheduled scaling", Limitations).

    Attributes:
        nodes: All that were bought: they are paid for.
        starts: When it is due for the first time; None for a block that has begun, or will within the update.
        ends: When it recurs no more.
        recurrence: When it is due, as a cron line; never at the minute of EKS's own action.
    """

    nodes: int
    starts: datetime.datetime | None
    ends: datetime.datetime
    recurrence: str


@dataclass(frozen=True, slots=True)
class CapacityBlock:
    """A Capacity Block, and what the clock says of it.

    Attributes:
        filling: How its group gets nodes; None shortly before its end, when EKS takes them away.
        running: Whether its group may have nodes before an update is over: it must not be updated then.
    """

    reservation: Reservation
    filling: Filling | None = None
    running: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a node group, as in ``NodeGroupPlan``."""

    minimum: int
    maximum: int


def sizes_of(demand: NodeGroupDemand, rule: TypePolicy, *, cap: int | None, scale_to_zero: bool) -> Sizes:
    """Return the sizes of a group.

    Args:
        demand: What the models need.
        rule: What settings say about the instance type.
        cap: Most nodes where settings name no maximum; None for what the models need.
        scale_to_zero: Whether a group that models prefer may be empty.
    """
    if demand.capacity == Capacity.CAPACITY_BLOCK:
        return _of_block(demand, rule)
    held = rule.reservation.count if rule.reservation and demand.capacity in RESERVED else None
    given = [most for most in (rule.max_nodes or cap, held) if most is not None]
    ceiling = min([*given, limits().nodes_per_group])
    asked = int(not scale_to_zero and demand.nodes > 0) if rule.min_nodes is None else rule.min_nodes
    least = min(asked, ceiling)
    needed = demand.max_nodes if rule.max_nodes is None else ceiling
    return Sizes(least, max(min(needed, ceiling), least, 1))


def _of_block(demand: NodeGroupDemand, rule: TypePolicy) -> Sizes:
    """Return all that was bought: it is paid for, whether or not pods need it. Karpenter may be told less."""
    block = rule.reservation
    bought = block.count if block else max(demand.max_nodes, 1)
    return Sizes(0, min(bought, rule.max_nodes or bought))


def block_of(reservation: Reservation, now: datetime.datetime) -> CapacityBlock:
    """Return what a Capacity Block means for its group at a moment."""
    starts, ends = reservation.starts, reservation.ends
    if starts is None or ends is None:
        return CapacityBlock(reservation)
    late = ends - _FILLED <= now + _UPDATE
    # An extension is by days: EKS's action stays at the minute that it had, also where it stays at the old end.
    first = ((ends - _EMPTIED).minute + _EVERY // 2) % _EVERY
    recurrence = f"{','.join(map(str, range(first, 60, _EVERY)))} * * * *"
    filling = Filling(reservation.count, starts if starts > now + _UPDATE else None, ends - _FILLED, recurrence)
    return CapacityBlock(reservation, None if late else filling, starts <= now + _UPDATE)
