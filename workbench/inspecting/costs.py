"""What a model costs: the share of the nodes that its replicas use, at the dated prices of their region."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import NamedTuple

from components.fleet.cloud_providers import default_provider
from components.fleet.instances import instance
from components.fleet.prices import Buying
from components.fleet.rendered import Rendered
from components.performance.simulation.prices import node_share
from components.plan.costs.bill import HOURS_PER_MONTH, UnitPrice, cents
from components.plan.costs.prices import Prices

from .parts import Part


class ModelPrice(NamedTuple):
    """The costs of a model.

    Attributes:
        usd_per_hour: US dollars per hour with its desired replicas; None if unknown.
        region: Region of the price.
        bought: Purchase option of the nodes.
        source: Source of the price, with its date.
        unpriced: Why there is no price; empty if there is one.
    """

    usd_per_hour: Decimal | None = None
    region: str = ""
    bought: str = ""
    source: str = ""
    unpriced: str = ""

    @property
    def usd_per_month(self) -> Decimal | None:
        """US dollars per month, in whole cents."""
        return None if self.usd_per_hour is None else cents(self.usd_per_hour * HOURS_PER_MONTH)


def price_of(items: Sequence[Rendered], parts: Sequence[Part], regions: Collection[str]) -> ModelPrice:
    """Return the costs of a model.

    Args:
        items: What its resource is rendered to.
        parts: Its workloads as they run.
        regions: The regions of its nodes; without any, the prices are those of the usual region.
    """
    regions = sorted(regions)
    region = regions[0] if regions else default_provider().prices.region
    if len(regions) > 1:
        return ModelPrice(unpriced=f"its pods run in several regions, {' and '.join(regions)}")
    prices = Prices(region)
    workloads = [workload for item in items for workload in item.workloads]
    if not workloads:
        return ModelPrice(unpriced="its pods are unknown")
    desired = {part.title: part.desired for part in parts}
    total = Decimal(0)
    sources: dict[str, None] = {}
    bought: dict[str, None] = {}
    for workload in workloads:
        title = f"{workload.kind}/{workload.name}"
        # An operator may name its workloads differently: with one on both sides they are the same.
        alone = len(parts) == len(workloads) == 1
        replicas = parts[0].desired if alone else desired.get(title, workload.replicas)
        if not workload.pods:
            return ModelPrice(unpriced="the instance type of its nodes is unknown")
        for demand in workload.pods:
            names = {choice.instance_type for choice in demand.choices if choice.instance_type}
            node = instance(demand.choices[0].instance_type or "") if demand.choices else None
            if node is None:
                known = f": {', '.join(sorted(names))} is not in the price list" if names else ""
                return ModelPrice(unpriced=f"the instance type of its nodes is unknown{known}")
            if len(names) > 1:
                return ModelPrice(unpriced=f"its pods run on several instance types, {', '.join(sorted(names))}")
            buying = demand.choices[0].capacity or Buying.ON_DEMAND
            price = prices.node([node.name], buying)
            if not isinstance(price, UnitPrice):
                return ModelPrice(unpriced=price)
            total += price.usd * node_share(demand, node) * demand.per_replica * replicas
            sources[price.source] = bought[str(buying)] = None
    return ModelPrice(total, region, ", ".join(bought), "; ".join(sources))
