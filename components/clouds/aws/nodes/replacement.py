"""How EKS and Karpenter replace the nodes of a group, and the resources that the nodes are created from.

Managed node groups: EKS user guide, "Understand each phase of node updates" and "Delete a managed node group from
your cluster". The default strategy adds new nodes, two per zone or as many as it updates at once, before it drains
the first old one; the minimal strategy drains and terminates a node before its successor is launched. Neither waits
until evicted pods serve again: only a disruption budget delays the next eviction, for 15 minutes per node. Deleting a
group drains all nodes at once, and terminates them after a few minutes in any case.

Karpenter: its documentation, "Disruption", and pkg/controllers/disruption/drift.go in kubernetes-sigs/karpenter. It
launches the replacement of a drifted node and waits until it is initialized, and only then drains the old one; the
budgets of the pool limit how many nodes that concerns at once. A node whose pods would find no capacity stays as it
is. Deleting a pool drains all its nodes at once. Without a terminationGracePeriod, which pools of models do not have,
each drain waits for disruption budgets as long as it takes.
"""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ....fleet.nodes.policy import RESERVED, most_at_once
from ....fleet.nodes.replacement import NodeReplacement, NodeSource
from ..facts.waits import NODE_GROUP, node_steps
from ..words import Provisioner
from .pool_rules import Disruption

if TYPE_CHECKING:
    from .plan import NodeGroupPlan

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NODE_POOL, NODE_CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
_SURGE_PER_ZONE = 2
_DEFAULT_BUDGET = "10%"
"""Nodes that Karpenter replaces at once in a pool without budgets (pkg/apis/v1/nodepool.go)."""
_DRIFTED = "Drifted"


def class_suffix(pool: str) -> str:
    """Return the name of the EC2NodeClass of a pool, after that of its component."""
    return f"{pool}-class"


def static_name(pool: str) -> str:
    """Return the name of the static NodePool with the minimum nodes of a pool."""
    return f"{pool}-static"


def owned_suffix(group: str) -> str:
    """Return the name of the resource of an owned node group, after that of its component."""
    return f"owned-{group}"


def node_sources(plan: "NodeGroupPlan", parts: Iterable["NodeGroupPlan"]) -> Iterator[NodeSource]:
    """Yield the resources that the nodes of a group come from; none for groups that the stack does not own.

    Args:
        plan: The group.
        parts: The managed node groups that it consists of.
    """
    if plan.existing:
        for group in plan.owned:
            yield NodeSource(NODE_GROUP, owned_suffix(group.name), group.fixed.size[1])
    elif plan.provisioner == Provisioner.KARPENTER:
        yield NodeSource(NODE_CLASS, class_suffix(plan.name))
        yield NodeSource(NODE_POOL, plan.name, plan.maximum - plan.minimum)
        if plan.minimum:
            yield NodeSource(NODE_POOL, static_name(plan.name), plan.minimum)
    else:
        for part in parts:
            yield NodeSource(LAUNCH_TEMPLATE, part.name)
            yield NodeSource(NODE_GROUP, part.name, part.maximum)


def node_replacement(plan: "NodeGroupPlan") -> NodeReplacement:
    """Return how the nodes of a group are replaced one after another."""
    if plan.provisioner == Provisioner.KARPENTER:
        return _drift(plan)
    # Groups of one type that the stack took over are usually updated alike; the first stands for all.
    update = plan.owned[0].update if plan.owned else {}
    at_once = plan.max_unavailable
    if plan.owned:
        share = _share(update.get("max_unavailable_percentage"), plan.demand.nodes)
        at_once = update.get("max_unavailable") or share
    steps = node_steps()
    is_minimal = update.get("update_strategy", plan.update_strategy) == "MINIMAL"
    return NodeReplacement(
        "update of the node group",
        at_once=at_once,
        surge=0 if is_minimal else max(_SURGE_PER_ZONE * len(plan.zones), at_once),
        pause=steps.settle,
        patience=steps.drain,
        forced=plan.force_update,
        free=_free(plan),
        move=plan.move,
    )


def _drift(plan: "NodeGroupPlan") -> NodeReplacement:
    at_once = _budget(plan.disruption, plan.demand.nodes)
    blocked = "" if at_once else "a disruption budget of the pool allows none"
    free = _free(plan)
    if free is not None:
        # Karpenter launches the replacement first, so that it needs a reserved instance that no other node has.
        if free < 1:
            blocked = "the replacement of a node is launched first, and the reservation has no free instance"
        at_once = min(at_once, max(free, 0))
    return NodeReplacement(
        "drift",
        at_once=at_once,
        surge=at_once,
        launches_each=True,
        deletion_waits=True,
        version=plan.version if not plan.ami_id else "",
        blocked=blocked,
        free=free,
        move=plan.move,
        hold=plan.hold,
    )


def _free(plan: "NodeGroupPlan") -> int | None:
    """Return the reserved instances that no node at rest uses; None without a reservation."""
    if plan.demand.capacity not in RESERVED or not plan.held:
        return None
    return most_at_once(plan.held) - plan.demand.nodes


def _budget(disruption: Disruption, nodes: int) -> int:
    """Return how many drifted nodes Karpenter replaces at once; percentages are rounded up.

    Budgets with a schedule only lower that at some times.
    """
    limits = [
        budget.nodes
        for budget in disruption.budgets
        if not budget.schedule and (not budget.reasons or _DRIFTED in budget.reasons)
    ]
    counts = [
        math.ceil(int(limit[:-1]) * max(nodes, 1) / 100) if limit.endswith("%") else int(limit)
        for limit in limits or ([] if disruption.budgets else [_DEFAULT_BUDGET])
    ]
    return min(counts, default=max(nodes, 1))


def _share(percentage: int | None, nodes: int) -> int:
    """Return the nodes that a percentage amounts to; one without a percentage."""
    return max(1, nodes * percentage // 100) if percentage else 1
