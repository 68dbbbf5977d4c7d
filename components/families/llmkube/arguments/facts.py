"""Differences between runtimes: those in ``facts.yaml``, and those in the tables of the engines."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ....contract.tables import load_table
from ....engines.registry import engines
from ....engines.settings import Feature, Setting
from ..facts import llmkube


@dataclass(frozen=True, slots=True)
class Reading:
    """Which runtimes read a field.

    Attributes:
        runtimes: The runtimes that read it.
        instead: The equivalent of other runtimes.
    """

    runtimes: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict)


def flag_of(runtime: str, setting: Setting) -> str:
    """Return the flag that a runtime has for a setting.

    Raises:
        LookupError: It has none.
    """
    flag = engines()[runtime].flag(setting)
    if flag is None:
        raise LookupError(f"runtime {runtime!r} has no flag for {setting}")
    return flag


def has(runtime: str, feature: Feature, tag: str) -> bool:
    """Whether the version in an image tag has a feature; a tag without a number counts as the newest."""
    return engines()[runtime].has(feature, tag)


def successor_of(value: str) -> str | None:
    """Return the replacement of a value that an engine rejects; None without one."""
    replacement: str | None = _facts()["successors"].get(value.lower())
    return replacement


@functools.cache
def readings() -> Mapping[str, Reading]:
    """Return the readers of each runtime-specific field of ``spec``, by its wire name."""
    return {
        name: Reading(
            tuple(row["read"]),
            {runtime: _equivalent(runtime, cell) for runtime, cell in row.get("instead", {}).items()},
        )
        for name, row in _facts()["fields"].items()
    }


def _equivalent(runtime: str, cell: str | Mapping[str, str]) -> str:
    """Format the equivalent of a runtime: a field, or a field and the flag to put there."""
    if isinstance(cell, str):
        return cell
    ((field_name, setting),) = cell.items()
    return f"{field_name} with {flag_of(llmkube().runtimes[runtime].engine, Setting(setting))}"


def read_everywhere() -> frozenset[str]:
    """Return the fields of ``spec`` that are the same for every runtime, by their wire names."""
    return frozenset(_facts()["everywhere"])


def modes() -> Mapping[str, tuple[str, ...]]:
    """Return the runtimes that have flags for a mode, by each mode that needs some."""
    return {mode: tuple(runtimes) for mode, runtimes in _facts()["modes"].items()}


@functools.cache
def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = load_table(__package__, "facts.yaml")
    return facts
