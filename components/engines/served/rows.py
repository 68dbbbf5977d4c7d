"""The model names that a server accepts, and its adapters: ``served.yaml`` in an engine's folder.

several: whether the model may have several names.
others: what happens to a request for another name: refused or answered.
adapters: by version (from, absent, until):
  json: the keys of an adapter as JSON, name and path; without it the only syntax is name=path.
  read: a pattern of the texts that are parsed as JSON; others are name=path.
  unsafe: characters that the path in name=path cannot contain; a name never contains ``=``.
  needs: further flags that adapters require.
  requested: the model name in requests for an adapter; empty if requests have a separate field for it.
  most: the flag that limits the number of adapters.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..versions import Version, VersionSpan


@dataclass(frozen=True, slots=True)
class AdapterSyntax:
    """A version's syntax for adapters; the attributes are the columns."""

    span: VersionSpan
    json: Mapping[str, str] = field(default_factory=dict)
    read: re.Pattern[str] | None = None
    unsafe: str = ""
    needs: tuple[str, ...] = ()
    requested: str = ""
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
        return next(syntax for syntax in self.adapters if syntax.span.includes(version))


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
    return AdapterSyntax(
        span=VersionSpan.from_row(row),
        json=row.get("json", {}),
        read=re.compile(row["read"], re.DOTALL) if "read" in row else None,
        unsafe=row.get("unsafe", ""),
        needs=tuple(row.get("needs", ())),
        requested=row.get("requested", ""),
        most=row.get("most", ""),
    )
