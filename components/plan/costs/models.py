"""Costs of models: the share of nodes that their pods use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.demand import PodDemand
from ...fleet.instances import instance
from ...fleet.objects import Key
from ...fleet.rendered import Rendered
from ...performance.simulation.prices import node_share
from .bill import NOTHING, Amounts, ModelCost, UnitPrice
from .replicas import accelerators_of, pods_of, replicas_of

PriceOf = Callable[[PodDemand], UnitPrice | str]
"""Returns the price of a node of a pod's first choice, or why it is unknown."""


@dataclass(slots=True)
class _Sum:
    """Costs of pods at actual prices, and at their lower and upper bounds."""

    bought: Amounts = NOTHING
    low: Amounts = NOTHING
    high: Amounts = NOTHING

    def add(self, nodes: Amounts, price: UnitPrice) -> None:
        self.bought += Amounts(nodes.now * price.usd, nodes.least * price.usd, nodes.most * price.high)
        self.low += nodes.times(price.low)
        self.high += nodes.times(price.high)


MostNodes = Callable[[PodDemand], int | None]
"""Returns the maximum nodes of a kind of pods; None without a bound."""


def model_cost(
    resource: Rendered, price_of: PriceOf, least: Mapping[Key, int], most_nodes: MostNodes = lambda _: None
) -> ModelCost:
    """Return the cost of a resource that serves a model.

    Args:
        resource: The resource.
        price_of: Returns the price of a node.
        least: Minimum replicas of autoscalers, by workload.
        most_nodes: Returns the maximum nodes of a kind of pods: further pods stay Pending, and cost nothing.
    """
    accelerators = accelerators_of(resource.workloads, least)
    total = _Sum()
    for workload in resource.workloads:
        replicas = replicas_of(workload, least)
        for demand in workload.pods:
            node = instance(demand.choices[0].instance_type or "") if demand.choices else None
            price = price_of(demand) if node else "its pods do not specify a known instance type"
            if node is None or isinstance(price, str):
                reason = price if isinstance(price, str) else ""
                return ModelCost(resource.title, resource.namespace, accelerators, None, unpriced=reason)
            nodes, bound = pods_of(demand, replicas).amounts.times(node_share(demand, node)), most_nodes(demand)
            if bound is not None:
                nodes = Amounts(nodes.now, nodes.least, max(nodes.now, min(nodes.most, Decimal(bound))))
            total.add(nodes, price)
    return ModelCost(
        title=resource.title,
        namespace=resource.namespace,
        accelerators=accelerators,
        usd_per_hour=total.bought,
        low=total.low,
        high=total.high,
    )
