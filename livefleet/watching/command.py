"""The commands ``watch``, ``fault`` and ``speed``."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.errors import UserError
from toolkit.printing import Format

from ..option_values import LiveFault, Order, Speeds

if TYPE_CHECKING:
    from ..control_client import ControlClient

Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]
Output = Annotated[Format, typer.Option(help="text, or json for other programs.")]
Once = Annotated[bool, typer.Option("--once", help="Show the fleet as it is now, and end.")]
Model = Annotated[
    str, typer.Option(help="Pick a pod, node or zone of this model: its key in the outputs, or what clients ask for.")
]
Name = Annotated[
    str,
    typer.Argument(
        help="Of the node, pod (namespace/name) or zone; without it, the one with the most requests.",
        show_default=False,
    ),
]
What = Annotated[LiveFault, typer.Argument(help="What shall happen.", show_default=False)]
Answers = Annotated[
    float | None,
    typer.Option(min=Speeds.SLOWEST, max=Speeds.FASTEST, metavar="N", help=Speeds.ANSWERS_HELP),
]
Starts = Annotated[
    float | None,
    typer.Option(min=Speeds.SLOWEST, max=Speeds.FASTEST, metavar="N", help=Speeds.STARTS_HELP),
]


Filter = Annotated[
    str,
    typer.Option("--filter", metavar="TEXT", help="Show the models whose name, or name for clients, contains it."),
]
Sort = Annotated[Order, typer.Option("--sort", help="What comes first in the table of models.")]


def register(app: typer.Typer) -> None:
    """Add this package's commands."""
    for command in (watch, fault, speed):
        app.command()(command)


def watch(
    *,
    filter_: Filter = "",
    sort: Sort = Order.MOVEMENT,
    cwd: Cwd = Path(),
    once: Once = False,
    output: Output = Format.TEXT,
) -> None:
    """Show the live fleet: replicas, queues, autoscalers' wishes, nodes, cost; q or Ctrl-C leaves.

    What moves comes first. Arrows and PgUp/PgDn scroll, / filters, s sorts, Tab goes to the nodes and back.
    Everything is simulated. Where there is no terminal, or with --output json, it writes lines again and again;
    --once ends after the first.
    """
    from . import lines, screen
    from .viewport import Viewport

    control, looking = _control(cwd), Viewport(filter_, sort)
    if output is Format.JSON:
        lines.as_json(control, looking, once=once)
    elif once:
        screen.show_once(control.state(), looking)
    elif sys.stdout.isatty():
        screen.show(control, looking)
    else:
        lines.as_text(control, looking)


def fault(what: What, name: Name = "", *, model: Model = "", cwd: Cwd = Path(), output: Output = Format.TEXT) -> None:
    """Make something happen to the live fleet, as it happens in life.

    node: a node is gone at once, with its pods. pod: the process of a pod is killed. spot: the cloud takes a spot
    node back in two minutes. zone: all nodes of a zone are gone at once.
    """
    from components.contract.texts.printable import printable

    from .fault_target import default_target

    if name and model:
        raise UserError("--model: picks one where none is named; leave out the name, or --model", 2)
    control = _control(cwd)
    chosen = name or default_target(control.state(), what, model)
    if not name and output is Format.TEXT:
        typer.echo(f"{what.value} {printable(chosen)}: the one with the most requests" + _whose(model))
    found = control.fault(what, chosen)
    if output is Format.JSON:
        sys.stdout.write(json.dumps(asdict(found), indent=2) + "\n")
        return
    for line in _outcome(found.text, found.pods):
        typer.echo(printable(line))


def speed(*, answers: Answers = None, starts: Starts = None, cwd: Cwd = Path(), output: Output = Format.TEXT) -> None:
    """Show how much faster than life the live fleet is, or change it."""
    control = _control(cwd)
    if answers is None and starts is None:
        state = control.state()
        found = state.speed, state.start_speed
    else:
        found = control.speed(answers, starts)
    if output is Format.JSON:
        sys.stdout.write(json.dumps({"answers": found[0], "starts": found[1]}) + "\n")
        return
    typer.echo(f"answers: {found[0]:g} x as fast as in life")
    typer.echo(f"starts of nodes and pods: {found[1]:g} x as fast as in life")


def _control(cwd: Path) -> "ControlClient":
    from toolkit.private import STATE_DIR

    from ..control_client import ControlClient
    from ..folder import LiveFolder

    return ControlClient.of(LiveFolder(cwd.resolve() / STATE_DIR))


def _whose(model: str) -> str:
    from components.contract.texts.printable import printable

    return f" of {printable(model)}" if model else ""


def _outcome(text: str, pods: tuple[str, ...]) -> list[str]:
    from toolkit.printing import pluralize

    return [
        f"{text} (simulated)",
        f"{pluralize(len(pods), 'pod')}: {', '.join(pods)}" if pods else "no pod that serves was on it",
        "`workbench watch` shows what becomes of it; a running `workbench load` counts what its clients saw",
    ]
