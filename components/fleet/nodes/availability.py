"""How many nodes of a group may be replaced at once without breaking the availability of the models on them."""

from collections.abc import Mapping
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


def _unavailable(item: Rendered, workload: Workload) -> int:
    """Return how many replicas of a workload may be unavailable."""
    replicas = max(1, workload.replicas)
    if workload.operated:
        # Its operator decides, and one replica at a time is right for all of them.
        return 1
    allowed = workload.shape.update_of(workload.body).missing(replicas)
    for body in item.others:
        spec = body.get("spec") or {}
        if body["kind"] == _BUDGET and _selects(spec, workload):
            if "maxUnavailable" in spec:
                allowed = min(allowed, PodUpdate(unavailable=spec["maxUnavailable"]).missing(replicas))
            else:
                # minAvailable, by which a larger model might lose more; one replica is always safe to ask for.
                allowed = min(allowed, 1)
    return allowed


def _selects(spec: Object, workload: Workload) -> bool:
    labels = (spec.get("selector") or {}).get("matchLabels") or {}
    return bool(labels.items() <= workload.selector.items())
