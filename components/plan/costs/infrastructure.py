"""Costs of an environment other than the nodes of its models."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.prices import Buying, Flat
from .bill import Amounts, CostItem, CostKind, UnitPrice
from .prices import Prices

_Row = tuple[str, CostKind, int, str, str]
"""A cost item: its name, kind, count, item of the price list, and unit."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes of one kind that do not run models.

    Attributes:
        counts: Number of nodes at rest, at the minimum and at the maximum.
        disk_gib: Disk size of a node.
    """

    title: str
    types: tuple[str, ...]
    counts: Amounts
    disk_gib: int


@dataclass(frozen=True, slots=True)
class FlatUse:
    """A quantity with a flat price.

    Attributes:
        name: Name of the cost item.
        item: Name in the price list of the cloud.
        unit: Unit of ``count``.
    """

    name: str
    kind: CostKind
    item: str
    count: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """Infrastructure that an environment pays for, other than the nodes of its models.

    Attributes:
        zones: Zones of the network: a public load balancer has an address in each.
        control_planes: Number of control planes, 0 or 1.
        extended_support: Whether the control plane is in extended support, at a higher price.
        extended_from: Day on which extended support begins, if it begins soon.
        nat_gateways: Number of NAT gateways, each with a public address.
        endpoints: Interface endpoints times their zones.
        keys: Encryption keys.
        further: Items that only this cloud sells.
        general_vcpus: Maximum vCPUs of a pool whose instance types are unknown in advance.
        notes: Notes on what is not included.
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
        """Yield notes for readers, such as on price changes."""
        yield from self.notes
        if self.extended_from:
            price = prices.flat(Flat.EXTENDED_SUPPORT)
            costs = "costs more" if isinstance(price, str) else f"costs {price.usd:.2f} USD an hour in all"
            yield f"From {self.extended_from} the control plane is in extended support and {costs}."

    def items(self, prices: Prices) -> Iterator[CostItem]:
        """Yield the cost items, except for disks."""
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
            reason = "Karpenter chooses its instance types when pods need them"
            most = Amounts(Decimal(0), Decimal(0), Decimal(self.general_vcpus))
            yield CostItem(name="general pool", kind=CostKind.NODES, counts=most, unpriced=reason, unit="vCPUs")


def item(name: str, kind: CostKind, counts: Amounts, price: UnitPrice | str, unit: str = "") -> CostItem:
    """Return a cost item, given its price or the reason why it has no price."""
    if isinstance(price, str):
        return CostItem(name=name, kind=kind, counts=counts, unpriced=price, unit=unit)
    return CostItem(name, kind, counts, price, unit=unit)


def node_item(name: str, counts: Amounts, price: UnitPrice | str) -> CostItem:
    return item(name, CostKind.NODES, counts, price, "nodes")


def fixed(count: int) -> Amounts:
    return Amounts(Decimal(count), Decimal(count), Decimal(count))
