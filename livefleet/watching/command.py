"""The commands ``watch``, ``fault`` and ``speed``."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.errors import UserError
from toolkit.printing import Format, Output

from ..option_values import LiveFault, Order, Speeds

if TYPE_CHECKING:
    from ..control_client import ControlClient

Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]
Once = Annotated[bool, typer.Option("--once", help="Show the current state and exit.")]
Model = Annotated[
    str,
    typer.Option(help="Choose a pod, node or zone of this model: its key in the outputs, or model name."),
]
Name = Annotated[
    str,
    typer.Argument(
        help="Name of the node, pod (namespace/name) or zone. By default, the one with the most requests.",
        show_default=False,
    ),
]
What = Annotated[LiveFault, typer.Argument(help="Kind of fault.", show_default=False)]
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
Sort = Annotated[Order, typer.Option("--sort", help="Sort order of the table of models.")]


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
    """Show the live fleet: replicas, queues, autoscalers, nodes, cost; q or Ctrl-C quits.

    Active models come first. Arrows and PgUp/PgDn scroll, / filters, s sorts, Tab switches to the nodes and back.
    Everything is simulated. Without a terminal, or with --output json, lines are written continuously; --once exits
    after the first state.
    """
    from . import lines, screen
    from .viewport import Viewport

    control, viewport = _control(cwd), Viewport(filter_, sort)
    if output is Format.JSON:
        lines.as_json(control, viewport, once=once)
    elif once:
        screen.show_once(control.state(), viewport)
    elif sys.stdout.isatty():
        screen.show(control, viewport)
    else:
        lines.as_text(control, viewport)


def fault(what: What, name: Name = "", *, model: Model = "", cwd: Cwd = Path(), output: Output = Format.TEXT) -> None:
    """Inject a fault into the live fleet.

    node: a node disappears at once, with its pods. pod: the process of a pod is killed. spot: the cloud reclaims a
    spot node in two minutes. zone: all nodes of a zone disappear at once.
    """
    from components.contract.texts.printable import printable

    from .fault_target import default_target

    if name and model:
        raise UserError("--model: is for a fault without a name; leave out the name, or --model", 2)
    control = _control(cwd)
    target = name or default_target(control.state(), what, model)
    if not name and output is Format.TEXT:
        of_model = f" of {printable(model)}" if model else ""
        typer.echo(f"{what.value} {printable(target)}: the one with the most requests{of_model}")
    outcome = control.fault(what, target)
    if output is Format.JSON:
        sys.stdout.write(json.dumps(asdict(outcome), indent=2) + "\n")
        return
    typer.echo(printable(f"{outcome.text} (simulated)"))
    typer.echo(printable(f"affected pods: {', '.join(outcome.pods) or 'none'}"))
    typer.echo("`workbench live watch` shows the effect; a running `workbench live load` counts failed requests")


def speed(*, answers: Answers = None, starts: Starts = None, cwd: Cwd = Path(), output: Output = Format.TEXT) -> None:
    """Show how much faster than real time the live fleet is, or change it."""
    control = _control(cwd)
    if answers is None and starts is None:
        state = control.state()
        answer_speed, start_speed = state.speed, state.start_speed
    else:
        answer_speed, start_speed = control.speed(answers, starts)
    if output is Format.JSON:
        sys.stdout.write(json.dumps({"answers": answer_speed, "starts": start_speed}) + "\n")
        return
    typer.echo(f"answers: {answer_speed:g} x real time")
    typer.echo(f"starts of nodes and pods: {start_speed:g} x real time")


def _control(cwd: Path) -> "ControlClient":
    from toolkit.private import STATE_DIR

    from ..control_client import ControlClient
    from ..folder import LiveFolder

    return ControlClient.of(LiveFolder(cwd.resolve() / STATE_DIR))
