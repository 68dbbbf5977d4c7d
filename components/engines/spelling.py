"""Writes an engine's arguments as the version in its image tag knows them."""

from collections.abc import Sequence

from .command_line import FlagUse, split, start_of
from .flags import CLAP, EngineFlags, arguments, flags_of
from .rows import ENUM, SWITCH, Flag, Version

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
        command: The container's command. Where it runs something else than the engine, nothing is changed.
    """
    return [word for word, _ in traced(engine, args, tag, command)]


def traced(engine: str, args: Sequence[str], tag: str, command: Sequence[str] = ()) -> list[tuple[str, int]]:
    """Return what :func:`fitted` does, each word with the place of the argument that it was made of."""
    table = flags_of(engine)
    start = start_of(table, command, args, tag) if table else None
    if table is None or start is None:
        return [(arg, place) for place, arg in enumerate(args)]
    version = table.version(tag)
    first = max(start - len(command), 0)
    own = args[first:]
    written = [(arg, place) for place, arg in enumerate(args[:first])]
    position = 0
    for use in split(table, own, version):
        if use.position < position:
            continue  # the value that a switch took along
        written += ((own[place], first + place) for place in range(position, use.position))
        position, words = _fitted(use, own, table, tag, version)
        written += ((word, first + min(use.position + at, position - 1)) for at, word in enumerate(words))
    return written + [(own[place], first + place) for place in range(position, len(own))]


def without_repeated(engine: str, args: Sequence[str], user: Sequence[str], tag: str) -> list[str]:
    """Return arguments without those that the user gives too, where an engine takes a flag once.

    The last one wins elsewhere; Rust's clap refuses the second.

    Args:
        engine: Name of the engine in the catalog.
        args: The engine's arguments.
        user: What follows them.
        tag: Tag of the image.
    """
    table = flags_of(engine)
    if table is None or table.style != CLAP:
        return list(args)
    version = table.version(tag)
    given = [use.flag for use in split(table, user, version) if use.flag]
    dropped: set[int] = set()
    for use in split(table, args, version):
        if use.flag in given and not use.flag.at(version).repeat:
            dropped |= {use.position, *(value.position for value in use.values)}
    return [arg for place, arg in enumerate(args) if place not in dropped]


def _fitted(
    use: FlagUse, args: Sequence[str], table: EngineFlags, tag: str, version: Version | None
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
