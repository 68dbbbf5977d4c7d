"""What a replica costs an hour: the share of its nodes that its pods take."""

from collections.abc import Iterable
from decimal import Decimal

from ...fleet.demand import PodDemand
from ...fleet.instances import Instance, instance

_GIB = 2**30


def replica_price(pods: Iterable[PodDemand]) -> Decimal | None:
    """Return US dollars an hour, on demand in the clouds' tables, for a replica; None where a price is unknown.

    A pod is on a node of its first choice, and costs its share of that.

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
    """Return which part of a node a pod takes.

    That is its share of the accelerators; where a node has none, the larger of its shares of CPU and memory. A pod
    that requests nothing of that takes all of it.
    """
    if node.accelerator_resource:
        shares = [demand.requests.get(node.accelerator_resource, Decimal(0)) / node.accelerators]
    else:
        offered = {"cpu": Decimal(node.vcpu), "memory": node.memory_gib * _GIB}
        shares = [demand.requests.get(key, Decimal(0)) / amount for key, amount in offered.items()]
    return min(max(shares), Decimal(1)) or Decimal(1)
