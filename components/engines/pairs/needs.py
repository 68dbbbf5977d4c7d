"""The variables and ports that a side of a pair needs besides its arguments."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..command_line import CommandLine
from ..scripts.commands import engine_line
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
    transfer, user = transfer_of(line), dict(variables or {})
    carriers = [(carrier, carrier.known) for carrier in transfer.carriers if carrier.known] if transfer else []
    required = {
        variable.name: variable
        for _, connector in carriers
        for sides, variable in connector.variables
        if role in sides and variable.name not in user
    }
    values = {name: variable.value for name, variable in required.items()} | user
    own = engine_line(line) or line
    ports: dict[str, Ports] = {}
    for carrier, connector in carriers:
        for row in connector.ports:
            if role in row.sides and row.span.includes(carrier.version):
                first = _first_port(row, carrier, own, values)
                count = math.prod(own.number_of(setting) or 1 for setting in row.per)
                if first:
                    ports[row.name] = Ports(row.name, first, count)
    any_port = any(connector.any_port for _, connector in carriers)
    return Needs(tuple(required.values()), tuple(ports.values()), any_port)


def _first_port(row: PortRow, carrier: Transfer, line: CommandLine, variables: Mapping[str, str]) -> int:
    """Return the first port; 0 if unknown."""
    if row.variable:
        text = variables.get(row.variable, "")
    elif row.json:
        text = str(carrier.document.get(row.json) or row.number)
    else:
        text = (line.value_of(row.setting) if row.setting else None) or str(row.number)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len("65535") else 0
