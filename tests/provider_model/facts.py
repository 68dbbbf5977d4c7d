"""What the sources say about each type of resource: ``facts.yaml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Facts:
    """A type of resources.

    Attributes:
        forces_new: Fields that only another resource can have otherwise.
        decreases: Fields that only another resource can have less of.
        sticky: Fields that no update sends.
        born_with: Fields whose resources stay those of the creation.
        unique: Fields that no two resources can share.
        first: Whether a replacement comes after the deletion; None if that depends on the name.
        named: The field of the name.
        renewed: Outputs that an update changes, with the fields that cause it; all fields if there are none.
        limits: Minutes that the provider waits, by operation.
        seconds: How long operations take, by operation.
    """

    forces_new: tuple[str, ...] = ()
    decreases: tuple[str, ...] = ()
    sticky: tuple[str, ...] = ()
    born_with: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    first: bool | None = None
    named: str = ""
    renewed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def limit(self, operation: str) -> float | None:
        """Return how many seconds the provider waits; None if it does not."""
        minutes = self.limits.get(operation)
        return None if minutes is None else minutes * 60

    def takes(self, operation: str) -> float:
        return self.seconds.get(operation, 5.0)

    def shrinks(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        return any(float(new.get(name) or 0) < float(old.get(name) or 0) for name in self.decreases)

    def goes_first(self, new: Mapping[str, Any]) -> bool:
        """Whether a resource goes before its replacement comes: by default, one whose name the program sets."""
        if self.first is not None:
            return self.first
        return bool(self.named) and new.get(self.named) is not None


def facts_of(type_token: str, inputs: Mapping[str, Any] | None = None) -> Facts:
    """Return the facts about a type; of an object, those about its kind."""
    if type_token.startswith("kubernetes:") and not type_token.startswith("kubernetes:helm"):
        kind = type_token.rpartition(":")[2]
        found = _table()["objects"].get(kind, {})
        return _facts({**_table()["objects"]["any"], **found})
    return _facts(_table()["types"].get(type_token, {}))


def known_types() -> frozenset[str]:
    return frozenset(_table()["types"])


def _facts(row: Mapping[str, Any]) -> Facts:
    return Facts(
        forces_new=tuple(row.get("forces_new", ())),
        decreases=tuple(row.get("decreases", ())),
        sticky=tuple(row.get("sticky", ())),
        born_with=tuple(row.get("born_with", ())),
        unique=tuple(row.get("unique", ())),
        first=row.get("first"),
        named=row.get("named", ""),
        renewed={key: tuple(value) for key, value in row.get("renewed", {}).items()},
        limits=row.get("limits", {}),
        seconds=row.get("seconds", {}),
    )


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("facts.yaml").read_text())
    return table
