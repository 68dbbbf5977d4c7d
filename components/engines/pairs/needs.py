"""What a side of a pair needs around its command line: variables, and ports that the other side reaches."""

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
        name: What they are for.
        first: Number of the first one.
        count: How many there are, one after the other.
    """

    name: str
    first: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Needs:
    """What a side needs.

    Attributes:
        variables: Variables of the container; one that the user sets is left to the user.
        ports: Ports that the other side must reach.
        any_port: Whether it must reach all others too: data goes over ports that are chosen at run time.
    """

    variables: tuple[Variable, ...] = ()
    ports: tuple[Ports, ...] = ()
    any_port: bool = False


def needs_of(line: CommandLine, role: Stage, variables: Mapping[str, str] | None = None) -> Needs:
    """Return what a side needs; nothing where its command line does not tell by what it hands over.

    Args:
        line: What its container is started with.
        role: Which side it is.
        variables: The user's own variables of the container.
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
    return [Ports(row.name, number, _count(row, own)) for row, number in found if number]


def _number(row: PortRow, part: Transfer, line: CommandLine, variables: Mapping[str, str]) -> int:
    """Return the number of the first port; 0 where it is not known."""
    if row.variable:
        text = variables.get(row.variable, "")
    elif row.json:
        text = str(part.document.get(row.json) or row.number)
    else:
        text = (line.value_of(row.setting) if row.setting else None) or str(row.number)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len("65535") else 0


def _count(row: PortRow, line: CommandLine) -> int:
    count = 1
    for setting in row.per:
        count *= line.number_of(Setting(setting)) or 1
    return count
