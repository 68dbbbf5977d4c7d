"""Costs of the nodes of models, and of the disks of all nodes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from ...fleet.cloud import NodeDisk, NodePlan
from ...fleet.cloud_providers import default_provider
from ...fleet.demand import PodDemand
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.nodes.policy import Capacity, NodePolicy, most_at_once
from ...fleet.prices import Buying, Flat
from ..environment import Environment
from .bill import NOTHING, Amounts, CostItem, CostKind, UnitPrice
from .infrastructure import Infrastructure, item, node_item
from .prices import OwnPrices, Prices
from .replicas import Counts


@dataclass(frozen=True, slots=True)
class NodePool:
    """Nodes of one kind for models.

    Attributes:
        types: Instance types; the first is requested, the others are alternatives.
        capacity: Capacity type, a ``Capacity``.
        disk: Disk of a node; None if unknown.
    """

    name: str
    types: tuple[str, ...]
    capacity: str
    counts: Amounts
    disk: NodeDisk | None = None

    def item(self, prices: Prices) -> CostItem:
        return node_item(node_item_name(self.name), self.counts, price_of(self.types, self.capacity, prices))


def node_item_name(group: str) -> str:
    """Return the name of the cost item of a node group."""
    return f"node group {group}"


def price_of(types: Iterable[str], capacity: str, prices: Prices) -> UnitPrice | str:
    """Return the price of a node for its capacity type, or the reason why it is unknown.

    AWS adjusts the published prices of new Capacity Blocks to supply and demand (aws.amazon.com, "Amazon EC2
    Capacity Blocks for ML Pricing"), so no list is shipped: it would be out of date.
    """
    if capacity == Capacity.ODCR:
        return prices.reserved(types)
    price = prices.node(types, capacity)
    if isinstance(price, str) and capacity == Capacity.CAPACITY_BLOCK:
        return (
            f"{price}: a block is billed at the price of the day of purchase, which AWS changes regularly; set the "
            "price that you paid in a price file, as capacityBlock"
        )
    return price


def hourly_price(environment: Environment, demand: PodDemand) -> Decimal | None:
    """Return the price of the node that a pod prefers, on demand where nothing is paid for; None if it is unknown."""
    choice = demand.choices[0] if demand.choices else None
    if choice is None or choice.instance_type is None:
        return None
    cloud = environment.cloud
    provider = cloud.provider if cloud else default_provider()
    prices = Prices(provider.prices.region, environment.prices or OwnPrices(), provider.prices)
    capacity: str = Buying.ON_DEMAND
    if cloud and cloud.region:
        policy = cloud.node_policy or NodePolicy(labels=environment.options.overrides.node_selector)
        prices, capacity = replace(prices, region=cloud.region), policy.capacity_of(choice)
    price = price_of((choice.instance_type,), capacity, prices)
    return None if isinstance(price, str) else price.usd


def pool_of(group: NodePlan, needed: Counts) -> NodePool:
    """Return a managed node group with as many nodes as the models need, within its bounds.

    The maximum is that of the autoscaler or the Karpenter pool. It may exceed what the models need at their maximum,
    because pods of an update or a fallback temporarily need nodes too.
    """
    if group.held:
        # Reserved nodes are billed even if unused; of Capacity Blocks, those that are active at once.
        reserved = [reservation.count for reservation in group.held]
        counts = Counts(reserved[0], min(reserved), most_at_once(group.held))
    else:
        now, least = (max(group.minimum, min(number, group.maximum)) for number in (needed.now, needed.least))
        # A group may be one node at most, even if all its models have no replicas.
        counts = Counts(now, least, group.maximum if group.demand.max_nodes else now)
    return NodePool(group.name, group.instance_types, group.demand.capacity, counts.amounts, group.disk)


def pool_made_elsewhere(group: NodeGroupDemand, needed: Counts) -> NodePool:
    """Return nodes that the models need, but that are managed elsewhere."""
    return NodePool(group.name, (group.instance_type, *group.alternatives), group.capacity, needed.amounts)


def disk_items(pools: Iterable[NodePool], paid: Infrastructure, prices: Prices) -> Iterator[CostItem]:
    """Yield the cost items of disks: size, and throughput and IOPS above the free baseline."""
    free = prices.cloud.disk
    totals: Mapping[Flat, list[Amounts]] = {Flat.DISK_GIB: [], Flat.DISK_THROUGHPUT: [], Flat.DISK_IOPS: []}
    for pool in pools:
        disk = pool.disk
        if disk:
            totals[Flat.DISK_GIB].append(pool.counts.times(Decimal(disk.gib)))
            above = max((disk.throughput or 0) - free.throughput, 0)
            totals[Flat.DISK_THROUGHPUT].append(pool.counts.times(Decimal(above)))
            totals[Flat.DISK_IOPS].append(pool.counts.times(Decimal(max((disk.iops or 0) - free.iops, 0))))
    totals[Flat.DISK_GIB].extend(nodes.counts.times(Decimal(nodes.disk_gib)) for nodes in paid.nodes)
    named = {
        Flat.DISK_GIB: ("disks of nodes", "GiB"),
        Flat.DISK_THROUGHPUT: (f"throughput of disks above {free.throughput} MiB/s", "MiB/s"),
        Flat.DISK_IOPS: (f"IOPS of disks above {free.iops}", "IOPS"),
    }
    for flat, (name, unit) in named.items():
        counts = sum(totals[flat], NOTHING)
        if counts.most:
            yield item(name, CostKind.STORAGE, counts, prices.flat(flat), unit)
