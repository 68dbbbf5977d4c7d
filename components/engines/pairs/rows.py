"""What is known of handing over the key-value cache: ``pairs.yaml`` in an engine's folder.

json: keys of the JSON that says all (the setting ``transfer``): connector, role, plugin, which is the module of a
  connector that the engine does not know, and extra, the connector's own settings. Without it there are the
  settings ``transfer_role`` and ``transfer_backend``.
roles: the engine's words for prefill, decode and both.
default: the connector where nobody names one. implied: what the engine itself takes then.
connectors, each with
  name; from, absent, until: versions with it. instead: what it is called in others.
  plugin: the plugin that brings it along. local: whether it keeps the cache of its own pod only.
  parts: the key of its settings that lists the connectors it is made of.
  shipped: versions whose own image has its library; without it the engine needs none.
  router: what the router before the pair must speak.
  rdma: none, useful or required. transports: what changes that: a key of its settings or a variable, and what
    values of it (``*`` is any) mean; the first one that is given counts.
  shared: keys of its settings that must be the same on both sides.
  undirected: versions in which the role makes no difference. both: versions in which one that is both does.
  tensor_parallel: by version a rule: equal, multiple (of the other one, whichever is larger), decode_multiple.
  same_version: versions that talk to the same version only.
  variables: what a pod needs: name, and value or the field of the pod; sides: prefill, decode, or both.
  ports: name, sides; the number is that of a variable, of a key of the JSON, of a setting, or number itself;
    per: the sizes by whose product there are more of them, one after the other.
  any_port: whether data goes over ports that are chosen at run time.
  caution: what else is to be thought of; caution_unless: how the name of a variable begins that settles it.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..settings import Setting
from ..versions import Span, Version


class Stage(StrEnum):
    """The role of a server."""

    PREFILL = "prefill"
    DECODE = "decode"
    BOTH = "both"


class Rdma(StrEnum):
    """Whether a connector uses RDMA."""

    NONE = "none"
    USEFUL = "useful"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class TransportRow:
    """A setting that determines whether RDMA is used; either ``key`` or ``variable`` is empty."""

    key: str
    variable: str
    values: Mapping[str, Rdma]


@dataclass(frozen=True, slots=True)
class EfaChoice:
    """The setting that selects EFA; either ``key`` or ``variable`` is empty."""

    value: str
    span: Span
    key: str = ""
    variable: str = ""
    several: bool = False
    built: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a pod needs: a value, or a field of the pod itself."""

    name: str
    value: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class PortRow:
    """A port that a side listens on; the columns of ``ports``."""

    name: str
    span: Span
    sides: frozenset[Stage]
    variable: str = ""
    json: str = ""
    setting: Setting | None = None
    number: int = 0
    per: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Connector:
    """A row of ``connectors``; the attributes are its columns."""

    name: str
    span: Span
    instead: str = ""
    plugin: str = ""
    local: bool = False
    parts: str = ""
    library: str = ""
    shipped: Span | None = None
    router: str = ""
    rdma: Rdma = Rdma.NONE
    transports: tuple[TransportRow, ...] = ()
    efa: EfaChoice | None = None
    shared: tuple[str, ...] = ()
    undirected: Span | None = None
    both: Span | None = None
    tensor_parallel: tuple[tuple[Span, str], ...] = ()
    same_version: Span | None = None
    same_version_unless: str = ""
    variables: tuple[tuple[frozenset[Stage], Variable], ...] = ()
    ports: tuple[PortRow, ...] = ()
    any_port: bool = False
    caution: str = ""
    caution_unless: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TransferTable:
    """The KV cache transfer of an engine; the attributes are the columns."""

    engine: Engine
    json: Mapping[str, str]
    roles: Mapping[str, Stage]
    default: str
    implied: str
    connectors: tuple[Connector, ...]

    def find(self, name: str, version: Version | None) -> Connector | None:
        """Return the connector with a name in a version, or else in any version."""
        rows = [row for row in self.connectors if row.name == name]
        return next((row for row in rows if row.span.includes(version)), rows[0] if rows else None)

    def names_in(self, version: Version | None) -> tuple[str, ...]:
        """Return the connectors that a version may have without a plugin."""
        return tuple(row.name for row in self.connectors if row.span.includes(version) and not row.plugin)

    def word(self, role: Stage) -> str:
        """Return the engine's word for a role."""
        return next(word for word, known in self.roles.items() if known is role)


def transfer_table(engine: str) -> TransferTable | None:
    """Return the transfer table of an engine; None if it has none."""
    known = engines().get(engine)
    return _read(known) if known else None


@functools.cache
def _read(engine: Engine) -> TransferTable | None:
    file = engine.folder.joinpath("pairs.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    return TransferTable(
        engine=engine,
        json=facts.get("json", {}),
        roles={word: Stage(role) for word, role in facts["roles"].items()},
        default=facts["default"],
        implied=facts.get("implied", ""),
        connectors=tuple(map(_connector, facts["connectors"])),
    )


def _connector(row: Mapping[str, Any]) -> Connector:
    plain = {name: row[name] for name in _PLAIN if name in row}
    return Connector(
        span=Span.from_row(row),
        rdma=Rdma(row.get("rdma", "none")),
        transports=tuple(
            TransportRow(
                each.get("key", ""),
                each.get("variable", ""),
                {value: Rdma(need) for value, need in each["values"].items()},
            )
            for each in row.get("transports", ())
        ),
        efa=_efa(row["efa"]) if "efa" in row else None,
        shared=tuple(row.get("shared", ())),
        tensor_parallel=tuple((Span.from_row(each), each["rule"]) for each in row.get("tensor_parallel", ())),
        variables=tuple(
            (_sides(each), Variable(each["name"], each.get("value", ""), each.get("field", "")))
            for each in row.get("variables", ())
        ),
        ports=tuple(map(_port, row.get("ports", ()))),
        library=row.get("shipped", {}).get("library", ""),
        shipped=_span(row, "shipped"),
        undirected=_span(row, "undirected"),
        both=_span(row, "both"),
        same_version=_span(row, "same_version"),
        same_version_unless=row.get("same_version", {}).get("unless", ""),
        **plain,
    )


_PLAIN = ("name", "instead", "plugin", "local", "parts", "router", "any_port", "caution", "caution_unless")


def _span(row: Mapping[str, Any], column: str) -> Span | None:
    return Span.from_row(row[column]) if column in row else None


def _efa(row: Mapping[str, Any]) -> EfaChoice:
    plain = {name: row[name] for name in ("value", "key", "variable", "several", "built") if name in row}
    return EfaChoice(span=Span.from_row(row), **plain)


def _sides(row: Mapping[str, Any]) -> frozenset[Stage]:
    return frozenset(map(Stage, row.get("sides", (Stage.PREFILL, Stage.DECODE))))


def _port(row: Mapping[str, Any]) -> PortRow:
    return PortRow(
        name=row["name"],
        span=Span.from_row(row),
        sides=_sides(row),
        variable=row.get("variable", ""),
        json=row.get("json", ""),
        setting=Setting(row["setting"]) if "setting" in row else None,
        number=row.get("number", 0),
        per=tuple(map(Setting, row.get("per", ()))),
    )
