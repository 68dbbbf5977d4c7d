"""``workbench cluster start | stop | status``."""

from pathlib import Path
from typing import Annotated

import typer

STATE_DIR = Path(".workbench")
StateDir = Annotated[
    Path, typer.Option(help="Folder for the cluster's files; the kubeconfig is written there.")
]

app = typer.Typer(
    name="cluster",
    help="Run a real control plane on loopback, with kwok playing the nodes.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    """Add the ``cluster`` commands."""
    parent.add_typer(app)


@app.command()
def start(state_dir: StateDir = STATE_DIR) -> None:
    """Start the cluster, or what of it does not run. The first start builds the programs."""
    from rich.console import Console

    from . import binaries
    from .cluster import Cluster

    console = Console(stderr=True, highlight=False)
    with console.status("starting the simulated cluster") as status:
        running = Cluster(state_dir).start(binaries.find, lambda step: status.update(step))
    what = f"started {', '.join(running.started)}" if running.started else "already running"
    console.print(f"simulated cluster: {what}; {running.server}")
    console.print(f"export KUBECONFIG={running.kubeconfig}", soft_wrap=True)


@app.command()
def stop(state_dir: StateDir = STATE_DIR) -> None:
    """Stop the cluster; its data stay for the next start."""
    from rich.console import Console

    from .cluster import Cluster

    stopped = Cluster(state_dir).stop()
    Console(stderr=True, highlight=False).print(
        f"stopped {', '.join(stopped)}" if stopped else "nothing was running"
    )


@app.command()
def status(state_dir: StateDir = STATE_DIR) -> None:
    """Show which members run. Exits with 1 when one does not."""
    from rich.console import Console
    from rich.table import Table

    from .cluster import Cluster

    members = Cluster(state_dir).status()
    table = Table("member", "state", "pid", "log", box=None)
    for member in members:
        table.add_row(
            member.name, "running" if member.running else "stopped", str(member.pid or "-"), str(member.log)
        )
    Console(highlight=False).print(table)
    if not all(member.running for member in members):
        raise typer.Exit(1)
