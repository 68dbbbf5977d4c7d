"""What an environment pays for beside the nodes of its models."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.prices import Buying, Flat
from .bill import Amounts, CostItem, CostKind, UnitPrice
from .prices import Prices

_Row = tuple[str, CostKind, int, str, str]
"""A line of a bill: its name, kind, count, item of the price list, and unit."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes of one kind that are not for models.

    Attributes:
        counts: How many there are, at rest, at least and at most.
        disk_gib: Size of the disk of each.
    """

    title: str
    types: tuple[str, ...]
    counts: Amounts
    disk_gib: int


@dataclass(frozen=True, slots=True)
class FlatUse:
    """How much is used of something with a flat price.

    Attributes:
        name: The line of the bill.
        item: What is used, as the price list of the cloud names it.
        unit: What is counted.
    """

    name: str
    kind: CostKind
    item: str
    count: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """What an environment has beside the nodes of its models, as plain facts; nothing of what others pay for.

    Attributes:
        zones: Zones of the network: a load balancer on the internet has an address in each.
        control_planes: Whether the control plane is paid for here, as a number.
        extended_support: Whether it is in extended support, which is paid for.
        extended_from: Day from which it will be, where that is near.
        nat_gateways: Each with an address of its own.
        endpoints: Interface endpoints, times the zones that they are in.
        keys: Encryption keys.
        further: What only this cloud sells and is paid for here.
        general_vcpus: vCPUs that a pool may grow to whose instance types nobody knows before.
        notes: What is here and not counted.
    """

    zones: int = 0
    control_planes: int = 0
    extended_support: bool = False
    extended_from: datetime.date | None = None
    nodes: tuple[Nodes, ...] = ()
    nat_gateways: int = 0
    endpoints: int = 0
    keys: int = 0
    further: tuple[FlatUse, ...] = ()
    general_vcpus: int = 0
    notes: tuple[str, ...] = ()

    def remarks(self, prices: Prices) -> Iterator[str]:
        """Yield what a reader must know of it beside what it costs today."""
        yield from self.notes
        if self.extended_from:
            price = prices.flat(Flat.EXTENDED_SUPPORT)
            costs = "costs more" if isinstance(price, str) else f"costs {price.usd:.2f} USD an hour in all"
            yield f"From {self.extended_from} the control plane is in extended support and {costs}."

    def items(self, prices: Prices) -> Iterator[CostItem]:
        """Yield what it costs, but for disks."""
        plane = Flat.EXTENDED_SUPPORT if self.extended_support else Flat.CONTROL_PLANE
        title = "control plane in extended support" if self.extended_support else "control plane"
        rows: list[_Row] = [(title, CostKind.CONTROL_PLANE, self.control_planes, plane, "")]
        for nodes in self.nodes:
            yield node_item(nodes.title, nodes.counts, prices.node(nodes.types, Buying.ON_DEMAND))
        rows += [
            ("NAT gateways", CostKind.NETWORK, self.nat_gateways, Flat.NAT_GATEWAY, ""),
            ("interface endpoints", CostKind.NETWORK, self.endpoints, Flat.INTERFACE_ENDPOINT, "endpoints x zones"),
            ("encryption keys", CostKind.OTHER, self.keys, Flat.KEY, ""),
            *((use.name, use.kind, use.count, use.item, use.unit) for use in self.further),
        ]
        for name, kind, count, flat, unit in rows:
            if count:
                yield item(name, kind, fixed(count), prices.flat(flat), unit)
        if self.general_vcpus:
            reason = "which instance types Karpenter chooses for it, and when, nobody knows before"
            most = Amounts(Decimal(0), Decimal(0), Decimal(self.general_vcpus))
            yield CostItem("general pool", CostKind.NODES, most, None, reason, "vCPUs")


def item(name: str, kind: CostKind, counts: Amounts, price: UnitPrice | str, unit: str = "") -> CostItem:
    """Return a line of a bill, with its price or with why there is none."""
    if isinstance(price, str):
        return CostItem(name, kind, counts, None, price, unit)
    return CostItem(name, kind, counts, price, unit=unit)


def node_item(name: str, counts: Amounts, price: UnitPrice | str) -> CostItem:
    """Return a line for nodes."""
    return item(name, CostKind.NODES, counts, price, "nodes")


def fixed(count: int) -> Amounts:
    """Return a number that never changes."""
    return Amounts(Decimal(count), Decimal(count), Decimal(count))
