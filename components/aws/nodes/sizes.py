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

from ...nodes.groups import NodeGroupDemand
from ...nodes.policy import RESERVED, Capacity, Reservation, TypePolicy
from ..facts.eks import limits

_BLOCK_END = datetime.timedelta(minutes=40)
"""EKS takes nodes of a Capacity Block away so long before it ends, by a scheduled action of its own (EKS user guide,
Create a managed node group with Capacity Blocks for ML)."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a node group, as in ``NodeGroupPlan``."""

    minimum: int
    maximum: int
    initial: int


def sizes_of(
    demand: NodeGroupDemand, rule: TypePolicy, now: datetime.datetime, *, cap: int | None, scale_to_zero: bool
) -> Sizes:
    """Return the sizes of a group.

    Args:
        demand: What the models need.
        rule: What settings say about the instance type.
        now: The moment.
        cap: Most nodes where settings name no maximum; None for what the models need.
        scale_to_zero: Whether a group that models prefer may be empty.
    """
    if demand.capacity == Capacity.CAPACITY_BLOCK:
        return _of_block(demand, rule, now)
    held = rule.reservation.count if rule.reservation and demand.capacity in RESERVED else None
    given = [most for most in (rule.max_nodes or cap, held) if most is not None]
    ceiling = min([*given, limits().nodes_per_group])
    asked = int(not scale_to_zero and demand.nodes > 0) if rule.min_nodes is None else rule.min_nodes
    least = min(asked, ceiling)
    needed = demand.max_nodes if rule.max_nodes is None else ceiling
    return Sizes(least, max(min(needed, ceiling), least, 1), 0)


def _of_block(demand: NodeGroupDemand, rule: TypePolicy, now: datetime.datetime) -> Sizes:
    """Return all that was bought: it is paid for, whether or not pods need it. Karpenter may be told less."""
    block = rule.reservation
    bought = block.count if block else max(demand.max_nodes, 1)
    most = min(bought, rule.max_nodes or bought)
    return Sizes(0, most, most if _runs(block, now) else 0)


def _runs(block: Reservation | None, now: datetime.datetime) -> bool:
    """Whether a Capacity Block gives nodes now."""
    if block is None:
        return False
    begun = block.starts is None or block.starts <= now
    return begun and (block.ends is None or now < block.ends - _BLOCK_END)


def begin_of(demand: NodeGroupDemand, rule: TypePolicy, now: datetime.datetime) -> datetime.datetime | None:
    """Return when a Capacity Block will give its nodes: AWS refuses actions in the past."""
    block = rule.reservation
    if demand.capacity != Capacity.CAPACITY_BLOCK or block is None or block.starts is None:
        return None
    return block.starts if block.starts > now else None
