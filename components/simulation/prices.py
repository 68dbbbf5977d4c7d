"""What a replica costs an hour: the share of its nodes that its pods take."""

from collections.abc import Iterable
from decimal import Decimal

from ..fleet.demand import PodDemand
from ..nodes.instances import Instance, instance

_GIB = Decimal(2**30)


def replica_price(pods: Iterable[PodDemand]) -> Decimal | None:
    """Return US dollars an hour, on demand, for all pods of one replica; None where the price of one is unknown.

    A pod is on a node of its first choice. It takes the share of accelerators that it requests; without accelerators,
    the larger of its shares of CPU and memory.
    """
    total, known = Decimal(0), False
    for demand in pods:
        price = _pod_price(demand)
        if price is None:
            return None
        total, known = total + price * demand.per_replica, True
    return total if known else None


def _pod_price(demand: PodDemand) -> Decimal | None:
    name = demand.choices[0].instance_type if demand.choices else None
    node = instance(name) if name else None
    if node is None or node.usd_per_hour is None:
        return None
    return node.usd_per_hour * _share(demand, node)


def _share(demand: PodDemand, node: Instance) -> Decimal:
    requested = demand.requests.get(node.accelerator_resource or "", Decimal(0))
    if requested:
        return min(requested / node.accelerators, Decimal(1))
    cpu = demand.requests.get("cpu", Decimal(0)) / node.vcpu
    memory = demand.requests.get("memory", Decimal(0)) / (node.memory_gib * _GIB)
    return min(max(cpu, memory), Decimal(1))
