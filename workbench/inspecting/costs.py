"""What a model costs: the share of the nodes that its replicas use, at the dated prices of their region."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from components.fleet.cloud_providers import default_provider
from components.fleet.instances import instance
from components.fleet.prices import Buying
from components.fleet.rendered import Rendered
from components.performance.simulation.prices import node_share
from components.plan.costs.bill import HOURS_PER_MONTH, UnitPrice, cents
from components.plan.costs.prices import Prices

from .environment import ClusterNode
from .node_bill import NodeBill
from .parts import Part
from .recognition import Serving


class ModelPrice(NamedTuple):
    """The costs of a model.

    Attributes:
        usd_per_hour: US dollars per hour with its desired replicas; None if unknown.
        region: Region of the price.
        bought: Purchase option of the nodes.
        source: Source of the price, with its date.
        unpriced: Why there is no price; empty if there is one.
        month: US dollars per month, if the cents of all models add up to those of the nodes.
    """

    usd_per_hour: Decimal | None = None
    region: str = ""
    bought: str = ""
    source: str = ""
    unpriced: str = ""
    month: Decimal | None = None

    @property
    def usd_per_month(self) -> Decimal | None:
        """US dollars per month, in whole cents."""
        if self.month is not None:
            return self.month
        return None if self.usd_per_hour is None else cents(self.usd_per_hour * HOURS_PER_MONTH)


def running_price(serving: Serving, bill: NodeBill, nodes: Mapping[str, ClusterNode]) -> ModelPrice | None:
    """Return what the running pods of a model use of their nodes; None if none runs on a node with a known price.

    Args:
        serving: The model.
        bill: The nodes.
        nodes: The nodes by name.
    """
    names = [str((pod.get("spec") or {}).get("nodeName") or "") for pod in serving.pods]
    running = [name for name in dict.fromkeys(names) if name in nodes]
    if not running or serving.identity not in bill.models:
        return None
    unpriced = next((bill.unpriced[name] for name in running if name in bill.unpriced), "")
    if unpriced:
        return ModelPrice(unpriced=unpriced)
    usd = bill.models[serving.identity]
    if not usd:
        return ModelPrice(unpriced="its pods request nothing of what is scarcest on their nodes")
    prices = [bill.nodes[name] for name in running if name in bill.nodes]
    regions = dict.fromkeys(nodes[name].region for name in running)
    bought = dict.fromkeys(price.bought for price in prices)
    sources = dict.fromkeys(price.source for price in prices)
    return ModelPrice(
        usd,
        " and ".join(regions),
        ", ".join(filter(None, bought)),
        "; ".join(filter(None, sources)),
        month=bill.months[serving.identity],
    )


def price_of(items: Sequence[Rendered], parts: Sequence[Part], regions: Collection[str]) -> ModelPrice:
    """Return the costs of a model none of whose pods runs yet.

    Args:
        items: What its resource is rendered to.
        parts: Its workloads as they run.
        regions: The regions of the nodes; without any, the prices are those of the usual region.
    """
    regions = sorted(regions)
    region = regions[0] if regions else default_provider().prices.region
    if len(regions) > 1:
        return ModelPrice(
            unpriced=f"its pods do not run, and the nodes are in several regions, {' and '.join(regions)}"
        )
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
            if not demand.requests:
                return ModelPrice(unpriced="its pods request nothing, so that their share of a node is unknown")
            price = prices.node([node.name], buying)
            if not isinstance(price, UnitPrice):
                return ModelPrice(unpriced=price)
            total += price.usd * node_share(demand, node) * demand.per_replica * replicas
            sources[price.source] = bought[str(buying)] = None
    return ModelPrice(total, region, ", ".join(bought), "; ".join(sources))
