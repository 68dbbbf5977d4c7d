"""Accelerators by the names that variants use: instance types, prices and node labels."""

import functools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from ...contract.tables import load_table
from ...fleet.clouds import cleared_with_clouds
from ...fleet.instances import Instance, instances
from ...fleet.levels import Accelerator, ServiceLevels

_SEVERAL = re.compile(r"([1-9][0-9]?)x(.+)", re.IGNORECASE)
"""Several on one node under one name, such as ``4xA100`` (WVA spec 12)."""
_IGNORED = str.maketrans("", "", "-_ ")
_CENTS = 100
_SAME_SIZE = Decimal("1.25")
"""Memory of one size differs by less between clouds: an L4 has 22.35 GiB or, as it is sold, 24 GB."""


@dataclass(frozen=True, slots=True)
class KnownAccelerator:
    """What is known of a name.

    Attributes:
        name: As the table spells it.
        count: How many of them the name means: 4 for ``4xA100``.
        accelerator: What the tables of instance types call it.
        least_gib: Memory that one has at least.
        most_gib: Memory that one has at most.
        device: Product in the labels of nodes, where no instance type has it.
    """

    name: str
    count: int
    accelerator: str
    least_gib: int
    most_gib: int
    device: str

    def is_on(self, node: Instance) -> bool:
        """Tell whether an instance type has it, and not a part of one."""
        if node.accelerator != self.accelerator:
            return False
        return self.least_gib <= int(node.accelerator_memory_gib or 0) <= self.most_gib

    @property
    def types(self) -> tuple[Instance, ...]:
        """The instance types that have it."""
        return tuple(node for node in instances().values() if self.is_on(node))

    def product(self, node: Instance | None) -> str:
        """Return the product in the labels of its nodes; empty where that is not known.

        Args:
            node: An instance type that has it, where one is known.
        """
        return (node.product if self.is_on(node) else "") if node else self.device

    def cheapest(self, count: int = 1) -> Instance | None:
        """Return the instance type with the cheapest one, of those with so many; None where no price is known."""
        fitting = (node for node in self.types if node.accelerators >= count)
        priced = [
            (price, node.accelerators, node.name) for node in fitting if (price := hourly_cents(node)) is not None
        ]
        return instances()[min(priced)[-1]] if priced else None


def known_accelerator(name: str) -> KnownAccelerator | None:
    """Return what is known of a name; None for one that is not in the table."""
    several = _SEVERAL.fullmatch(name)
    count, one = (int(several[1]), several[2]) if several else (1, name)
    found = _by_name().get(_plain(one))
    return replace(found, count=count) if found and count > 1 else found


def hourly_cents(node: Instance) -> Decimal | None:
    """Return what one accelerator of an instance type costs, in US cents an hour; None where it is not known."""
    if not node.accelerators or node.usd_per_hour is None:
        return None
    return node.usd_per_hour * _CENTS / node.accelerators


def _plain(name: str) -> str:
    return name.translate(_IGNORED).lower()


@cleared_with_clouds
@functools.cache
def _by_name() -> Mapping[str, KnownAccelerator]:
    """Return what is known by every name, the products of nodes among them.

    A product is no name of a row whose accelerators are of several sizes, such as V100 with 16 and 32 GiB: the
    product is one of them alone. Clouds report the memory of one size a little differently.
    """
    rows: list[dict[str, Any]] = load_table(__package__, "accelerators.yaml")
    known = {row["name"]: _known(row) for row in rows}
    found = {_plain(name): known[row["name"]] for row in rows for name in (row["name"], *row.get("also", ()))}
    for each in known.values():
        sizes = [node.accelerator_memory_gib or 0 for node in each.types] or [0]
        if max(sizes) <= min(sizes) * _SAME_SIZE:
            for product in sorted({each.device, *(node.product for node in each.types)} - {""}):
                found.setdefault(_plain(product), each)
    return MappingProxyType(found)


def _known(row: Mapping[str, Any]) -> KnownAccelerator:
    return KnownAccelerator(
        name=row["name"],
        count=1,
        accelerator=row.get("accelerator", row["name"]),
        least_gib=row.get("least_gib", 0),
        most_gib=row.get("most_gib", sys.maxsize),
        device=row.get("device", ""),
    )


@dataclass(frozen=True, slots=True)
class AcceleratorPrice:
    """What one accelerator costs.

    Attributes:
        cents_per_hour: US cents an hour.
        source: Where the price is from.
    """

    cents_per_hour: Decimal
    source: str


def accelerator_price(
    name: str, levels: ServiceLevels, nodes: Sequence[Instance] = (), count: int = 1
) -> AcceleratorPrice | None:
    """Return what one accelerator costs, on demand in the tables if no setting says it; None if unknown.

    Args:
        name: Name of the accelerator.
        levels: What settings say.
        nodes: The instance types that it is on, in order of preference: those with more beside their accelerators
            cost more.
        count: How many of them one replica has: the cheapest instance must have so many too.
    """
    own = levels.accelerators.get(name, Accelerator()).cents_per_hour
    if own is not None:
        return AcceleratorPrice(own, f"serviceLevels.accelerators[{name}]")
    known = known_accelerator(name)
    several = known.count if known else 1
    price = _share(node_with(known, nodes), several)
    if price is None and known:
        price = _share(known.cheapest(several * count), several, ", the cheapest with it")
    return price


def node_with(known: KnownAccelerator | None, nodes: Iterable[Instance]) -> Instance | None:
    """Return the first instance type that has an accelerator; any of them where its name is not known."""
    return next((node for node in nodes if known is None or known.is_on(node)), None)


def _share(node: Instance | None, several: int, why: str = "") -> AcceleratorPrice | None:
    cents = hourly_cents(node) if node else None
    if node is None or cents is None:
        return None
    return AcceleratorPrice(cents * several, f"{node.name} at ${node.usd_per_hour}/h{why}")
