"""``workbench cluster start | stop | status``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

STATE_DIR = Path(".workbench")
StateDir = Annotated[
    Path, typer.Option(help="Folder for the files of the cluster, including its kubeconfig.", file_okay=False)
]

_PIPE_WIDTH = 1000
"""Width for pipes, so that paths are not wrapped."""

app = typer.Typer(
    name="cluster",
    help="Run a real control plane on loopback, with nodes simulated by kwok.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    """Add the ``cluster`` commands."""
    parent.add_typer(app)


@app.command()
def start(state_dir: StateDir = STATE_DIR) -> None:
    """Start the cluster, or its stopped members.

    The first start builds the programs, which takes about three minutes on two cores.
    """
    from .cluster import SimulatedCluster

    console = _console()
    with shown_progress(console) as progress:
        running = SimulatedCluster(state_dir).start(progress=progress)
    status = f"started {', '.join(running.started)}" if running.started else "already running"
    console.print(f"simulated cluster: {status}; {running.server}", soft_wrap=True)
    console.print(_export(running.kubeconfig), soft_wrap=True)


@app.command()
def stop(state_dir: StateDir = STATE_DIR) -> None:
    """Stop the cluster, and keep its data for the next start."""
    from livefleet import LiveFolder, stop_live

    from .cluster import SimulatedCluster

    stopped = (*stop_live(LiveFolder(state_dir.resolve())), *SimulatedCluster(state_dir).stop())
    _console().print(f"stopped {', '.join(stopped)}" if stopped else "nothing was running")


@app.command()
def status(state_dir: StateDir = STATE_DIR) -> None:
    """Show the status of the members.

    Exit codes: 0 all members are running, 1 a member is not.
    """
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    from livefleet import LiveFolder, live_processes

    from .cluster import SimulatedCluster

    cluster = SimulatedCluster(state_dir)
    members = cluster.status()
    table = Table("member", "state", "pid", Column("log", overflow="fold"), box=None)
    for member in members:
        state = "running" if member.running else "stopped"
        table.add_row(member.name, state, str(member.pid or "-"), Text(str(member.log)))
    folder = LiveFolder(state_dir.resolve())
    processes = tuple(live_processes(folder))
    for process in processes:
        state = "running" if process.pid else "ended"
        table.add_row(process.name, state, str(process.pid or "-"), Text(str(folder.log(process.name))))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(table)
    if not all(member.running for member in members) or not all(process.pid for process in processes):
        raise typer.Exit(1)
    console.print(_export(cluster.kubeconfig), soft_wrap=True)


@contextmanager
def shown_progress(
    console: "Console", first: str = "starting the simulated cluster"
) -> Iterator[Callable[[str], None]]:
    """Show steps: on a terminal as one updating line with the elapsed time, elsewhere as log lines.

    While a program is built, the package (``title: package``) appears on a terminal only.
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    printed: set[str] = set()

    def print_once(step: str) -> None:
        title = step.partition(": ")[0] if step.startswith("building") else step
        if title not in printed:
            printed.add(title)
            console.print(title, soft_wrap=True, markup=False)

    if not console.is_terminal:
        yield print_once
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as display:
        task = display.add_task(first, total=None)
        yield lambda step: display.update(task, description=step)


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)


def _export(kubeconfig: Path) -> str:
    import shlex

    return f"export KUBECONFIG={shlex.quote(str(kubeconfig))}"
