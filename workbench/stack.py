"""Commands that run the stack: ``up``, ``preview``, ``destroy``, ``outputs``."""

import enum
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .asking import agree, confirm, progress
from .cluster.private import private_folder
from .errors import WorkbenchError
from .printing import Format
from .subject import complete_stack

if TYPE_CHECKING:
    from .engine.local import LocalEngine
    from .engine.pulumi_cli import PulumiCli

STATE_DIR = ".workbench"


class Deployer(enum.StrEnum):
    """Who deploys."""

    AUTO = "auto"
    PULUMI = "pulumi"
    LOCAL = "local"


Stack = Annotated[
    str,
    typer.Option(help="Stack to use; Pulumi.<stack>.yaml holds its settings.", autocompletion=complete_stack),
]
Who = Annotated[
    Deployer,
    typer.Option(help="auto uses the Pulumi CLI if it is on the PATH, otherwise the local engine."),
]
Kubeconfig = Annotated[
    str, typer.Option(help="Deploy to this cluster instead of the one in the settings.", metavar="FILE")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]
Offline = Annotated[
    bool, typer.Option("--offline", help="Compare with the saved state only; do not contact the cluster.")
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for workloads to become available.")]
Seconds = Annotated[float, typer.Option("--timeout", help="Seconds to wait for each workload.")]
StartCluster = Annotated[
    bool, typer.Option("--start-cluster", help="Start the simulated cluster first (make up does).")
]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command in (up, preview, destroy, outputs):
        app.command()(command)


@dataclass(slots=True)
class _Call:
    """What every command is given."""

    stack: str
    engine: Deployer
    kubeconfig: str
    cwd: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def state_dir(self) -> Path:
        return self.cwd / STATE_DIR

    def cli(self) -> "PulumiCli | None":
        """Return the Pulumi CLI when it is what shall deploy."""
        from .engine.pulumi_cli import PulumiCli, installed

        if self.engine is Deployer.LOCAL:
            return None
        if installed():
            return PulumiCli(self.cwd, self.stack, self.state_dir, self.kubeconfig)
        if self.engine is Deployer.PULUMI:
            raise WorkbenchError("pulumi is not on the PATH; install the Pulumi CLI, or use --engine local")
        return None

    def local(self, status: Callable[[str], None] = lambda _: None, *, as_json: bool = False) -> "LocalEngine":
        """Return the local engine."""
        from .engine.display import Display, JsonDisplay
        from .engine.local import LocalEngine, RunOptions
        from .engine.project import load_project

        given = str(Path(self.kubeconfig).resolve()) if self.kubeconfig else ""
        if given and not Path(given).is_file():
            raise WorkbenchError(f"--kubeconfig: file {self.kubeconfig} does not exist")
        project = load_project(self.cwd, self.stack, {"kubeconfig": given} if given else None)
        options: RunOptions = RunOptions(kubeconfig=given, status=status, **self.options)
        named = project.kubeconfig  # a stack that makes its cluster has none
        # Path's own raises where the name is too long.
        if options.offline and named and not os.path.isfile(self.cwd / named):  # noqa: PTH113
            stand_in = {"kubeconfig": str(_stand_in(self.state_dir))}
            project = load_project(self.cwd, self.stack, stand_in)
        display = JsonDisplay() if as_json else Display()
        return LocalEngine(project, self.state_dir / "stacks", display, options)


def up(
    *,
    stack: Stack = "local",
    engine: Who = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    yes: Yes = False,
    cwd: Cwd = Path(),
    no_wait: NoWait = False,
    timeout: Seconds = 300.0,
    start_cluster: StartCluster = False,
) -> None:
    """Deploy the stack.

    The local engine asks for confirmation before it changes a cluster other than the workbench's own.
    """
    call = _Call(stack, engine, kubeconfig, cwd.resolve())
    if start_cluster and not kubeconfig:
        _start(call)
    cli = call.cli()
    if cli:
        _exit(cli.up(yes=yes or start_cluster))
        _table(cli.outputs(), call)
        return
    ask = bool(kubeconfig) and not yes
    call.options = {"wait": not no_wait, "seconds": timeout, "confirm": confirm if ask else agree}
    with progress("deploying", asking=ask) as status:
        outcome = call.local(status).up()
    if not outcome.ok:
        raise typer.Exit(1)
    _table(outcome.outputs, call)


def preview(
    *,
    stack: Stack = "local",
    engine: Who = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    cwd: Cwd = Path(),
    offline: Offline = False,
    output: Annotated[Format, typer.Option(help="text, or json for other programs.")] = Format.TEXT,
) -> None:
    """Show what `up` would change, field by field."""
    call = _Call(stack, engine, kubeconfig, cwd.resolve(), {"offline": offline})
    cli = None if offline else call.cli()
    if cli:
        _exit(cli.preview(as_json=output is Format.JSON))
        return
    call.local(as_json=output is Format.JSON).preview()


def destroy(
    *,
    stack: Stack = "local",
    engine: Who = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    yes: Yes = False,
    cwd: Cwd = Path(),
) -> None:
    """Delete everything that the stack created."""
    call = _Call(stack, engine, kubeconfig, cwd.resolve(), {"confirm": agree if yes else confirm})
    cli = call.cli()
    if cli:
        _exit(cli.destroy(yes=yes))
        return
    with progress("deleting", asking=not yes) as status:
        outcome = call.local(status).destroy()
    if not outcome.ok:
        raise typer.Exit(1)


def outputs(
    *,
    stack: Stack = "local",
    engine: Who = Deployer.AUTO,
    cwd: Cwd = Path(),
    output: Annotated[Format, typer.Option(help="text, or json for other programs.")] = Format.TEXT,
) -> None:
    """Print the stack outputs of the last `up`."""
    call = _Call(stack, engine, "", cwd.resolve())
    cli = call.cli()
    found = cli.outputs() if cli else call.local().outputs()
    if output is Format.JSON:
        sys.stdout.write(json.dumps(found, indent=2, sort_keys=True) + "\n")
        return
    for name in sorted(found):
        sys.stdout.write(f"{name}: {json.dumps(found[name], sort_keys=True)}\n")


def _stand_in(folder: Path) -> Path:
    """Return a kubeconfig that leads nowhere, for programs that insist on one when only a plan is made."""
    private_folder(folder)
    path = folder / "offline.kubeconfig"
    path.write_text("apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n")
    return path


def _exit(code: int) -> None:
    if code:
        raise typer.Exit(code)


def _start(call: _Call) -> None:
    """Start the simulated cluster; if it must be built first, show the plan before.

    Raises:
        WorkbenchError: there can be none on this machine.
    """
    from rich.console import Console

    from .cluster.binaries import NoControlPlaneError, unbuilt
    from .cluster.cluster import SimulatedCluster
    from .cluster.commands import shown_progress

    console = Console(stderr=True, highlight=False, markup=False)
    if missing := unbuilt():
        _show_plan(call)
        console.print(
            f"\nThis is the plan of stack {call.stack!r}. Next the control plane is built, once for all clones "
            f"({', '.join(missing)}): it takes about three minutes on two cores, and the time left is shown.",
            soft_wrap=True,
        )
    try:
        with shown_progress(console) as progress:
            running = SimulatedCluster(call.state_dir).start(progress=progress)
    except NoControlPlaneError as error:
        raise WorkbenchError(
            "\n"
            "Nothing was deployed, because no control plane is available here.\n"
            f"{error}\n"
            "\n"
            "The stack was validated, planned and rendered."
        ) from None
    what = f"started {', '.join(running.started)}" if running.started else "already running"
    console.print(f"simulated cluster: {what}; {running.server}", soft_wrap=True)


def _show_plan(call: _Call) -> None:
    """Show models, nodes and endpoints as they will be, with everything that is wrong or hardly as meant."""
    from .table import show

    show(replace(call, options={"offline": True}).local().record(preview=True).exports, "")


def _table(outputs_: dict[str, Any], call: _Call) -> None:
    from .engine.project import ProjectFiles, section
    from .table import show

    files = ProjectFiles(call.cwd, call.stack)
    setting = section(files.stored(), files.settings).get(f"{files.name}:kubeconfig", "")
    show(outputs_, call.kubeconfig or str(call.cwd / str(setting)))
