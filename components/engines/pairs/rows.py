"""The transfer of the KV cache from prefill to decode: ``pairs.yaml`` in an engine's folder.

json: keys of the JSON document with the transfer settings (the setting ``transfer``): connector, role, plugin (the
  module of a connector that the engine does not contain) and extra (the settings of the connector). Engines without
  it have the settings ``transfer_role`` and ``transfer_backend``.
roles: the engine's words for prefill, decode and both.
default: the connector to use if none is set. implied: the default of the engine itself.
connectors, each with
  name; from, absent, until: versions with it. instead: its name in other versions.
  plugin: the plugin that provides it. local: whether it keeps the cache of its own pod only.
  parts: the key of its settings that lists the connectors of a composite connector.
  shipped: versions whose official image has its library; without this column it needs none.
  router: the protocol of the router in front of the pair.
  rdma: none, useful or required. transports: what overrides that: a key of its settings or a variable, with the use
    of RDMA by value (``*`` is any); the first one that is set counts.
  shared: keys of its settings that must be equal on both sides.
  undirected: versions that ignore the role. both: versions that accept a server with both roles.
  tensor_parallel: rules by version: equal, multiple (the larger size of the smaller one), decode_multiple.
  same_version: versions that accept caches of the same version only.
  variables: variables of the pod: name, and value or the field of the pod; sides: prefill, decode, or both.
  ports: name, sides; the number is that of a variable, of a key of the JSON, of a setting, or number itself;
    per: the parallel sizes whose product is the number of consecutive ports.
  any_port: whether data uses ports that are chosen at run time.
  caution: a requirement that cannot be checked; caution_unless: prefix of the variables that indicate it is met.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..settings import Setting
from ..versions import Version, VersionSpan

_SCALARS = ("name", "instead", "plugin", "local", "parts", "router", "any_port", "caution", "caution_unless")
"""Columns of a connector that are used as they are."""


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


class TransportRow(NamedTuple):
    """A setting that determines whether RDMA is used; either ``key`` or ``variable`` is empty."""

    key: str
    variable: str
    values: Mapping[str, Rdma]


class EfaChoice(NamedTuple):
    """The setting that selects EFA; either ``key`` or ``variable`` is empty.

    Attributes:
        several: Whether the setting is a list of values.
        built: Whether the library of the connector must be built for EFA.
    """

    value: str
    span: VersionSpan
    key: str = ""
    variable: str = ""
    several: bool = False
    built: bool = False


class Variable(NamedTuple):
    """A variable that a pod needs: a value, or a field of the pod itself."""

    name: str
    value: str = ""
    field: str = ""


class PortRow(NamedTuple):
    """A port that a side listens on; the columns of ``ports``."""

    name: str
    span: VersionSpan
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
    span: VersionSpan
    instead: str = ""
    plugin: str = ""
    local: bool = False
    parts: str = ""
    library: str = ""
    shipped: VersionSpan | None = None
    router: str = ""
    rdma: Rdma = Rdma.NONE
    transports: tuple[TransportRow, ...] = ()
    efa: EfaChoice | None = None
    shared: tuple[str, ...] = ()
    undirected: VersionSpan | None = None
    both: VersionSpan | None = None
    tensor_parallel: tuple[tuple[VersionSpan, str], ...] = ()
    same_version: VersionSpan | None = None
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
        return next(word for word, stage in self.roles.items() if stage is role)


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
    efa = row.get("efa")
    return Connector(
        span=VersionSpan.from_row(row),
        rdma=Rdma(row.get("rdma", "none")),
        transports=tuple(
            TransportRow(
                transport.get("key", ""),
                transport.get("variable", ""),
                {value: Rdma(need) for value, need in transport["values"].items()},
            )
            for transport in row.get("transports", ())
        ),
        efa=EfaChoice(
            value=efa["value"],
            span=VersionSpan.from_row(efa),
            key=efa.get("key", ""),
            variable=efa.get("variable", ""),
            several=efa.get("several", False),
            built=efa.get("built", False),
        )
        if efa
        else None,
        shared=tuple(row.get("shared", ())),
        tensor_parallel=tuple((VersionSpan.from_row(rule), rule["rule"]) for rule in row.get("tensor_parallel", ())),
        variables=tuple(
            (_sides(variable), Variable(variable["name"], variable.get("value", ""), variable.get("field", "")))
            for variable in row.get("variables", ())
        ),
        ports=tuple(
            PortRow(
                name=port["name"],
                span=VersionSpan.from_row(port),
                sides=_sides(port),
                variable=port.get("variable", ""),
                json=port.get("json", ""),
                setting=Setting(port["setting"]) if "setting" in port else None,
                number=port.get("number", 0),
                per=tuple(map(Setting, port.get("per", ()))),
            )
            for port in row.get("ports", ())
        ),
        library=row.get("shipped", {}).get("library", ""),
        shipped=_span(row, "shipped"),
        undirected=_span(row, "undirected"),
        both=_span(row, "both"),
        same_version=_span(row, "same_version"),
        same_version_unless=row.get("same_version", {}).get("unless", ""),
        **{name: row[name] for name in _SCALARS if name in row},
    )


def _span(row: Mapping[str, Any], column: str) -> VersionSpan | None:
    return VersionSpan.from_row(row[column]) if column in row else None


def _sides(row: Mapping[str, Any]) -> frozenset[Stage]:
    return frozenset(map(Stage, row.get("sides", (Stage.PREFILL, Stage.DECODE))))
