"""What models cost: the share of nodes that their pods take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...fleet.demand import PodDemand
from ...fleet.instances import instance
from ...fleet.objects import Key
from ...fleet.rendered import Rendered
from ...performance.simulation.prices import node_share
from .bill import NOTHING, Amounts, ModelCost, UnitPrice
from .replicas import accelerators_of, pods_of, replicas_of

PriceOf = Callable[[PodDemand], UnitPrice | str]
"""What a node of a pod's first choice costs, or why nobody knows."""


@dataclass(slots=True)
class _Sum:
    """What pods cost: as they are bought, with the lowest prices and with the highest."""

    bought: Amounts = NOTHING
    low: Amounts = NOTHING
    high: Amounts = NOTHING

    def add(self, nodes: Amounts, price: UnitPrice) -> None:
        """Add so many nodes."""
        self.bought += Amounts(nodes.now * price.usd, nodes.least * price.usd, nodes.most * price.high)
        self.low += nodes.times(price.low)
        self.high += nodes.times(price.high)


def model_cost(resource: Rendered, price_of: PriceOf, least: Mapping[Key, int]) -> ModelCost:
    """Return what a resource that serves costs.

    Args:
        resource: The resource.
        price_of: What nodes cost.
        least: The lower bounds of autoscalers, by workload.
    """
    accelerators = accelerators_of(resource.workloads, least)
    total = _Sum()
    for workload in resource.workloads:
        replicas = replicas_of(workload, least)
        for demand in workload.pods:
            node = instance(demand.choices[0].instance_type or "") if demand.choices else None
            price = price_of(demand) if node else "its pods name no instance type that is known"
            if node is None or isinstance(price, str):
                reason = price if isinstance(price, str) else ""
                return ModelCost(resource.title, resource.namespace, accelerators, None, unpriced=reason)
            total.add(pods_of(demand, replicas).amounts.times(node_share(demand, node)), price)
    return ModelCost(resource.title, resource.namespace, accelerators, total.bought, total.low, total.high)
