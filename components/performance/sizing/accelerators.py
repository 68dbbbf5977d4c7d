"""Accelerators by the names that variants use: instance types, prices and node labels."""

import functools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from ...contract.tables import load_table
from ...fleet.clouds import cleared_with_clouds
from ...fleet.instances import Instance, accelerated_instances, instance
from ...fleet.levels import Accelerator, ServiceLevels

_SEVERAL = re.compile(r"([1-9][0-9]?)x(.+)", re.IGNORECASE)
"""Names of several accelerators on one node, such as ``4xA100`` (WVA spec 12)."""
_IGNORED = str.maketrans("", "", "-_ ")
_CENTS = 100
_SAME_SIZE = Decimal("1.25")
"""Memory sizes within this factor are the same product: clouds report an L4 with 22.35 GiB or with 24 GB."""


@dataclass(frozen=True, slots=True)
class KnownAccelerator:
    """An accelerator from the table.

    Attributes:
        name: Its name in the table.
        count: Number of accelerators that the name stands for, such as 4 for ``4xA100``.
        accelerator: Its name in the tables of instance types.
        least_gib: Minimum memory of one accelerator.
        most_gib: Maximum memory of one accelerator.
        device: Product label of its nodes, if no instance type has it.
    """

    name: str
    count: int
    accelerator: str
    least_gib: int
    most_gib: int
    device: str

    def is_on(self, node: Instance) -> bool:
        """Return whether an instance type has it, not just a fraction of one."""
        if node.accelerator != self.accelerator:
            return False
        return self.least_gib <= int(node.accelerator_memory_gib or 0) <= self.most_gib

    @property
    def types(self) -> tuple[Instance, ...]:
        """The instance types that have it."""
        return tuple(node for node in accelerated_instances() if self.is_on(node))

    def product(self, node: Instance | None) -> str:
        """Return the product label of its nodes; empty if unknown.

        Args:
            node: An instance type that may have it, if one is known.
        """
        return (node.product if self.is_on(node) else "") if node else self.device

    def cheapest(self, count: int = 1) -> Instance | None:
        """Return the type with the lowest price per accelerator that has at least ``count``; None without prices."""
        priced: list[tuple[Decimal, int, str]] = []
        for node in self.types:
            price = hourly_cents(node)
            if price is not None and node.accelerators >= count:
                priced.append((price, node.accelerators, node.name))
        if not priced:
            return None
        _, _, name = min(priced)
        return instance(name)


def known_accelerator(name: str) -> KnownAccelerator | None:
    """Return an accelerator by name; None if it is not in the table."""
    several = _SEVERAL.fullmatch(name)
    count, one = (int(several[1]), several[2]) if several else (1, name)
    found = _by_name().get(_plain(one))
    return replace(found, count=count) if found and count > 1 else found


def name_on(node: Instance) -> str | None:
    """Return the shortest name of the accelerators of an instance type that stands for no others; None if unknown."""
    rows: list[dict[str, Any]] = load_table(__package__, "accelerators.yaml")
    known = [_by_name()[_plain(row["name"])] for row in rows]
    fitting = [accelerator for accelerator in known if accelerator.is_on(node)]
    if not fitting:
        return None
    # The most specific row: A100 alone stands for two sizes.
    return min(fitting, key=lambda row: (row.most_gib - row.least_gib, row.name)).name


def hourly_cents(node: Instance) -> Decimal | None:
    """Return the price of one accelerator of an instance type, in US cents per hour; None if unknown."""
    if not node.accelerators or node.usd_per_hour is None:
        return None
    return node.usd_per_hour * _CENTS / node.accelerators


def _plain(name: str) -> str:
    return name.translate(_IGNORED).lower()


@cleared_with_clouds
@functools.cache
def _by_name() -> Mapping[str, KnownAccelerator]:
    """Return the table by every name, including product labels of nodes.

    The product label is not used for rows with several memory sizes, such as V100 with 16 and 32 GiB, because it
    stands for one of them only.
    """
    rows: list[dict[str, Any]] = load_table(__package__, "accelerators.yaml")
    known = {row["name"]: _known(row) for row in rows}
    found = {_plain(name): known[row["name"]] for row in rows for name in (row["name"], *row.get("also", ()))}
    for accelerator in known.values():
        sizes = [node.accelerator_memory_gib or 0 for node in accelerator.types] or [0]
        if max(sizes) <= min(sizes) * _SAME_SIZE:
            for product in sorted({accelerator.device, *(node.product for node in accelerator.types)} - {""}):
                found.setdefault(_plain(product), accelerator)
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
    """Price of one accelerator.

    Attributes:
        cents_per_hour: US cents per hour.
        source: The setting or instance type that the price comes from.
        node: The instance type of which it is the share; None for a price in the settings.
    """

    cents_per_hour: Decimal
    source: str
    node: Instance | None = field(default=None, compare=False)


def accelerator_price(
    name: str, levels: ServiceLevels, nodes: Sequence[Instance] = (), count: int = 1
) -> AcceleratorPrice | None:
    """Return the price of one accelerator; None if unknown.

    A price in the settings wins; otherwise it is the accelerator's share of the on-demand price of its node.

    Args:
        name: Name of the accelerator.
        levels: Service levels of the settings.
        nodes: Instance types that it runs on, in order of preference; without a match the cheapest type is used.
        count: Accelerators of one replica; the cheapest type must have at least as many.
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
    """Return the first instance type with an accelerator; the first of all if the accelerator is unknown."""
    return next((node for node in nodes if known is None or known.is_on(node)), None)


def _share(node: Instance | None, several: int, why: str = "") -> AcceleratorPrice | None:
    cents = hourly_cents(node) if node else None
    if node is None or cents is None:
        return None
    return AcceleratorPrice(cents * several, f"{node.name} at ${node.usd_per_hour}/h{why}", node)
