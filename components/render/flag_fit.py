"""Writes an engine's arguments as the version in its image tag knows them."""

from collections.abc import Sequence

from ..catalog.flag_rows import ENUM, SWITCH, Flag, Version
from ..catalog.flags import EngineFlags, arguments, flags_of
from .command_line import Use, split
from .flag_lint import is_shell

_ON, _OFF = ("on", "true", "1"), ("off", "false", "0")


def fitted(engine: str, args: Sequence[str], tag: str, command: Sequence[str] = ()) -> list[str]:
    """Return arguments in the spelling of a version, where the meaning is the same; all others as they are.

    A switch that takes a value by now gets ``on``, and the other way round: llama.cpp has ``-fa on`` for ``-fa``
    since build 6343. A flag that was renamed gets its new name. What moved into a JSON option is left alone: several
    flags share it.

    Args:
        engine: Name of the engine in the catalog.
        args: The container's arguments.
        tag: Tag of the image. One without a version counts as the newest.
        command: The container's command: a shell's command line is left alone.
    """
    table = flags_of(engine)
    if table is None or is_shell(command, args):
        return list(args)
    version = table.version(tag)
    written: list[str] = []
    position = 0
    for use in split(table, args, version):
        if use.position < position:
            continue  # the value that a switch took along
        written += args[position : use.position]
        position, words = _fitted(use, args, table, tag, version)
        written += words
    return written + list(args[position:])


def _fitted(
    use: Use, args: Sequence[str], table: EngineFlags, tag: str, version: Version | None
) -> tuple[int, Sequence[str]]:
    """Return where the arguments go on behind a use, and how it is written."""
    end = max([use.position, *(value.position for value in use.values)]) + 1
    as_it_is = (end, args[use.position : end])
    flag = use.flag
    if flag is None or use.dotted or use.joined:
        return as_it_is
    if not flag.span.is_in(version):
        value = use.values[0].text if use.values else _ON[0]
        renamed = len(use.values) <= 1 and _is_renamed(flag, value, table, version)
        return (end, arguments(table.engine, use.name, value, tag)) if renamed else as_it_is
    form = flag.at(version)
    was_switch = any(earlier.type == SWITCH for earlier in flag.earlier)
    if was_switch and form.takes_value and not use.values:
        return (end, (use.name, _ON[0]))
    following = args[end] if end < len(args) else ""
    if was_switch and form.type == SWITCH and flag.form.takes_value and following in _ON + _OFF:
        return (end + 1, (use.name,) if following in _ON else ())
    return as_it_is


def _is_renamed(flag: Flag, value: str, table: EngineFlags, version: Version | None) -> bool:
    """Tell whether the flag in a flag's place says the same with the same value, or with one that is known."""
    heir = table.find(flag.heir) if flag.heir else None
    if heir is None or not heir.span.is_in(version):
        return False
    if flag.instead != flag.heir:
        return "{" not in (flag.instead or "")
    form = heir.at(version)
    return form.type == flag.form.type and (form.type != ENUM or form.choice(value) is not None)
