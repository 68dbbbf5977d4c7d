"""How many nodes of a group may be replaced at once without breaking the availability of the models on them."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from ..objects import Object
from ..rendered import Fleet, Rendered
from ..shapes import PodUpdate
from ..workloads import Workload
from .groups import NodeGroupDemand, lands_on, offered_by, room_for
from .policy import NodePolicy

_BUDGET = "PodDisruptionBudget"


def nodes_at_once(fleet: Fleet, group: NodeGroupDemand, policy: NodePolicy, limit: int) -> int:
    """Return how many nodes of a group may be unavailable at once: at least one.

    Whichever nodes these are, they must not hold more replicas of a model than its updates, or its disruption budget,
    allow to be unavailable, with its autoscaler at the minimum.

    Args:
        fleet: The rendered fleet.
        group: The node group.
        policy: Node settings.
        limit: The largest number of nodes.
    """
    at_once = limit
    for item, workload in fleet.workloads:
        per_node = _replicas_per_node(workload, group, policy)
        if per_node:
            at_once = min(at_once, _unavailable(item, workload) // per_node)
    return max(1, at_once)


def runs_on(workload: Workload, group: NodeGroupDemand, policy: NodePolicy) -> bool:
    """Tell whether pods of a workload may run on the nodes of a group."""
    choices = (choice for demand in workload.pods for choice in demand.choices)
    return any(lands_on(choice, group.labels, group.capacity, policy) for choice in choices)


def has_budget(item: Rendered, workload: Workload) -> bool:
    """Tell whether a disruption budget of its resource limits the evictions of a workload."""
    return any(True for _ in _budgets(item, workload))


def _replicas_per_node(workload: Workload, group: NodeGroupDemand, policy: NodePolicy) -> int:
    """Return the replicas of a workload that one node of a group may hold; 0 if its pods do not run there."""
    most = 0
    for demand in workload.pods:
        if any(lands_on(choice, group.labels, group.capacity, policy) for choice in demand.choices):
            offered: Mapping[str, Decimal] = offered_by(group.instance_type, efa=group.efa, pods=group.pods)
            pods = room_for({**demand.requests, "pods": Decimal(1)}, offered)
            # A part of a replica that spans several nodes is as good as all of it.
            most = max(most, 1, pods // max(1, demand.per_replica))
    return min(most, max(1, workload.replicas))


def _budgets(item: Rendered, workload: Workload) -> Iterator[Object]:
    """Yield the specs of the disruption budgets of a workload."""
    for body in item.others:
        spec = body.get("spec") or {}
        labels = (spec.get("selector") or {}).get("matchLabels") or {}
        if body["kind"] == _BUDGET and labels.items() <= workload.selector.items():
            yield spec


def _unavailable(item: Rendered, workload: Workload) -> int:
    """Return how many replicas of a workload may be unavailable."""
    replicas = max(1, workload.replicas)
    if workload.operated:
        # Its operator decides, and one replica at a time is right for all of them.
        return 1
    allowed = workload.shape.update_of(workload.body).missing(replicas)
    for spec in _budgets(item, workload):
        if "maxUnavailable" in spec:
            allowed = min(allowed, PodUpdate(unavailable=spec["maxUnavailable"]).missing(replicas))
        else:
            # minAvailable, by which a larger model might lose more; one replica is always safe to ask for.
            allowed = min(allowed, 1)
    return allowed
