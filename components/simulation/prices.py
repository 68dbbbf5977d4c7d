"""What a replica costs an hour: the share of its nodes that its pods take."""

from collections.abc import Iterable
from decimal import Decimal

from ..fleet.demand import PodDemand
from ..nodes.instances import Instance, instance


def replica_price(pods: Iterable[PodDemand]) -> Decimal | None:
    """Return US dollars an hour, on demand in us-east-1, for all pods of one replica; None where one is unknown.

    A pod is on a node of its first choice, and costs its share of the accelerators there. One that requests none
    counts for the whole node.

    Args:
        pods: What the pods of one replica need; ``per_replica`` of each.
    """
    total = Decimal(0)
    for demand in pods:
        node = instance(demand.choices[0].instance_type or "") if demand.choices else None
        if node is None or node.usd_per_hour is None:
            return None
        total += node.usd_per_hour * node_share(demand, node) * demand.per_replica
    return total


def node_share(demand: PodDemand, node: Instance) -> Decimal:
    """Return which part of a node a pod takes: that of its accelerators, and all of it if it requests none."""
    taken = demand.requests.get(node.accelerator_resource or "", Decimal(0))
    return min(taken / node.accelerators, Decimal(1)) if taken else Decimal(1)
