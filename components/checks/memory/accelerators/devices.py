"""What a program sees of an accelerator: ``devices.yaml``."""

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ....contract.tables import load_table
from ....fleet.clouds import cleared_with_clouds
from ....fleet.instances import instances

GIB = 2**30


def visible_bytes(name: str, size: int) -> int:
    """Return how much of an accelerator's memory a program sees; all of it where nobody reported it."""
    row = _row(name, size)
    seen = int(Decimal(str(row["visible"])) * GIB) if "visible" in row else size
    return min(size, seen)


def is_measured(name: str, size: int) -> bool:
    """Tell whether it is known what a program sees of an accelerator's memory."""
    return "visible" in _row(name, size)


def capability(name: str, size: int) -> Decimal | None:
    """Return the CUDA compute capability of an accelerator; None where no source says it."""
    row = _row(name, size)
    return Decimal(str(row["capability"])) if "capability" in row else None


@cleared_with_clouds
@functools.cache
def maker_of(name: str) -> str:
    """Return who makes an accelerator; empty where no instance type has it."""
    return next((found.manufacturer for found in instances().values() if found.accelerator == name), "")


def _row(name: str, size: int) -> Mapping[str, Any]:
    return _devices().get((name, size // GIB), {})


@functools.cache
def _devices() -> Mapping[tuple[str, int], Mapping[str, Any]]:
    return {(row["name"], row["gib"]): row for row in load_table(__package__, "devices.yaml")["devices"]}
