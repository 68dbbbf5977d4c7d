"""Adds the cache transfer settings that the users of prefill and decode servers left out."""

import json
from typing import Any

from ..command_line import CommandLine
from ..registry import Engine
from ..settings import Setting
from ..versions import ANY
from .reading import Transfer, transfer_of, transfer_of_document
from .rows import Stage, TransferTable, transfer_table


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
    if table.json:
        return (
            _with_json(table, prefill, Stage.PREFILL, first, second, efa=efa),
            _with_json(table, decode, Stage.DECODE, second, first, efa=efa),
        )
    return (
        _with_flags(table, prefill, Stage.PREFILL, first, second),
        _with_flags(table, decode, Stage.DECODE, second, first),
    )


def _with_json(
    table: TransferTable, line: CommandLine, role: Stage, own: Transfer | None, other: Transfer | None, *, efa: bool
) -> CommandLine:
    """Add the JSON document with the settings, or the role to an existing document without one."""
    flag, key, word = table.engine.flag(Setting.TRANSFER), table.json["role"], table.word(role)
    if line.reading is None or flag is None or (own and own.is_open):
        return line
    if own is None:
        document = _document(table, line, role, other, efa=efa)
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        return _with(line, flag, text) if document else line
    if own.word or not own.connector:
        return line

    uses = list(line.json_uses(Setting.TRANSFER))
    dotted = next((use for use, _ in uses if use.dotted), None)
    if dotted:
        return _with(line, f"{dotted.name.partition('.')[0]}.{key}", word)
    # The role is inserted before the closing brace, so that the user's formatting stays as it is.
    use, text = uses[-1]
    body = text.rstrip()[:-1].rstrip()
    comma = "" if body.endswith("{") else ", "
    filled = f"{body}{comma}{json.dumps(key)}: {json.dumps(word)}}}"
    start, words = len(line.command), list(line.words)
    position = start + use.values[0].position
    words[position] = f"{words[position].partition('=')[0]}={filled}" if use.joined else filled
    return CommandLine(line.engine, line.tag, words[start:], words[:start])


def _document(
    table: TransferTable, line: CommandLine, role: Stage, other: Transfer | None, *, efa: bool
) -> dict[str, Any]:
    """Return the JSON for a side without one: the default, or the settings of the other side that must match."""
    keys, version = table.json, table.engine.version(line.tag)
    config: dict[str, Any] = {}
    if other is None:
        document: dict[str, Any] = {keys["connector"]: table.default}
        connector = table.find(table.default, version)
        choice = connector.efa if connector else None
        if efa and choice and choice.key and version != ANY and choice.span.includes(version):
            config = {choice.key: [choice.value] if choice.several else choice.value}
    elif other.is_open or not other.connector:
        return {}
    else:
        document = {key: value for key, value in other.document.items() if key in (keys["connector"], keys["plugin"])}
        config = _matching_config(other, role)
    if config:
        document[keys["extra"]] = config
    known = transfer_of_document(table, version, document).known
    if known and not known.span.includes(version):
        return {}
    first, *rest = document.items()
    return dict([first, (keys["role"], table.word(role)), *rest])


def _matching_config(other: Transfer, role: Stage) -> dict[str, Any]:
    """Return the connector settings that must match on both sides; for a composite connector, all of its parts."""
    known = other.known
    if known is None:
        return {}
    if not known.parts:
        return {key: other.config[key] for key in known.shared if key in other.config}
    word = {other.table.json["role"]: other.table.word(role)}
    return {
        known.parts: [dict(part.document) | (word if part.role is not Stage.BOTH else {}) for part in other.parts]
    }


def _with_flags(
    table: TransferTable, line: CommandLine, role: Stage, own: Transfer | None, other: Transfer | None
) -> CommandLine:
    """Add the flags of the role and of the connector."""
    role_flag, connector_flag = table.engine.flag(Setting.TRANSFER_ROLE), table.engine.flag(Setting.TRANSFER_BACKEND)
    if line.reading is None or role_flag is None or (own and own.is_open):
        return line
    if own is None or not own.word:
        line = _with(line, role_flag, table.word(role))
    if connector_flag is None or (other and other.is_open) or (own and own.connector):
        return line
    version = table.engine.version(line.tag)
    known = table.find((other.connector if other else "") or table.default, version)
    return _with(line, connector_flag, known.name) if known and known.span.includes(version) else line


def _with(line: CommandLine, flag: str, value: str) -> CommandLine:
    return line.followed_by(line.continued((flag, value)))
