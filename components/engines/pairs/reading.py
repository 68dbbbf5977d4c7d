"""Reads the KV cache transfer settings of a command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..command_line import CommandLine
from ..flags.values import is_filled_later
from ..scripts.commands import engine_line
from ..settings import Setting
from ..versions import Version
from .rows import Connector, Rdma, Stage, TransferTable, TransportRow, transfer_table


@dataclass(frozen=True, slots=True)
class Transfer:
    """The KV cache transfer settings of a server.

    Attributes:
        table: The transfer table of the engine.
        version: Its version, as in :mod:`..versions`.
        connector: The connector; empty if not set.
        word: The role as written; empty if not set.
        config: The settings of the connector itself.
        document: The whole JSON, for engines that are configured by JSON.
        known: The row of the connector; None for a plugin or an unknown connector.
        parts: The connectors of a composite connector.
        is_plugin: Whether the settings name the Python module of the connector, which is then unknown.
        is_open: Whether the settings are filled in later or cannot be parsed.
    """

    table: TransferTable = field(repr=False)
    version: Version | None
    connector: str = ""
    word: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)
    known: Connector | None = field(default=None, repr=False)
    parts: tuple["Transfer", ...] = ()
    is_plugin: bool = False
    is_open: bool = False

    @property
    def role(self) -> Stage | None:
        """The role of the server; None if it is not set or invalid."""
        return self.table.roles.get(self.word)

    @property
    def carriers(self) -> tuple["Transfer", ...]:
        """The connectors that transfer the cache between pods."""
        return tuple(part for part in self.parts or (self,) if not (part.known and part.known.local))

    @property
    def router(self) -> str:
        """The protocol that a router in front of the pair must use; empty if unknown."""
        words = (part.known.router for part in self.carriers if part.known)
        return next(filter(None, words), "")

    def rdma(self, variables: Mapping[str, str]) -> tuple[Rdma, TransportRow | None]:
        """Return the use of RDMA in a container with some variables, and the setting that determines it, if any."""
        needs = [_rdma(carrier, variables) for carrier in self.carriers]
        return max(needs, key=lambda need: list(Rdma).index(need[0]), default=(Rdma.NONE, None))


def transfer_of(line: CommandLine) -> Transfer | None:
    """Return the transfer settings of a server; None if it has none or another program parses the arguments.

    Args:
        line: The command line of the container, which may be in a script.
    """
    table, own = transfer_table(line.engine), engine_line(line)
    if table is None or own is None or own.reading is None:
        return None
    version = table.engine.version(own.tag)
    if not table.json:
        if not own.holds(Setting.TRANSFER_ROLE, Setting.TRANSFER_BACKEND):
            return None
        word, backend = own.value_of(Setting.TRANSFER_ROLE) or "", own.value_of(Setting.TRANSFER_BACKEND) or ""
        known = table.find(backend or table.implied, version)
        return Transfer(table, version, backend, word, known=known, is_open=is_filled_later(word + backend))
    uses = list(own.json_uses(Setting.TRANSFER))
    if not uses:
        return None
    document = own.document_of(Setting.TRANSFER)
    if document is None:
        return Transfer(table, version, is_open=True)
    return transfer_of_document(table, version, document)


def transfer_of_document(table: TransferTable, version: Version | None, document: Mapping[str, Any]) -> Transfer:
    """Return the transfer settings in a JSON document."""
    keys = table.json
    name, config = document.get(keys["connector"]), document.get(keys["extra"])
    is_plugin = bool(document.get(keys["plugin"]))
    connector, own = name if isinstance(name, str) else "", config if isinstance(config, Mapping) else {}
    named = table.find(connector, version)
    known = None if is_plugin else named
    children = own.get(known.parts) if known and known.parts else None
    return Transfer(
        table=table,
        version=version,
        connector=connector,
        word=str(document.get(keys["role"]) or ""),
        config=own,
        document=document,
        known=known or (named if named and named.plugin else None),
        parts=tuple(
            transfer_of_document(table, version, child) for child in children or () if isinstance(child, Mapping)
        ),
        is_plugin=is_plugin,
        is_open=any(is_filled_later(str(document.get(key) or "")) for key in keys.values()),
    )


def _rdma(carrier: Transfer, variables: Mapping[str, str]) -> tuple[Rdma, TransportRow | None]:
    connector = carrier.known
    if connector is None:
        return Rdma.NONE, None
    for row in connector.transports:
        given = carrier.config.get(row.key) if row.key else variables.get(row.variable)
        if given is None or given == []:
            continue
        # The row of "*" is for any value.
        words = [*map(str, given if isinstance(given, list) else [given]), "*"]
        needs = [row.values[word] for word in words if word in row.values]
        if needs:
            return max(needs, key=list(Rdma).index), row
    return connector.rdma, None
