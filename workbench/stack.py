"""Commands that deploy a stack: ``up``, ``preview``, ``destroy``, ``outputs``."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from components.contract.texts.printable import printable
from livefleet import Speeds
from toolkit.printing import Format, Output, ShowValues, pluralize, print_to_stderr
from toolkit.screen import Details

from .default_stack import DEFAULT_STACK, NO_STACK, choose_stack
from .deploying.call import Deployer, StackCall
from .errors import WorkbenchError
from .prompts import agree, confirm, progress
from .subject import complete_stack

Stack = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Stack to operate on; reads Pulumi.NAME.yaml. Default: local, or the only stack.",
        autocompletion=complete_stack,
    ),
]
OnlyLocal = Annotated[
    str,
    typer.Option(metavar="NAME", help="Stack to delete; reads Pulumi.NAME.yaml.", autocompletion=complete_stack),
]
Engine = Annotated[
    Deployer,
    typer.Option(
        help="Deployment engine; auto uses the Pulumi CLI if it is on the PATH, else the local engine; pulumi also "
        "uses one that `workbench dev build-pulumi` built."
    ),
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
Seconds = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        help="Seconds that the local engine waits for each workload. Default: 300 in the simulated cluster, else "
        "the timeout of its resource.",
    ),
]
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
Restore = Annotated[
    bool,
    typer.Option("--restore", help="First undo changes that others made to objects of the stack (see `diff`)."),
]
StartCluster = Annotated[
    bool, typer.Option("--start-cluster", help="Start the simulated cluster first, as `make up` does.")
]


SIMULATED_SECONDS = 300.0


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command in (up, preview, destroy, outputs):
        app.command()(command)


def up(
    *,
    stack: Stack = None,
    engine: Engine = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    yes: Yes = False,
    cwd: Cwd = Path(),
    no_wait: NoWait = False,
    timeout: Seconds = None,
    start_cluster: StartCluster = False,
    speed: Speed = None,
    start_speed: StartSpeed = None,
    no_live: NoLive = False,
    restore: Restore = False,
    details: Details = False,
) -> None:
    """Create or update the resources of a stack.

    The local engine asks for confirmation before it changes a cluster other than the workbench's simulated one.

    With --restore, changes that others made to the objects are listed, and undone after a confirmation.
    """
    from .deploying.handing_over import ToCli, ToLocal, is_local
    from .deploying.starting import StackStart
    from .deploying.tables import StackReport, show_gateway, show_headline, show_stack

    call = _call(stack, engine, kubeconfig, cwd)
    start = StackStart(call, starts=start_cluster, live=not no_live, speeds=Speeds(speed, start_speed))
    start.before()
    if restore:
        _restore(call, yes=yes)
    cli = call.cli()
    if cli:
        handover = ToCli(call, cli) if is_local(call) else None
        if handover:
            handover.prepare()
        _exit(cli.up(yes=yes or start_cluster))
        if handover:
            count = pluralize(handover.finish(), "object")
            print_to_stderr([f"{count} handed to the Pulumi CLI; the state of the local engine is closed"])
        exports = cli.outputs()
        show_headline(StackReport.of(call, exports))
    else:
        ask = bool(kubeconfig) and not yes
        call.options = {
            "wait": not no_wait,
            # In the simulated cluster, models start much faster than their resources allow for.
            "seconds": timeout if timeout is not None or kubeconfig else SIMULATED_SECONDS,
            "confirm": confirm if ask else agree,
            "brief": not ask and not details,
        }
        with progress("deploying", prompts=ask) as status, _findings_shown(call, details=details):
            local = call.local(status, details=details, deployed=True)
            back = ToLocal.of(call)
            outcome = (back.check(local) if back else local).up()
        if not outcome.ok:
            raise typer.Exit(1)
        if back:
            back.finish()
            print_to_stderr(["the Pulumi CLI has forgotten the stack"])
        exports = outcome.outputs
    was_shown = start.after(lambda: show_stack(StackReport.of(call, exports), call.findings, details=details))
    if was_shown:
        show_gateway(StackReport.of(call, exports))
    else:
        show_stack(StackReport.of(call, exports), call.findings, details=details)


def _restore(call: StackCall, *, yes: bool) -> None:
    """Undo what others changed of the objects of a stack."""
    from .drifting.restoring import Restoration, drift_lines

    with _findings_shown(call, details=False):
        graph = call.local().record(preview=True)
    with Restoration(graph, call.cwd, call.kubeconfig) as restoration:
        drifted = restoration.drifted()
        if not drifted:
            sys.stdout.write("the objects that exist are as planned\n")
            return
        for line in drift_lines(drifted):
            sys.stdout.write(f"{printable(line)}\n")
        if not (agree if yes else confirm)(f"Restore {pluralize(len(drifted), 'object')}?"):
            raise WorkbenchError("nothing was restored")
        refused = restoration.restore(drifted)
    sys.stdout.write(f"restored {pluralize(len(drifted) - len(refused), 'object')}\n")
    for drift in refused:
        sys.stdout.write(f"not restored: {drift.title}: {printable(drift.unread)}\n")


def preview(
    *,
    stack: Stack = None,
    engine: Engine = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    cwd: Cwd = Path(),
    offline: Offline = False,
    details: Details = False,
    show_values: ShowValues = False,  # noqa: ARG001  its callback turns it on
    output: Output = Format.TEXT,
) -> None:
    """Show a preview of the changes that `up` would make; with --details, field by field."""
    from .deploying.handing_over import is_local

    call = _call(stack, engine, kubeconfig, cwd, {"offline": offline})
    cli = None if offline else call.cli()
    if cli and is_local(call):
        note = "was deployed by the local engine, and `up` hands it to the Pulumi CLI: nothing of it is created again"
        print_to_stderr([f"note: stack {call.stack!r} {note}"])
    if cli:
        _exit(cli.preview(as_json=output is Format.JSON))
        return
    if output is Format.JSON:
        call.local(as_json=True).preview()
        return
    with _findings_shown(call, details=details):
        call.local(details=details).preview()


def destroy(
    *,
    stack: OnlyLocal = DEFAULT_STACK,
    engine: Engine = Deployer.AUTO,
    kubeconfig: Kubeconfig = "",
    yes: Yes = False,
    cwd: Cwd = Path(),
    details: Details = False,
) -> None:
    """Delete all resources of a stack: of `local`, unless --stack names another one."""
    call = _call(stack, engine, kubeconfig, cwd)
    call.options = {"confirm": agree if yes else confirm, "brief": yes and not details}
    from livefleet import LiveFolder, recover, withdraw

    from .deploying.handing_over import refuse_other_engine

    folder = LiveFolder(call.state_dir)
    if not kubeconfig:
        recover(folder)
    cli = call.cli()
    refuse_other_engine(call, cli, "destroy")
    if cli:
        code = cli.destroy(yes=yes)
        # Without --yes, the CLI may have failed because the user declined; then nothing was deleted.
        began = yes or code == 0
    else:
        with progress("deleting", prompts=not yes) as status:
            outcome = call.local(status, details=details).destroy()
        code, began = int(not outcome.ok), True
    # Also after a failure: no state records the objects of the live fleet, so nothing else would delete them.
    if began and not kubeconfig:
        withdraw(folder, stack)
    _exit(code)


def outputs(
    *,
    stack: Stack = None,
    engine: Engine = Deployer.AUTO,
    cwd: Cwd = Path(),
    details: Details = False,
    output: Output = Format.TEXT,
) -> None:
    """Show the models of a stack after the last `up`, their addresses, and its other outputs.

    Exit codes: 0 shown, 1 nothing is deployed or the simulated cluster does not run, 2 usage error.
    """
    from .deploying.outputs import read_outputs, show_outputs

    call = _call(stack, engine, "", cwd)
    deployed = read_outputs(call)
    if output is Format.JSON:
        sys.stdout.write(json.dumps(deployed.values, indent=2, sort_keys=True) + "\n")
    else:
        show_outputs(deployed, call, details=details)
    if deployed.problem:
        raise WorkbenchError(deployed.problem)


def _call(
    stack: str | None, engine: Deployer, kubeconfig: str, cwd: Path, options: dict[str, Any] | None = None
) -> StackCall:
    """Return the call for a stack, or for the default stack of the project."""
    if stack == NO_STACK:
        raise WorkbenchError(f"--stack: this command needs a stack, found {NO_STACK}", 2)
    chosen = choose_stack(cwd, stack)
    return StackCall(chosen.name or DEFAULT_STACK, engine, kubeconfig, chosen.folder.resolve(), options or {})


@contextmanager
def _findings_shown(call: StackCall, *, details: bool) -> Iterator[None]:
    """Print errors in manifests as ``validate`` does, instead of the message of the program."""
    try:
        with call.findings.collected():
            yield
    except WorkbenchError:
        if not call.findings.has_errors:
            raise
        call.findings.show_errors(call.stack, details=details)
        raise typer.Exit(1) from None


def _exit(code: int) -> None:
    if code:
        raise typer.Exit(code)
