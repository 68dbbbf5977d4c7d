"""Accelerators by the names that variants give them: where EC2 has them, what they cost, how nodes call them."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from ...contract.tables import table
from ...fleet.instances import Instance, instances

_SEVERAL = re.compile(r"([1-9][0-9]?)x(.+)", re.IGNORECASE)
"""Several on one node under one name, such as ``4xA100`` (WVA spec 12)."""
_IGNORED = str.maketrans("", "", "-_ ")
_CENTS = 100


@dataclass(frozen=True, slots=True)
class KnownAccelerator:
    """What is known of a name.

    Attributes:
        name: As the table spells it.
        count: How many of them the name means: 4 for ``4xA100``.
        families: By family of instance types that have it, the product in the labels of their nodes.
        device: That product, where no instance type has it.
    """

    name: str
    count: int
    families: Mapping[str, str]
    device: str

    def is_on(self, node: Instance) -> bool:
        """Tell whether an instance type has it."""
        return node.family in self.families

    def product(self, node: Instance | None) -> str:
        """Return the product in the labels of its nodes; empty where that is not known.

        Args:
            node: An instance type that has it, where one is known.
        """
        return self.families.get(node.family, "") if node else self.device

    def cheapest(self, count: int = 1) -> Instance | None:
        """Return the instance type with the cheapest one, of those with so many; None where no price is known."""
        fitting = (node for node in instances().values() if self.is_on(node) and node.accelerators >= count)
        priced = [
            (price, node.accelerators, node.name) for node in fitting if (price := hourly_cents(node)) is not None
        ]
        return instances()[min(priced)[-1]] if priced else None


def known_accelerator(name: str) -> KnownAccelerator | None:
    """Return what is known of a name; None for one that is not in the table."""
    several = _SEVERAL.fullmatch(name)
    count, one = (int(several[1]), several[2]) if several else (1, name)
    row = _rows().get(_plain(one))
    if row is None:
        return None
    return KnownAccelerator(row["name"], count, MappingProxyType(row.get("families", {})), row.get("device", ""))


def hourly_cents(node: Instance) -> Decimal | None:
    """Return what one accelerator of an instance type costs, in US cents an hour; None where it is not known."""
    if not node.accelerators or node.usd_per_hour is None:
        return None
    return node.usd_per_hour * _CENTS / node.accelerators


def _plain(name: str) -> str:
    return name.translate(_IGNORED).lower()


@functools.cache
def _rows() -> Mapping[str, dict[str, Any]]:
    """Return the rows of the table by every name of each, products that one row alone is about among them."""
    rows: list[dict[str, Any]] = table(__package__, "accelerators.yaml")
    found = {_plain(name): row for row in rows for name in (row["name"], *row.get("also", ()))}
    for row in rows:
        products = {row.get("device", ""), *row.get("families", {}).values()} - {""}
        if len(products) == 1:
            found.setdefault(_plain(products.pop()), row)
    return MappingProxyType(found)
