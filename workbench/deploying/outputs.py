"""What ``workbench outputs`` shows: the models of a stack, and its other outputs as indented lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.contract.texts.printable import printable
from toolkit.printing import pluralize
from toolkit.screen import Screen, write

from .call import StackCall
from .starting import is_playable
from .tables import LOOPBACK, StackReport, show_headline, with_addresses

_SHOWN = ("models", "endpoints", LOOPBACK)
"""Outputs that the table of models shows."""
_DETAILS = ("cost", "nodes", "prerequisites")
"""Outputs of a fleet that answer no first question."""
_MOST_LINES = 12
"""Lines of another output without details."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """The outputs of a stack.

    Attributes:
        values: Secrets masked; with the addresses of a live fleet.
        problem: Why there are none, or why nothing answers at the addresses; empty without a problem.
    """

    values: Mapping[str, Any]
    problem: str = ""


def read_outputs(call: StackCall) -> Deployed:
    """Return the outputs after the last ``up``.

    Raises:
        WorkbenchError: the project or the stack does not exist, or its state cannot be read.
    """
    from ..cluster.cluster import SimulatedCluster

    cli = call.cli()
    project = call.sealed_project()
    simulated = project is not None and is_playable(project, call.state_dir)
    command = "workbench up" + (f" --stack {call.stack}" if call.stack != "local" else "")
    command += " --start-cluster" if simulated else ""
    if cli:
        values, is_deployed = cli.outputs(), True
    else:
        engine = call.local()
        is_deployed = engine.is_deployed()
        values = engine.outputs() if is_deployed else {}
    if not is_deployed:
        return Deployed({}, f"stack {call.stack!r} is not deployed, so it has no outputs; run `{command}`")
    if not values:
        reason = "its program exports none, or its last `up` did not succeed"
        return Deployed({}, f"stack {call.stack!r} has no outputs: {reason}; run `{command}`")
    values = with_addresses(values, call)
    if simulated and not any(member.running for member in SimulatedCluster(call.state_dir).status()):
        reason = "the simulated cluster is not running, so nothing answers at these addresses"
        return Deployed(values, f"{reason}; run `{command}`")
    return Deployed(values)


def show_outputs(deployed: Deployed, call: StackCall, *, details: bool) -> None:
    """Print the models with their addresses, then the other outputs."""
    values = deployed.values
    if not values:
        return
    screen = Screen.of()
    report = StackReport.of(call, values, asks=False)
    others = [name for name in sorted(values) if name not in (*_SHOWN, *_DETAILS)]
    hidden = [name for name in _DETAILS if name in values]
    show_headline(report, *([] if report.models else [pluralize(len(values), "output")]))
    lines: list[str] = []
    if report.models or report.endpoints:
        lines += report.model_lines(screen, details=details)
    if details:
        others, hidden = sorted(values), []
    for name in others:
        nested = list(nested_lines(name, values[name]))
        if len(nested) > _MOST_LINES and not details:
            hidden.append(name)
        else:
            lines += nested
    if hidden:
        lines += screen.text(f"(--details: {', '.join(hidden)}; -o json: everything)")
    write(lines)


def nested_lines(name: str, value: object, indent: str = "") -> Iterator[str]:
    """Yield a value below its name: maps and lists of maps as indented lines, other lists in one line."""
    title = f"{indent}{printable(name)}:"
    if isinstance(value, Mapping):
        yield title if value else f"{title} none"
        for key in sorted(value):
            yield from nested_lines(str(key), value[key], f"{indent}  ")
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        yield title
        for number, item in enumerate(value, 1):
            yield from nested_lines(str(number), item, f"{indent}  ")
    elif isinstance(value, list):
        yield f"{title} {', '.join(map(_scalar, value)) or 'none'}"
    else:
        yield f"{title} {_scalar(value)}".rstrip()


def _scalar(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return printable(str(value))
