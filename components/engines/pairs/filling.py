"""Adds the cache transfer settings that the users of prefill and decode servers left out."""

import json
from collections.abc import Mapping
from typing import Any

from ..command_line import CommandLine
from ..registry import Engine
from ..settings import Setting
from ..versions import ANY, Version
from .reading import Transfer, transfer_json_uses, transfer_of, transfer_of_document
from .rows import Stage, TransferTable, transfer_table

_COMPACT = (",", ":")


def pair_lines(
    engine: Engine, prefill: CommandLine, decode: CommandLine, *, efa: bool = False
) -> tuple[CommandLine, CommandLine]:
    """Return the command lines of prefill and decode with transfer settings.

    Existing settings are kept. A side without a connector gets that of the other side, or the engine's default;
    nothing is added if the version does not have it, or if another program parses the arguments.

    Args:
        engine: The engine of both.
        prefill: The command line of prefill.
        decode: The command line of decode.
        efa: Whether the pods of both request EFA; the default connector then uses it, if the version supports it.
    """
    table = transfer_table(engine.name)
    if table is None:
        return prefill, decode
    first, second = transfer_of(prefill), transfer_of(decode)
    if not table.json:
        return (
            _with_flags(table, prefill, Stage.PREFILL, first, second),
            _with_flags(table, decode, Stage.DECODE, second, first),
        )
    return (
        _with_json(table, prefill, Stage.PREFILL, first, second, efa=efa),
        _with_json(table, decode, Stage.DECODE, second, first, efa=efa),
    )


def _with_json(
    table: TransferTable, line: CommandLine, role: Stage, own: Transfer | None, other: Transfer | None, *, efa: bool
) -> CommandLine:
    flag = table.engine.flag(Setting.TRANSFER)
    if line.reading is None or flag is None or (own and own.is_open):
        return line
    if own is None:
        document = _document(table, line, role, other, efa=efa)
        text = json.dumps(document, separators=_COMPACT, ensure_ascii=False)
        return _with(line, flag, text) if document else line
    if own.word or not own.connector:
        return line
    return _with_role(table, line, role)


def _document(
    table: TransferTable, line: CommandLine, role: Stage, other: Transfer | None, *, efa: bool
) -> dict[str, Any]:
    """Return the JSON for a side without one: the default, or the settings of the other side that must match."""
    keys, version = table.json, table.engine.version(line.tag)
    if other is None:
        config = _by_efa(table, version) if efa else {}
        document: Mapping[str, Any] = {keys["connector"]: table.default} | ({keys["extra"]: config} if config else {})
    elif other.is_open or not other.connector:
        return {}
    else:
        document = {key: value for key, value in other.document.items() if key in (keys["connector"], keys["plugin"])}
        config = _shared(other, role)
        document |= {keys["extra"]: config} if config else {}
    known = transfer_of_document(table, version, document).known
    if known and not known.span.includes(version):
        return {}
    first, *rest = document.items()
    return dict([first, (keys["role"], table.word(role)), *rest])


def _by_efa(table: TransferTable, version: Version | None) -> dict[str, Any]:
    """Return the settings with which the default connector uses EFA."""
    known = table.find(table.default, version)
    choice = known.efa if known else None
    if choice is None or not choice.key or version == ANY or not choice.span.includes(version):
        return {}
    return {choice.key: [choice.value] if choice.several else choice.value}


def _shared(other: Transfer, role: Stage) -> dict[str, Any]:
    """Return the connector settings that must match on both sides; for a composite connector, all of its parts."""
    known = other.known
    if known is None:
        return {}
    config = {key: other.config[key] for key in known.shared if key in other.config}
    if not known.parts:
        return config
    word = {other.table.json["role"]: other.table.word(role)}
    return {
        known.parts: [dict(part.document) | (word if part.role is not Stage.BOTH else {}) for part in other.parts]
    }


def _with_role(table: TransferTable, line: CommandLine, role: Stage) -> CommandLine:
    """Add the role to the existing JSON, without changing its formatting."""
    key, word = table.json["role"], table.word(role)
    use, text = list(transfer_json_uses(line))[-1]
    dotted = next((each for each, _ in transfer_json_uses(line) if each.dotted), None)
    if dotted:
        return _with(line, f"{dotted.name.partition('.')[0]}.{key}", word)
    start = len(line.command)
    body = text.rstrip()[:-1].rstrip()
    comma = "" if body.endswith("{") else ", "
    written = f"{body}{comma}{json.dumps(key)}: {json.dumps(word)}}}"
    words, place = list(line.words), start + use.values[0].position
    words[place] = f"{words[place].partition('=')[0]}={written}" if use.joined else written
    return CommandLine(line.engine, line.tag, words[start:], words[:start])


def _with_flags(
    table: TransferTable, line: CommandLine, role: Stage, own: Transfer | None, other: Transfer | None
) -> CommandLine:
    engine, version = table.engine, table.engine.version(line.tag)
    flag, by = engine.flag(Setting.TRANSFER_ROLE), engine.flag(Setting.TRANSFER_BACKEND)
    if line.reading is None or flag is None or (own and own.is_open):
        return line
    if own is None or not own.word:
        line = _with(line, flag, table.word(role))
    known = table.find((other.connector if other else "") or table.default, version)
    if not (by and known and known.span.includes(version)) or (other and other.is_open):
        return line
    return line if own and own.connector else _with(line, by, known.name)


def _with(line: CommandLine, flag: str, value: str) -> CommandLine:
    return line.followed_by(line.continued((flag, value)))
