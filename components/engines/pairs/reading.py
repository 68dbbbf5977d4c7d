"""Reads the KV cache transfer settings of a command line."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..command_line import CommandLine
from ..flags.splitting import FlagUse
from ..flags.values import is_filled_later, json_object
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
        found = [_rdma(part, variables) for part in self.carriers]
        return max(found, key=lambda each: list(Rdma).index(each[0]), default=(Rdma.NONE, None))


def transfer_of(line: CommandLine) -> Transfer | None:
    """Return the transfer settings of a server; None if there are none, or the engine does not parse the arguments.

    Args:
        line: The command line of the container, which may be in a script.
    """
    table, own = transfer_table(line.engine), engine_line(line)
    reading = own.reading if own else None
    if table is None or own is None or reading is None:
        return None
    return _of_json(own, table) if table.json else _of_flags(own, table)


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
            transfer_of_document(table, version, each) for each in children or () if isinstance(each, Mapping)
        ),
        is_plugin=is_plugin,
        is_open=any(is_filled_later(str(document.get(key) or "")) for key in keys.values()),
    )


def transfer_json_uses(line: CommandLine) -> Iterator[tuple[FlagUse, str]]:
    """Yield the uses of the transfer JSON flag, including those of single keys, each with its text."""
    reading, words, start = line.reading, line.words, len(line.command)
    flags = {flag.name for flag in map(reading.table.find, _json_flags(line)) if flag} if reading else set()
    for use in reading.uses if flags and reading else ():
        if use.flag and use.flag.name in flags:
            word = words[start + use.values[0].position] if use.values else ""
            yield use, word.partition("=")[2] if use.joined else word


def _json_flags(line: CommandLine) -> tuple[str, ...]:
    table = transfer_table(line.engine)
    return table.engine.settings.get(Setting.TRANSFER, ()) if table else ()


def _of_json(line: CommandLine, table: TransferTable) -> Transfer | None:
    version = table.engine.version(line.tag)
    found = list(transfer_json_uses(line))
    if not found:
        return None
    dotted = [(use, text) for use, text in found if use.dotted]
    # Single keys are merged into one document, which comes last and wins (vLLM, FlexibleArgumentParser.parse_args).
    document = _gathered(dotted) if dotted else json_object(found[-1][1])
    return (
        Transfer(table, version, is_open=True) if document is None else transfer_of_document(table, version, document)
    )


def _gathered(uses: list[tuple[FlagUse, str]]) -> dict[str, Any]:
    """Merge single keys, such as ``--flag.a.b 1`` and ``--flag.c+ x``, which appends to a list."""
    document: dict[str, Any] = {}
    for use, text in uses:
        *path, last = use.name.split(".")[1:]
        place = document
        for key in path:
            inner = place.get(key)
            if not isinstance(inner, dict):
                inner = place[key] = {}
            place = inner
        if last.endswith("+"):
            before = place.get(last[:-1])
            place[last[:-1]] = [
                *(before if isinstance(before, list) else ()),
                *(_value(each) for each in text.split(",")),
            ]
        else:
            place[last] = _value(text)
    return document


def _value(text: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _of_flags(line: CommandLine, table: TransferTable) -> Transfer | None:
    version = table.engine.version(line.tag)
    if not line.holds(Setting.TRANSFER_ROLE, Setting.TRANSFER_BACKEND):
        return None
    word, backend = line.value_of(Setting.TRANSFER_ROLE) or "", line.value_of(Setting.TRANSFER_BACKEND) or ""
    known = table.find(backend or table.implied, version)
    return Transfer(table, version, backend, word, known=known, is_open=is_filled_later(word + backend))


def _rdma(transfer: Transfer, variables: Mapping[str, str]) -> tuple[Rdma, TransportRow | None]:
    known = transfer.known
    for each in known.transports if known else ():
        given = transfer.config.get(each.key) if each.key else variables.get(each.variable)
        values = given if isinstance(given, list) else [] if given is None else [given]
        needs = [each.values[word] for word in (*map(str, values), *("*" for _ in values)) if word in each.values]
        if needs:
            return max(needs, key=list(Rdma).index), each
    return (known.rdma if known else Rdma.NONE), None
