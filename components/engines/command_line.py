"""Finds an engine's arguments in a container and splits them into flags and values, as the engine itself does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from .flags import ARGPARSE, CLAP, LLAMA, EngineFlags
from .rows import Flag, Version

_SHELLS = ("sh", "bash", "ash", "dash", "zsh")
_RUNS_TEXT = re.compile(r"-[a-z]*c")
_PYTHON = re.compile(r"python[\d.]*")
_NEGATIVE = re.compile(r"-\d+(\.\d*)?|-\.\d+")
_SHORT = 2
"""Length of a one-letter flag such as ``-q``, which its value may follow without a space."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it stands among the arguments."""

    text: str
    position: int


@dataclass(frozen=True, slots=True)
class FlagUse:
    """A flag among the arguments, or an argument that belongs to none.

    Attributes:
        position: Where it stands.
        name: As it is written, without a value.
        flag: What it is; None where it is unknown.
        values: What it is given.
        joined: Whether the value is joined by ``=``.
        dotted: Whether it sets one key of a JSON value, as in ``--a.b 1``.
        stray: Whether it is no flag and no flag's value.
    """

    position: int
    name: str
    flag: Flag | None = None
    values: tuple[Value, ...] = ()
    joined: bool = False
    dotted: bool = False
    stray: bool = False


class CommandLine:
    """What a container is started with.

    Attributes:
        engine: Name of the engine that reads it; empty where none is known.
        tag: Tag of the image, which names the engine's version.
        words: Command and arguments.
    """

    def __init__(self, engine: str, tag: str, words: Sequence[str]) -> None:
        self.engine = engine
        self.tag = tag
        self.words = tuple(map(str, words))

    @property
    def is_script(self) -> bool:
        """Whether a shell runs it: what is appended to the arguments then never reaches the engine."""
        first = self.words[:3]
        return bool(first) and first[0].rpartition("/")[2] in _SHELLS and any(map(_RUNS_TEXT.fullmatch, first[1:]))

    def holds(self, flag: str) -> bool:
        """Tell whether it has a flag, with a value or without; a shell script is one of the words."""
        return re.search(rf"(?:^|\s){re.escape(flag)}(?=[\s=]|$)", " ".join(self.words)) is not None

    def value_of(self, *flags: str) -> str | None:
        """Return the value that it gives to the last of some flags."""
        named = "|".join(map(re.escape, flags))
        found: list[str] = re.findall(rf"(?:^|\s)(?:{named})(?:=|\s+)(\S+)", " ".join(self.words))
        return found[-1] if found else None


def start_of(table: EngineFlags, command: Sequence[str], args: Sequence[str], tag: str) -> int | None:
    """Return from which word of command and arguments on the engine reads; None where something else is run.

    What another program does with its words is not known: a shell, a script of one's own, a client in the same image.
    """
    words = [*command, *args]
    first = PurePosixPath(words[0]).name if words else ""
    if first in table.programs:
        return 1
    if _PYTHON.fullmatch(first):
        module = words.index("-m") + 1 if "-m" in words else len(words)
        return module + 1 if words[module : module + 1] and words[module] in table.programs else None
    if command or first in _SHELLS or tag.startswith(table.other_tags):
        return None
    return 0


def last_value(table: EngineFlags, args: Sequence[str], name: str, version: Version | None) -> str | None:
    """Return the value that a flag is given last, in any spelling of it; None without one."""
    wanted = table.find(name)
    found = [use.values[-1].text for use in split(table, args, version) if use.flag is wanted and use.values]
    return found[-1] if wanted and found else None


def split(table: EngineFlags, args: Sequence[str], version: Version | None) -> tuple[FlagUse, ...]:
    """Return the uses of flags in order; what follows an unknown flag may be its value and is left out."""
    uses: list[FlagUse] = []
    position = 0
    while position < len(args):
        if args[position] == "--" and table.style != LLAMA:
            uses += (FlagUse(at, args[at], stray=True) for at in range(position + 1, len(args)))
            break
        if not _is_flag(table, args[position]):
            uses.append(FlagUse(position, args[position], stray=True))
            position += 1
            continue
        use = _use(table, args, position, version)
        uses.append(use)
        position = max([position, *(value.position for value in use.values)]) + 1
        if use.flag is None:
            while position < len(args) and not _is_flag(table, args[position]):
                position += 1
    return tuple(uses)


def find(table: EngineFlags, name: str, version: Version | None) -> Flag | None:
    """Return the flag that a name means; argparse also takes the beginning of a name, if only one flag begins so."""
    flag = table.find(name)
    if flag or table.style != ARGPARSE or not name.startswith("--") or name == "--":
        return flag
    start = table.dashed(name)
    matches = [f for f in table.flags if f.span.is_in(version) and any(each.startswith(start) for each in f.names)]
    return matches[0] if len(matches) == 1 else None


def _is_flag(table: EngineFlags, arg: str) -> bool:
    """Tell a flag from a value: negative numbers and texts with spaces are values."""
    if not arg.startswith("-") or arg == "-" or _NEGATIVE.fullmatch(arg):
        return False
    return table.find(arg.partition("=")[0]) is not None or not any(letter.isspace() for letter in arg)


def _use(table: EngineFlags, args: Sequence[str], position: int, version: Version | None) -> FlagUse:
    arg = args[position]
    name, joint, value = arg.partition("=")
    joined = (Value(value, position),) if joint else ()
    flag = find(table, name, version)
    if flag is None and table.dotted and "." in name:
        owner = find(table, name.partition(".")[0], version)
        if owner is not None:
            given = joined or _following(table, args, position, 1)
            return FlagUse(position, name, owner, given, joined=bool(joint), dotted=True)
    if flag is None and table.style in (ARGPARSE, CLAP) and not arg.startswith("--"):
        short = table.find(arg[:_SHORT])
        if short is not None:
            return FlagUse(position, arg[:_SHORT], short, (Value(arg[_SHORT:].removeprefix("="), position),))
    if flag is None or joint:
        return FlagUse(position, name, flag, joined, joined=bool(joint))
    form = flag.at(version)
    if not form.takes_value or table.dashed(name) in flag.negatives:
        return FlagUse(position, name, flag)
    most = form.nargs if isinstance(form.nargs, int) else None if form.nargs in ("*", "+") else 1
    return FlagUse(position, name, flag, _following(table, args, position, most))


def _following(table: EngineFlags, args: Sequence[str], position: int, most: int | None) -> tuple[Value, ...]:
    """Return the values after a flag, up to ``most`` or to the next flag.

    llama.cpp would take the next flag for a value: to the reader that is a missing one all the same.
    """
    values: list[Value] = []
    for at in range(position + 1, len(args)):
        if len(values) == most or _ends_values(table, args[at]):
            break
        values.append(Value(args[at], at))
    return tuple(values)


def _ends_values(table: EngineFlags, arg: str) -> bool:
    if table.style == LLAMA:
        return table.find(arg.partition("=")[0]) is not None
    return arg == "--" or _is_flag(table, arg)
