"""``workbench cluster start | stop | status``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.screen import Details, Screen, Styled, TableColumn, write

if TYPE_CHECKING:
    from rich.console import Console

STATE_DIR = Path(".workbench")
StateDir = Annotated[
    Path, typer.Option(help="Folder for the files of the cluster, including its kubeconfig.", file_okay=False)
]

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

    The first start on a machine builds the programs, which takes minutes.
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
def status(state_dir: StateDir = STATE_DIR, *, details: Details = False) -> None:
    """Show the status of the members.

    Exit codes: 0 all members are running, 1 a member is not.
    """
    from livefleet import LiveFolder, live_processes

    from .cluster import SimulatedCluster

    cluster, folder = SimulatedCluster(state_dir), LiveFolder(state_dir.resolve())
    rows = [(each.name, "running" if each.running else "stopped", each.pid, each.log) for each in cluster.status()]
    rows += [
        (process.name, "running" if process.pid else "ended", process.pid, folder.log(process.name))
        for process in live_processes(folder)
    ]
    running = sum(state == "running" for _, state, _, _ in rows)
    screen = Screen.of()
    write(screen.text(f"simulated cluster: {running} of {len(rows)} members are running", "bold"))
    columns = [TableColumn("MEMBER", whole=True), TableColumn("STATE"), TableColumn("PID", right=True)]
    cells: list[list[str | Styled]] = [
        [name, Styled(state, "good" if state == "running" else "error"), str(pid or "-")]
        for name, state, pid, _ in rows
    ]
    if details:
        columns.append(TableColumn("LOG", whole=True))
        cells = [[*cell, _near(log)] for cell, (_, _, _, log) in zip(cells, rows, strict=True)]
    write(screen.table(columns, cells))
    if not details:
        write(screen.left_out(["logs"]))
    if running < len(rows):
        raise typer.Exit(1)
    write([_export(cluster.kubeconfig)])


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


def _near(path: Path) -> str:
    """Return a path relative to the current folder if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _export(kubeconfig: Path) -> str:
    from components.contract.texts.outputs import shell_word

    return f"export KUBECONFIG={shell_word(str(kubeconfig))}"
