"""Facts about accelerators: ``devices.yaml``."""

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ....contract.quantity import GIB
from ....contract.tables import load_table
from ....fleet.clouds import cleared_with_clouds
from ....fleet.instances import accelerated_instances


def visible_bytes(name: str, size: int) -> int:
    """Return the memory that programs see; all of it for accelerators without a report."""
    row = _row(name, size)
    visible = int(Decimal(str(row["visible"])) * GIB) if "visible" in row else size
    return min(size, visible)


def is_measured(name: str, size: int) -> bool:
    """Tell whether the memory that programs see was reported."""
    return "visible" in _row(name, size)


def capability(name: str, size: int) -> Decimal | None:
    """Return the CUDA compute capability of an accelerator; None if unknown."""
    row = _row(name, size)
    return Decimal(str(row["capability"])) if "capability" in row else None


@cleared_with_clouds
@functools.lru_cache(maxsize=1024)
def maker_of(name: str) -> str:
    """Return the manufacturer of an accelerator; empty if no instance type has it."""
    return next((node.manufacturer for node in accelerated_instances() if node.accelerator == name), "")


def _row(name: str, size: int) -> Mapping[str, Any]:
    return _devices().get((name, size // GIB), {})


@functools.cache
def _devices() -> Mapping[tuple[str, int], Mapping[str, Any]]:
    return {(row["name"], row["gib"]): row for row in load_table(__package__, "devices.yaml")["devices"]}
