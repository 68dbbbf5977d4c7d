"""Splits arguments into flags and values, as the engine's own parser does."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..versions import Version
from .rows import Flag
from .tables import ARGPARSE, CLAP, LLAMA, EngineFlags

_NEGATIVE = re.compile(r"-\d+(\.\d*)?|-\.\d+")
_SHORT = 2
"""Length of a one-letter flag such as ``-q``, which its value may follow without a space."""


class Value(NamedTuple):
    """A value and its index among the arguments."""

    text: str
    position: int


class FlagUse(NamedTuple):
    """A flag among the arguments, or an argument that belongs to none.

    Attributes:
        position: Its index.
        name: The flag as written, without a value.
        flag: The known flag; None if it is unknown.
        values: Its values.
        joined: Whether the value is joined by ``=``.
        dotted: Whether it sets one key of a JSON value, as in ``--a.b 1``.
        stray: Whether the argument is neither a flag nor the value of one.
    """

    position: int
    name: str
    flag: Flag | None = None
    values: tuple[Value, ...] = ()
    joined: bool = False
    dotted: bool = False
    stray: bool = False

    @property
    def last(self) -> int:
        """Index of its last argument."""
        return max(self.position, self.values[-1].position) if self.values else self.position

    @property
    def places(self) -> set[int]:
        """Indexes of its arguments."""
        return {self.position, *(value.position for value in self.values)}

    def moved(self, by: int) -> "FlagUse":
        """Return the same use with shifted indexes."""
        values = tuple(Value(value.text, value.position + by) for value in self.values)
        return FlagUse(
            position=self.position + by,
            name=self.name,
            flag=self.flag,
            values=values,
            joined=self.joined,
            dotted=self.dotted,
            stray=self.stray,
        )


def split(table: EngineFlags, args: Sequence[str], version: Version | None, first: int = 0) -> tuple[FlagUse, ...]:
    """Return the uses of flags in order; arguments after an unknown flag may be its values and are skipped.

    Args:
        table: The flags of the engine.
        args: The arguments.
        version: The engine's version.
        first: Index of the first argument.
    """
    uses: list[FlagUse] = []
    position = 0
    while position < len(args):
        if args[position] == "--" and table.style != LLAMA:
            uses += (FlagUse(at + first, args[at], stray=True) for at in range(position + 1, len(args)))
            break
        if not is_flag(table, args[position]):
            uses.append(FlagUse(position + first, args[position], stray=True))
            position += 1
            continue
        use = _use(table, args, position, version, first)
        uses.append(use)
        position = use.last - first + 1
        if use.flag is None:
            while position < len(args) and not is_flag(table, args[position]):
                position += 1
    return tuple(uses)


def is_closed(table: EngineFlags, args: Sequence[str], uses: Sequence[FlagUse], following: str) -> bool:
    """Return whether the following arguments are parsed independently of some arguments before them."""
    if not uses:
        return not args
    if "--" in args:
        return False
    return ends_values(table, following) and is_flag(table, following)


def find(table: EngineFlags, name: str, version: Version | None) -> Flag | None:
    """Return the flag for a name; argparse also accepts an unambiguous prefix."""
    flag = table.find(name, version)
    if flag or table.style != ARGPARSE or not name.startswith("--") or name == "--":
        return flag
    start = table.dashed(name)
    matches = [flag for flag in table.known_in(version) if any(n.startswith(start) for n in flag.names_in(version))]
    return matches[0] if len(matches) == 1 else None


def is_flag(table: EngineFlags, arg: str) -> bool:
    """Return whether an argument is a flag; negative numbers and text with spaces are values."""
    if not arg.startswith("-") or arg == "-" or _NEGATIVE.fullmatch(arg):
        return False
    return table.find(arg.partition("=")[0]) is not None or not any(letter.isspace() for letter in arg)


def ends_values(table: EngineFlags, arg: str) -> bool:
    """Return whether an argument cannot be a value of the flag before it."""
    if table.style == LLAMA:
        return table.find(arg.partition("=")[0]) is not None
    return arg == "--" or is_flag(table, arg)


def _use(table: EngineFlags, args: Sequence[str], position: int, version: Version | None, first: int) -> FlagUse:
    arg, place = args[position], position + first
    name, joint, value = arg.partition("=")
    joined = (Value(value, place),) if joint else ()
    flag = find(table, name, version)
    if flag is None and table.dotted and "." in name:
        owner = find(table, name.partition(".")[0], version)
        if owner is not None:
            given = joined or _following(table, args, position, 1, first)
            return FlagUse(place, name, owner, given, joined=bool(joint), dotted=True)
    if flag is None and table.style in (ARGPARSE, CLAP) and not arg.startswith("--"):
        short = table.find(arg[:_SHORT])
        if short is not None:
            return FlagUse(place, arg[:_SHORT], short, (Value(arg[_SHORT:].removeprefix("="), place),))
    if flag is None or joint:
        return FlagUse(place, name, flag, joined, joined=bool(joint))
    form = flag.form_in(version)
    if not form.takes_value or table.dashed(name) in flag.negatives:
        return FlagUse(place, name, flag)
    most = form.nargs if isinstance(form.nargs, int) else None if form.nargs in ("*", "+") else 1
    return FlagUse(place, name, flag, _following(table, args, position, most, first))


def _following(
    table: EngineFlags, args: Sequence[str], position: int, most: int | None, first: int
) -> tuple[Value, ...]:
    """Return the values after a flag, up to ``most`` or to the next flag.

    llama.cpp would parse the next flag as a value; users are better served by the message that a value is missing.
    """
    values: list[Value] = []
    for at in range(position + 1, len(args)):
        if len(values) == most or ends_values(table, args[at]):
            break
        values.append(Value(args[at], at + first))
    return tuple(values)
