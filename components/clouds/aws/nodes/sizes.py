"""Sizes of managed node groups, and the schedules of Capacity Blocks.

Sizes are set once, when a group is created: a minimum of 0, EKS's maximum, and a desired size of 0. Any later change
would send all three, with the desired size that the provider read last (hashicorp/terraform-provider-aws,
internal/service/eks/node_group.go, ``UpdateNodegroupConfig``). It would remove nodes that the autoscaler added, or be
rejected because EKS requires minimum <= desired <= maximum.

A group with a minimum also starts empty: if EC2 has no capacity for the first node, creation ends in CREATE_FAILED
(aws/containers-roadmap 2204), and a failed group neither serves nor can be created again under its name. Without
nodes it is ACTIVE at once.

After that, the autoscaler enforces the bounds of the plan. For groups that are passed explicitly it uses the given
bounds, not those of the Auto Scaling group (kubernetes/autoscaler, cloudprovider/aws/auto_scaling_groups.go). It adds
nodes up to the minimum (``--enforce-node-group-min-size``) and never exceeds the maximum; if more nodes than the
maximum run, it neither adds nor removes any (core/scaleup/orchestrator). Costs, quotas and checks use this maximum.
"""

import datetime
from dataclasses import dataclass

from ....fleet.nodes.groups import NodeGroupDemand
from ....fleet.nodes.policy import RESERVED, Capacity, Reservation, TypePolicy
from ..facts.eks import limits

_EMPTIED = datetime.timedelta(minutes=40)
"""How long before the end of a Capacity Block EKS removes its nodes, with a scheduled action (EKS user guide, "Create
a managed node group with Capacity Blocks for ML")."""
_FILLED = _EMPTIED + datetime.timedelta(minutes=5)
"""How long before the end the action of this package stops recurring, so that EKS's action is the last one."""
_UPDATE = datetime.timedelta(hours=1)
"""Maximum time between reading the clock and the last request of an update. AWS rejects actions that start or end in
the past (Auto Scaling API, PutScheduledUpdateGroupAction)."""
_EVERY = 5
"""Interval in minutes at which a group's size is set again, because a block that is added, extended or corrected
while it runs has no start in the future, and EKS may not know of an extension."""


@dataclass(frozen=True, slots=True)
class Filling:
    """The scheduled action that gives a node group the nodes of its Capacity Block.

    The group is created without nodes, and a scheduled action adds them, which is one of the ways in the EKS user
    guide ("Create a managed node group with Capacity Blocks for ML"). Two actions of a group must not be due at the
    same time (Auto Scaling user guide, "Scheduled scaling", Limitations).

    Attributes:
        nodes: All nodes of the block, which are prepaid.
        starts: First time; None for a block that has started, or starts during the update.
        ends: Time of the last recurrence.
        recurrence: Cron expression; never at the minute of EKS's own action.
    """

    nodes: int
    starts: datetime.datetime | None
    ends: datetime.datetime
    recurrence: str


@dataclass(frozen=True, slots=True)
class CapacityBlock:
    """A Capacity Block and its state at the time of the plan.

    Attributes:
        filling: The action that adds its nodes; None shortly before its end, when EKS removes them.
        running: Whether its group may have nodes before the update ends, in which case it must not be updated.
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
        demand: Demand of the models.
        rule: Settings of the instance type.
        cap: Maximum nodes if the settings have no maximum; None for the demand of the models.
        scale_to_zero: Whether a group that models prefer may be empty.
    """
    reservation = rule.reservation
    if demand.capacity == Capacity.CAPACITY_BLOCK:
        # A block is prepaid, so its group has all nodes, needed or not. Settings can lower the maximum for Karpenter.
        count = reservation.count if reservation else max(demand.max_nodes, 1)
        return Sizes(0, min(count, rule.max_nodes or count))
    reserved = reservation.count if reservation and demand.capacity in RESERVED else None
    maxima = [maximum for maximum in (rule.max_nodes or cap, reserved) if maximum is not None]
    ceiling = min([*maxima, limits().nodes_per_group])
    floor = int(not scale_to_zero and demand.nodes > 0) if rule.min_nodes is None else rule.min_nodes
    minimum = min(floor, ceiling)
    needed = demand.max_nodes if rule.max_nodes is None else ceiling
    return Sizes(minimum, max(min(needed, ceiling), minimum, 1))


def block_of(reservation: Reservation, now: datetime.datetime) -> CapacityBlock:
    """Return the state of a Capacity Block and the action that adds its nodes."""
    starts, ends = reservation.starts, reservation.ends
    if starts is None or ends is None:
        return CapacityBlock(reservation)
    late = ends - _FILLED <= now + _UPDATE
    # Blocks are extended by whole days, so EKS's action keeps its minute even if it stays at the old end.
    first = ((ends - _EMPTIED).minute + _EVERY // 2) % _EVERY
    recurrence = f"{','.join(map(str, range(first, 60, _EVERY)))} * * * *"
    filling = Filling(reservation.count, starts if starts > now + _UPDATE else None, ends - _FILLED, recurrence)
    return CapacityBlock(reservation, None if late else filling, starts <= now + _UPDATE)
