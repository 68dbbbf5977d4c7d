"""Price of a replica: the share of its nodes that its pods use."""

from collections.abc import Iterable
from decimal import Decimal

from ...contract.quantity import GIB
from ...fleet.demand import PodDemand
from ...fleet.instances import Instance, instance


def replica_price(pods: Iterable[PodDemand]) -> Decimal | None:
    """Return the on-demand price of a replica in US dollars per hour; None if a price is unknown.

    Each pod costs its share of a node of its first choice.

    Args:
        pods: Node demand of the replica's pods; ``per_replica`` of each.
    """
    total = Decimal(0)
    for demand in pods:
        node = instance(demand.choices[0].instance_type or "") if demand.choices else None
        if node is None or node.usd_per_hour is None:
            return None
        total += node.usd_per_hour * node_share(demand, node) * demand.per_replica
    return total


def node_share(demand: PodDemand, node: Instance) -> Decimal:
    """Return the share of a node that a pod uses.

    This is its share of the accelerators or, of a pod without any, the larger of its shares of CPU and memory. A pod
    without such requests uses the whole node.
    """
    if node.accelerator_resource and demand.requests.get(node.accelerator_resource):
        shares = [demand.requests[node.accelerator_resource] / node.accelerators]
    else:
        offered = {"cpu": Decimal(node.vcpu), "memory": node.memory_gib * GIB}
        shares = [demand.requests.get(key, Decimal(0)) / amount for key, amount in offered.items()]
    return min(max(shares), Decimal(1)) or Decimal(1)
