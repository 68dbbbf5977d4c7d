"""Splits arguments into flags and values, as the engine itself does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..versions import Version
from .rows import Flag
from .tables import ARGPARSE, CLAP, LLAMA, EngineFlags

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

    @property
    def last(self) -> int:
        """Where its last word stands."""
        return max(self.position, self.values[-1].position) if self.values else self.position

    @property
    def places(self) -> set[int]:
        """Where its words stand."""
        return {self.position, *(value.position for value in self.values)}

    def moved(self, by: int) -> "FlagUse":
        """Return the same use further on."""
        values = tuple(Value(value.text, value.position + by) for value in self.values)
        return FlagUse(self.position + by, self.name, self.flag, values, self.joined, self.dotted, self.stray)


def split(table: EngineFlags, args: Sequence[str], version: Version | None, first: int = 0) -> tuple[FlagUse, ...]:
    """Return the uses of flags in order; what follows an unknown flag may be its value and is left out.

    Args:
        table: The flags of the engine.
        args: What it reads.
        version: Its version.
        first: Where the first one stands.
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
    """Tell whether what follows some arguments is read as if nothing came before it."""
    if not uses:
        return not args
    if "--" in args:
        return False
    return ends_values(table, following) and is_flag(table, following)


def find(table: EngineFlags, name: str, version: Version | None) -> Flag | None:
    """Return the flag that a name means; argparse also takes the beginning of a name, if only one flag begins so."""
    flag = table.find(name)
    if flag or table.style != ARGPARSE or not name.startswith("--") or name == "--":
        return flag
    start = table.dashed(name)
    matches = [f for f in table.flags if f.span.includes(version) and any(each.startswith(start) for each in f.names)]
    return matches[0] if len(matches) == 1 else None


def is_flag(table: EngineFlags, arg: str) -> bool:
    """Tell a flag from a value: negative numbers and texts with spaces are values."""
    if not arg.startswith("-") or arg == "-" or _NEGATIVE.fullmatch(arg):
        return False
    return table.find(arg.partition("=")[0]) is not None or not any(letter.isspace() for letter in arg)


def ends_values(table: EngineFlags, arg: str) -> bool:
    """Tell whether an argument is surely no value of the flag before it."""
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

    llama.cpp would take the next flag for a value: to the reader that is a missing one all the same.
    """
    values: list[Value] = []
    for at in range(position + 1, len(args)):
        if len(values) == most or ends_values(table, args[at]):
            break
        values.append(Value(args[at], at + first))
    return tuple(values)
