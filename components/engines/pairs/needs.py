"""The variables and ports that a side of a pair needs besides its arguments."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..command_line import CommandLine
from ..scripts.commands import engine_line
from ..settings import Setting
from .reading import Transfer, transfer_of
from .rows import PortRow, Stage, Variable


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports that a side listens on.

    Attributes:
        name: Their purpose.
        first: The first port.
        count: Number of consecutive ports.
    """

    name: str
    first: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of a side.

    Attributes:
        variables: Variables of the container, except those that the user sets.
        ports: Ports that the other side must reach.
        any_port: Whether the other side must reach all ports, because data uses ports chosen at run time.
    """

    variables: tuple[Variable, ...] = ()
    ports: tuple[Ports, ...] = ()
    any_port: bool = False


def needs_of(line: CommandLine, role: Stage, variables: Mapping[str, str] | None = None) -> Needs:
    """Return the requirements of a side; empty if its command line has no transfer settings.

    Args:
        line: The command line of its container.
        role: The side.
        variables: The variables that the user sets on the container.
    """
    transfer, given = transfer_of(line), dict(variables or {})
    parts = [part for part in transfer.carriers if part.known] if transfer else []
    wanted = {
        variable.name: variable
        for part in parts
        for sides, variable in (part.known.variables if part.known else ())
        if role in sides and variable.name not in given
    }
    known = {name: variable.value for name, variable in wanted.items()} | given
    ports = {ports.name: ports for part in parts for ports in _ports(part, line, role, known)}
    any_port = any(part.known.any_port for part in parts if part.known)
    return Needs(tuple(wanted.values()), tuple(ports.values()), any_port)


def _ports(part: Transfer, line: CommandLine, role: Stage, variables: Mapping[str, str]) -> list[Ports]:
    known, own = part.known, engine_line(line) or line
    rows = [row for row in (known.ports if known else ()) if role in row.sides and row.span.includes(part.version)]
    found = [(row, _number(row, part, own, variables)) for row in rows]
    return [
        Ports(row.name, number, math.prod(own.number_of(Setting(setting)) or 1 for setting in row.per))
        for row, number in found
        if number
    ]


def _number(row: PortRow, part: Transfer, line: CommandLine, variables: Mapping[str, str]) -> int:
    """Return the first port; 0 if unknown."""
    if row.variable:
        text = variables.get(row.variable, "")
    elif row.json:
        text = str(part.document.get(row.json) or row.number)
    else:
        text = (line.value_of(row.setting) if row.setting else None) or str(row.number)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len("65535") else 0
