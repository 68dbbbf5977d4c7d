"""Rewrites the arguments of an engine for the version in its image tag."""

import json
from collections.abc import Collection, Sequence

from .command_line import CommandLine, EngineReading
from .flags.rows import ENUM, SWITCH, Flag
from .flags.splitting import FlagUse
from .flags.tables import CLAP, JSON_VALUE, EngineFlags, arguments, json_value
from .settings import Setting
from .versions import ANY, Version

_ON, _OFF = ("on", "true", "1"), ("off", "false", "0")


def respelled(line: CommandLine) -> CommandLine:
    """Return a line rewritten for its version, without changing its meaning.

    A switch that takes a value in this version gets ``on``, and vice versa: llama.cpp has ``-fa on`` instead of
    ``-fa`` since build 6325. A renamed flag gets its new name. Flags that moved into a JSON option are unchanged,
    because several flags share the option; see :func:`json_options_merged`. Nothing is changed if another program
    than the engine is run, or if the version is unknown.
    """
    return _with_args(line, [word for word, _ in respelled_with_origins(line)])


def respelled_with_origins(line: CommandLine) -> list[tuple[str, int]]:
    """Return the arguments of :func:`respelled`, each with the index of the argument it was generated from."""
    reading, args = line.reading, line.args
    if reading is None or reading.version == ANY:
        return [(arg, place) for place, arg in enumerate(args)]
    written: list[tuple[str, int]] = []
    position = 0
    for use in reading.uses:
        if use.position < position:
            continue  # part of the command, or a value that was merged into the switch before it
        written += ((args[place], place) for place in range(position, use.position))
        position, words = _fitted(use, args, reading, line.tag)
        written += ((word, min(use.position + at, position - 1)) for at, word in enumerate(words))
    return written + [(args[place], place) for place in range(position, len(args))]


def json_options_merged(line: CommandLine) -> CommandLine:
    """Return a line in which flags that moved into a JSON option are merged into that option, at the end.

    A draft model without a number of tokens, or vice versa, is an incomplete configuration and left unchanged.
    """
    reading = line.reading
    if reading is None or reading.version == ANY:
        return line
    if not (line.holds(Setting.DRAFT_MODEL) and line.holds(Setting.DRAFT_TOKENS)):
        return line
    moved: dict[str, dict[str, str | int | float]] = {}
    dropped: set[int] = set()
    for use in reading.uses:
        flag = use.flag
        template = JSON_VALUE.search(flag.instead or "") if flag else None
        option = reading.table.find(flag.replacement) if flag and flag.replacement else None
        if flag and template and option and option.span.includes(reading.version) and use.position >= 0:
            text = use.values[0].text if use.values else ""
            moved.setdefault(option.name, {})[template[1]] = json_value(flag, text)
            dropped |= use.places
    options = [word for name, values in moved.items() for word in (name, json.dumps(values))]
    return _with_args(line, [*_left(line, dropped), *options])


def without_repeated(line: CommandLine, user: CommandLine) -> CommandLine:
    """Return a line without the flags that the user's line repeats, if the engine rejects repetitions.

    Rust's clap does; elsewhere the last one wins.
    """
    reading, given = line.reading, user.reading
    if reading is None or given is None or reading.table.style != CLAP:
        return line
    flags = [use.flag for use in given.uses if use.flag]
    dropped: set[int] = set()
    for use in reading.uses:
        if use.flag in flags and not use.flag.form_in(reading.version).repeat:
            dropped |= use.places
    return _with_args(line, _left(line, dropped))


def _with_args(line: CommandLine, args: Sequence[str]) -> CommandLine:
    """Return a line with other arguments; the same object, which is already parsed, if they are equal."""
    return line if tuple(args) == line.args else CommandLine(line.engine, line.tag, args, line.command)


def _left(line: CommandLine, dropped: Collection[int]) -> list[str]:
    return [arg for place, arg in enumerate(line.args) if place not in dropped]


def _fitted(use: FlagUse, args: Sequence[str], reading: EngineReading, tag: str) -> tuple[int, Sequence[str]]:
    """Return the index of the argument after a use, and the arguments for the use."""
    table, version = reading.table, reading.version
    end = use.last + 1
    as_it_is = (end, args[use.position : end])
    flag = use.flag
    if flag is None or use.dotted or use.joined:
        return as_it_is
    if not flag.span.includes(version):
        value = use.values[0].text if use.values else _ON[0]
        renamed = len(use.values) <= 1 and _is_renamed(flag, value, table, version)
        return (end, arguments(table.engine.name, use.name, value, tag)) if renamed else as_it_is
    form = flag.form_in(version)
    was_switch = any(earlier.type == SWITCH for earlier in flag.earlier)
    if was_switch and form.takes_value and not use.values:
        return (end, (use.name, _ON[0]))
    following = args[end] if end < len(args) else ""
    if was_switch and form.type == SWITCH and flag.form.takes_value and following in _ON + _OFF:
        return (end + 1, (use.name,) if following in _ON else ())
    return as_it_is


def _is_renamed(flag: Flag, value: str, table: EngineFlags, version: Version | None) -> bool:
    """Return whether the replacement of a flag has the same meaning and accepts the value."""
    heir = table.find(flag.replacement) if flag.replacement else None
    if heir is None or not heir.span.includes(version):
        return False
    if flag.instead != flag.replacement:
        return "{" not in (flag.instead or "")
    form = heir.form_in(version)
    return form.type == flag.form.type and (form.type != ENUM or form.choice(value) is not None)
