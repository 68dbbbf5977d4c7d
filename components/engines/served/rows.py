"""What is known of the names that a server answers to, and of its adapters: ``served.yaml`` in an engine's folder.

several: whether the model may have several names.
others: what happens to a request by another name: refused or answered.
adapters: by version (from, absent, until):
  json: the keys of an adapter written as JSON, name and path; without it there is name=path only.
  read: a pattern of the texts that are read as JSON; others are name=path.
  unsafe: letters that a path written as name=path cannot have; ``=`` never is in a name.
  needs: flags that adapters need besides.
  asked: what a request calls its model to get an adapter; empty where a field of its own tells.
  most: the flag that limits how many there may be.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..versions import Span, Version


@dataclass(frozen=True, slots=True)
class AdapterSyntax:
    """A version's syntax for adapters; the attributes are the columns."""

    span: Span
    json: Mapping[str, str] = field(default_factory=dict)
    read: re.Pattern[str] | None = None
    unsafe: str = ""
    needs: tuple[str, ...] = ()
    asked: str = ""
    most: str = ""

    def takes_for_json(self, text: str) -> bool:
        """Return whether the engine parses the text of an adapter as JSON."""
        return self.read is not None and self.read.fullmatch(text) is not None


@dataclass(frozen=True, slots=True, eq=False)
class ServedNames:
    """The model names and adapters of an engine; the attributes are the columns."""

    engine: Engine
    several: bool
    others: str
    adapters: tuple[AdapterSyntax, ...]

    def adapter_syntax(self, version: Version | None) -> AdapterSyntax:
        return next(way for way in self.adapters if way.span.includes(version))


def served_names_table(engine: str) -> ServedNames | None:
    """Return the names table of an engine; None if it has none."""
    known = engines().get(engine)
    return _read(known) if known else None


@functools.cache
def _read(engine: Engine) -> ServedNames | None:
    file = engine.folder.joinpath("served.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    return ServedNames(engine, facts["several"], facts["others"], tuple(map(_adapter_syntax, facts["adapters"])))


def _adapter_syntax(row: Mapping[str, Any]) -> AdapterSyntax:
    needs = tuple(row.get("needs", ()))
    plain = {name: row[name] for name in ("json", "unsafe", "asked", "most") if name in row}
    read = re.compile(row["read"], re.DOTALL) if "read" in row else None
    return AdapterSyntax(span=Span.from_row(row), needs=needs, read=read, **plain)
