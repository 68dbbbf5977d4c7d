"""What the nodes of models cost, and the disks of all nodes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.cloud import NodeDisk, NodePlan
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.nodes.policy import Capacity, Reservation, most_at_once
from ...fleet.prices import Flat
from .bill import NOTHING, Amounts, CostItem, CostKind, UnitPrice
from .infrastructure import Infrastructure, item, node_item
from .prices import Prices
from .replicas import Counts


@dataclass(frozen=True, slots=True)
class NodePool:
    """Nodes of one kind for models.

    Attributes:
        types: First the one that models ask for, then what may be taken instead.
        capacity: How they are bought, a ``Capacity``.
        disk: The disk of each; None where that is not known.
    """

    name: str
    types: tuple[str, ...]
    capacity: str
    counts: Amounts
    disk: NodeDisk | None = None

    def item(self, prices: Prices) -> CostItem:
        """Return what they cost."""
        return node_item(f"node group {self.name}", self.counts, price_of(self.types, self.capacity, prices))


def price_of(types: Iterable[str], capacity: str, prices: Prices) -> UnitPrice | str:
    """Return the price of a node for its kind of capacity, or the reason why it is not known.

    AWS publishes what new Capacity Blocks cost, and changes it with supply and demand (aws.amazon.com, "Amazon EC2
    Capacity Blocks for ML Pricing"). No source has that list at a day that still counts, so that none is shipped.
    """
    if capacity == Capacity.ODCR:
        return prices.reserved(types)
    found = prices.node(types, capacity)
    if isinstance(found, str) and capacity == Capacity.CAPACITY_BLOCK:
        return (
            f"{found}: a block is paid for when it is bought, at the price of that day, which AWS changes regularly; "
            "name what you paid in a price file, as capacityBlock"
        )
    return found


def pool_of(group: NodePlan, needed: Counts) -> NodePool:
    """Return a node group that is made: with as many nodes as models need, and at most as many as there may be.

    The most is the bound that the autoscaler, or the pool of Karpenter, keeps. It may be more than the models need at
    their largest: for a while, pods of an update or of a fallback take nodes too.
    """
    counts = _held(group.held) if group.held else _within(needed, group.minimum, group.maximum)
    return NodePool(group.name, group.instance_types, group.demand.capacity, counts.amounts, group.disk)


def pool_made_elsewhere(group: NodeGroupDemand, needed: Counts) -> NodePool:
    """Return nodes that models need and others make."""
    return NodePool(group.name, (group.instance_type, *group.alternatives), group.capacity, needed.amounts)


def _held(reservations: Sequence[Reservation]) -> Counts:
    """Return what is paid for whether or not it is used, of Capacity Blocks as many as run at one moment."""
    counts = [each.count for each in reservations]
    return Counts(counts[0], min(counts), most_at_once(reservations))


def _within(needed: Counts, minimum: int, maximum: int) -> Counts:
    now, least = (max(minimum, min(number, maximum)) for number in (needed.now, needed.least))
    return Counts(now, least, maximum)


def disk_items(pools: Iterable[NodePool], paid: Infrastructure, prices: Prices) -> Iterator[CostItem]:
    """Yield what the disks of nodes cost: their size, and what they can do above what is free of charge."""
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
