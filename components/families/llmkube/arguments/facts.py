"""Reads ``facts.yaml``: what differs between runtimes and versions besides their flags."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ....api.tables import table
from ....engines.flags import flags_of


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads a field.

    Attributes:
        runtimes: The runtimes that read it.
        instead: What other runtimes have for it.
    """

    runtimes: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict)


def has_since(engine: str, what: str, tag: str) -> bool:
    """Tell whether the version in an image tag has what came with a version; one without a number is new."""
    table = flags_of(engine)
    version = table.version(tag) if table else None
    return version is None or version >= tuple(_facts()["since"][engine][what])


def successor_of(value: str) -> str | None:
    """Return what to write instead of a value that an engine refuses; None where nothing is known."""
    found: str | None = _facts()["successors"].get(value.lower())
    return found


@functools.cache
def readings() -> Mapping[str, Reading]:
    """Return who reads each field of ``spec`` that not every runtime has, by its wire name."""
    rows = _facts()["fields"]
    return {name: Reading(tuple(row["read"]), row.get("instead", {})) for name, row in rows.items()}


def read_everywhere() -> frozenset[str]:
    """Return the fields of ``spec`` that are the same for every runtime, by their wire names."""
    return frozenset(_facts()["everywhere"])


@functools.cache
def _facts() -> dict[str, Any]:
    found: dict[str, Any] = table(__package__, "facts.yaml")
    return found
