"""Commands that deploy a stack: ``up``, ``preview``, ``destroy``, ``outputs``."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from livefleet import Speeds
from toolkit.printing import Format, Output

from .deploying.call import Deployer, StackCall
from .prompts import agree, confirm, progress
from .subject import complete_stack

Stack = Annotated[
    str,
    typer.Option(help="Stack to operate on; reads Pulumi.<stack>.yaml.", autocompletion=complete_stack),
]
Engine = Annotated[
    Deployer,
    typer.Option(help="Deployment engine; auto uses the Pulumi CLI if it is on the PATH, else the local engine."),
]
Kubeconfig = Annotated[
    str,
    typer.Option(help="Kubeconfig of the cluster to deploy to, instead of the one in the settings.", metavar="FILE"),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip confirmation prompts.")]
Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]
Offline = Annotated[
    bool, typer.Option("--offline", help="Compare with the saved state only, without contacting the cluster.")
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for workloads to become ready.")]
Seconds = Annotated[float, typer.Option("--timeout", help="Seconds to wait for each workload.")]
NoLive = Annotated[
    bool, typer.Option("--no-live", help="Do not simulate model servers; pods become Ready immediately.")
]
Speed = Annotated[
    float | None,
    typer.Option(
        "--speed", min=Speeds.SLOWEST, max=Speeds.FASTEST, metavar="N", help=f"{Speeds.ANSWERS_HELP} Default: 1."
    ),
]
StartSpeed = Annotated[
    float | None,
    typer.Option(
        "--start-speed",
        min=Speeds.SLOWEST,
        max=Speeds.FASTEST,
        metavar="N",
        help=f"{Speeds.STARTS_HELP} Default: 60.",
    ),
]
StartCluster = Annotated[
    bool, typer.Option("--start-cluster", help="Start the simulated cluster first, as `make up` does.")
]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command in (up, preview, destroy, outputs):
        app.command()(command)


def up(
    *,
    stack: Stack = "local",
    engine: Engine = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    yes: Yes = False,
    cwd: Cwd = Path(),
    no_wait: NoWait = False,
    timeout: Seconds = 300.0,
    start_cluster: StartCluster = False,
    speed: Speed = None,
    start_speed: StartSpeed = None,
    no_live: NoLive = False,
) -> None:
    """Create or update the resources of a stack.

    The local engine asks for confirmation before it changes a cluster other than the workbench's simulated one.
    """
    from .deploying.starting import StackStart
    from .deploying.tables import show_stack

    call = StackCall(stack, engine, kubeconfig, cwd.resolve())
    start = StackStart(call, starts=start_cluster, live=not no_live, speeds=Speeds(speed, start_speed))
    start.before()
    cli = call.cli()
    if cli:
        _exit(cli.up(yes=yes or start_cluster))
        exports = cli.outputs()
        start.after(lambda: show_stack(exports, call))
        show_stack(exports, call)
        return
    ask = bool(kubeconfig) and not yes
    call.options = {
        "wait": not no_wait,
        "seconds": timeout,
        "confirm": confirm if ask else agree,
        # Without a prompt, the tables at the end are enough.
        "brief": not ask,
    }
    with progress("deploying", prompts=ask) as status:
        outcome = call.local(status).up()
    if not outcome.ok:
        raise typer.Exit(1)
    start.after(lambda: show_stack(outcome.outputs, call))
    show_stack(outcome.outputs, call)


def preview(
    *,
    stack: Stack = "local",
    engine: Engine = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    cwd: Cwd = Path(),
    offline: Offline = False,
    output: Output = Format.TEXT,
) -> None:
    """Show a preview of the changes that `up` would make, field by field."""
    call = StackCall(stack, engine, kubeconfig, cwd.resolve(), {"offline": offline})
    cli = None if offline else call.cli()
    if cli:
        _exit(cli.preview(as_json=output is Format.JSON))
        return
    call.local(as_json=output is Format.JSON).preview()


def destroy(
    *,
    stack: Stack = "local",
    engine: Engine = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    yes: Yes = False,
    cwd: Cwd = Path(),
) -> None:
    """Delete all resources of a stack."""
    call = StackCall(stack, engine, kubeconfig, cwd.resolve(), {"confirm": agree if yes else confirm})
    from livefleet import LiveFolder, recover, withdraw

    folder = LiveFolder(call.state_dir)
    if not kubeconfig:
        recover(folder)
    cli = call.cli()
    if cli:
        code = cli.destroy(yes=yes)
        # Without --yes, the CLI may have failed because the user declined; then nothing was deleted.
        began = yes or code == 0
    else:
        with progress("deleting", prompts=not yes) as status:
            outcome = call.local(status).destroy()
        code, began = int(not outcome.ok), True
    # Also after a failure: no state records the objects of the live fleet, so nothing else would delete them.
    if began and not kubeconfig:
        withdraw(folder, stack)
    _exit(code)


def outputs(
    *,
    stack: Stack = "local",
    engine: Engine = Deployer.AUTO,
    cwd: Cwd = Path(),
    output: Output = Format.TEXT,
) -> None:
    """Show the outputs of a stack after the last `up`."""
    from .deploying.tables import with_addresses

    call = StackCall(stack, engine, "", cwd.resolve())
    cli = call.cli()
    values = with_addresses(cli.outputs() if cli else call.local().outputs(), call)
    if output is Format.JSON:
        sys.stdout.write(json.dumps(values, indent=2, sort_keys=True) + "\n")
        return
    for name in sorted(values):
        sys.stdout.write(f"{name}: {json.dumps(values[name], sort_keys=True)}\n")


def _exit(code: int) -> None:
    if code:
        raise typer.Exit(code)
