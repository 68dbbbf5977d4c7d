"""Reads ``facts.yaml``: what differs between runtimes; and asks the engines for theirs."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ....contract.tables import load_table
from ....engines.registry import engines
from ....engines.settings import Feature, Setting


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads a field.

    Attributes:
        runtimes: The runtimes that read it.
        instead: What other runtimes have for it.
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
    """Tell whether the version in an image tag has what came with a version; one without a number is new."""
    return engines()[runtime].has(feature, tag)


def successor_of(value: str) -> str | None:
    """Return what to write instead of a value that an engine refuses; None where nothing is known."""
    found: str | None = _facts()["successors"].get(value.lower())
    return found


@functools.cache
def readings() -> Mapping[str, Reading]:
    """Return who reads each field of ``spec`` that not every runtime has, by its wire name."""
    rows = _facts()["fields"]
    return {name: _reading(**row) for name, row in rows.items()}


def _reading(read: list[str], instead: Mapping[str, str | Mapping[str, str]] = MappingProxyType({})) -> Reading:
    return Reading(tuple(read), {runtime: _instead(runtime, what) for runtime, what in instead.items()})


def _instead(runtime: str, what: str | Mapping[str, str]) -> str:
    """Return what a runtime has: a field, or a flag that a field takes."""
    if isinstance(what, str):
        return what
    ((field_name, setting),) = what.items()
    return f"{field_name} with {flag_of(runtime, Setting(setting))}"


def read_everywhere() -> frozenset[str]:
    """Return the fields of ``spec`` that are the same for every runtime, by their wire names."""
    return frozenset(_facts()["everywhere"])


@functools.cache
def _facts() -> dict[str, Any]:
    found: dict[str, Any] = load_table(__package__, "facts.yaml")
    return found
