"""What a replica costs, in whole US cents an hour: what Kthena's optimizer orders its targets by.

A pod costs its share of the accelerators of a node; one that requests none counts for the whole node. The node is the
first choice of the pod, at its on-demand price in us-east-1.
"""

from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal

from ....fleet.demand import PodDemand
from ....nodes.instances import Instance, instance
from ..serving.asked import AskedServing
from ..serving.roles import roles_of

_CENTS = 100


def replica_cost(pods: Iterable[PodDemand]) -> int | None:
    """Return the price of a replica-hour in US cents, rounded up; None where the price of a node is not known.

    Args:
        pods: What the pods of one replica need; ``per_replica`` of each.
    """
    total = Decimal(0)
    for demand in pods:
        node = instance(demand.choices[0].instance_type or "") if demand.choices else None
        if node is None or node.usd_per_hour is None:
            return None
        total += node.usd_per_hour * _share(demand, node) * demand.per_replica
    return int((total * _CENTS).to_integral_value(ROUND_CEILING))


def _share(demand: PodDemand, node: Instance) -> Decimal:
    """Return which part of a node a pod takes."""
    taken = demand.requests.get(node.accelerator_resource or "", Decimal(0))
    return min(taken / node.accelerators, Decimal(1)) if taken else Decimal(1)


def group_pods(asked: AskedServing) -> list[PodDemand]:
    """Return what the pods of one serving group need from nodes.

    Raises:
        Unrenderable: a template has no containers; it is in the findings of the ModelServing.
    """
    parts = [
        (part, role.role.replicas * pods)
        for role in roles_of(asked)
        for part, pods in ((role.entry, 1), (role.worker, role.role.worker_replicas))
        if part
    ]
    return [part.demand(pods, per_replica=pods) for part, pods in parts]
