"""``workbench plan``."""

import contextlib
import enum
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.plan.review.snapshot import Snapshot
from toolkit.printing import ShowValues, output_option, print_to_stderr
from toolkit.screen import Details

from ..default_stack import DEFAULT_STACK, NO_STACK, choose_stack
from ..errors import WorkbenchError
from ..simulation.options import TraceScale, TraceShares
from ..subject import STDIN, StackOption, parse_releases
from .formats import SUFFIXES, ReviewFormat, format_of, show, write
from .formats.links import RULES, links
from .stackless import ClusterKind, StacklessPlan, relative_paths, seen_from
from .traffic import TrafficSimulation

if TYPE_CHECKING:
    from components.plan.review.traffic import TrafficLimit

    from .base import Base


class FailOn(enum.StrEnum):
    """The lowest severity that makes the command fail."""

    ERROR = "error"
    WARNING = "warning"


_DEFAULT_REGION = "us-east-1"
_REGION = r"[a-z]{2,4}(-[a-z]+)+-\d+"
_MAX_USD = Decimal(10) ** 12
"""Larger amounts are typing errors."""

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH", help="Manifest files or folders; - reads stdin. Default: everything of the stack."
    ),
]
Cluster = Annotated[
    ClusterKind | None,
    typer.Option(
        help="Cluster to plan PATH for without a stack, with default settings: a new EKS cluster, the workbench's "
        "simulated cluster, or an unknown cluster (none)."
    ),
]
Region = Annotated[str | None, typer.Option(help="AWS region for --cluster eks. Defaults to us-east-1.")]
Namespace = Annotated[
    str | None, typer.Option(help="Namespace of resources in PATH that do not set one. Default: of the settings.")
]
Releases = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FAMILY=RELEASE",
        help="Release of an API in which manifests in PATH are read, such as kthena=v1.0.0. Can be repeated.",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REF",
        help="Git branch, tag or commit to compare with. Uses its merge base with HEAD, so that only the changes of "
        "the current branch are shown.",
    ),
]
Form = Annotated[ReviewFormat, output_option()]
Saved = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help=f"Also write the report to a file; the suffix ({', '.join(SUFFIXES)}) selects the format. Can be "
        "repeated.",
    ),
]
Fails = Annotated[
    list[str] | None,
    typer.Option(
        metavar="error|warning|FIGURE=LIMIT",
        help="Lowest severity of findings that makes the command fail (error by default), or a limit of a "
        "figure under --trace: ttft-p50, ttft-p99, itl-p50, itl-p99, lost or usd-day, such as ttft-p99=2s, or "
        "ttft-p99=+20% and usd-day=+40 for the increase over --base. Can be repeated.",
    ),
]
Traces = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[MODEL=]FILE",
        help="Simulate the models under these requests, and those of --base, and compare latencies, lost requests "
        "and costs. Formats as in simulate --fleet. Can be repeated.",
    ),
]
Dollars = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Fail if the environment can cost more than this per month, with all autoscalers at their maximum, or "
        "if the cost is unknown because of a missing price.",
    ),
]
Accelerators = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Fail if there can be more accelerators, with all autoscalers at their maximum."
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict/--no-strict",
        help="Fail if it is not known whether a model fits its accelerators; --no-strict, the default, counts these "
        "models only.",
    ),
]
Cwd = Annotated[
    Path, typer.Option(help="Project folder. Other paths are relative to the current folder.", metavar="DIR")
]


def register(app: typer.Typer) -> None:
    """Add the ``plan`` command."""
    app.command()(plan)


def plan(
    *,
    paths: Paths = None,
    stack: StackOption = None,
    cluster: Cluster = None,
    region: Region = None,
    namespace: Namespace = None,
    release: Releases = None,
    base: Against = None,
    form: Form = ReviewFormat.TEXT,
    details: Details = False,
    show_values: ShowValues = False,
    save: Saved = None,
    fail_on: Fails = None,
    trace: Traces = None,
    share: TraceShares = None,
    scale: TraceScale = 1.0,
    max_monthly_usd: Dollars = None,
    max_gpus: Accelerators = None,
    strict: Strict = False,
    cwd: Cwd = Path(),
) -> None:
    """Show whether models fit, what they cost, what is wrong, and how a change affects running workloads.

    Plans a stack of a project, or the manifests in PATH with its settings; outside of projects, or with --cluster or
    --stack none, with default settings. With --base, compares the plan with another revision. With --trace, also
    simulates the requests of a trace.

    Needs no cluster, cloud account or credentials, and writes only the files of --save.

    Exit codes: 0 success, 1 findings at or above --fail-on or an exceeded limit, 2 usage error.
    """
    from components.plan.review.compare import review
    from components.plan.review.review import Thresholds

    from .git import prefix_of

    if show_values and (base or save):
        raise WorkbenchError(
            f"--show-values cannot be used with {'--base' if base else '--save'}: values are shown only on a "
            "terminal, and the plan of the base hides them",
            2,
        )
    chosen = choose_stack(cwd, NO_STACK if cluster and not stack else stack, paths or ())
    folder = chosen.folder.resolve()
    files = [(path, _file_format(path)) for path in save or ()]
    severity, limits = _parse_failures(fail_on or ())
    thresholds = Thresholds(severity, _parse_dollars(max_monthly_usd), max_gpus, limits, strict)
    if not trace and (limits or share):
        raise WorkbenchError(f"{'--share' if share else f'--fail-on {limits[0].text}'} needs --trace", 2)
    simulation = TrafficSimulation.of(trace, share, scale)
    files_below = seen_from(folder, paths or ())
    unbuilt: list[str] = []
    stackless = _stackless(
        files_below,
        chosen.name,
        cluster=cluster,
        region=region,
        namespace=namespace,
        releases=parse_releases(release),
    )
    if stackless:
        head, other = _stackless_snapshots(folder, stackless, base, simulation)
    else:
        if stack == NO_STACK:
            raise WorkbenchError(f"--stack {NO_STACK} needs PATH: files or folders with manifests", 2)
        head, other = _stack_snapshots(folder, chosen.name or DEFAULT_STACK, base, simulation, unbuilt)
    result = review(head, other, thresholds, simulation.run(compared=other is not None) if simulation else None)
    targets = links(os.environ, prefix_of(folder), documented=(folder / RULES).is_file())
    for path, file_format in files:
        path.write_text(write(result, file_format, targets), encoding="utf-8")
    sys.stdout.write(show(result, form, targets, details=details))
    if unbuilt and form is ReviewFormat.TEXT:  # reports are read elsewhere
        from ..deploying.builds import described

        print_to_stderr([f"note: the first `up` on this machine builds {described(unbuilt)}"])
    if result.failures:
        raise typer.Exit(1)


def _file_format(path: Path) -> ReviewFormat:
    form = format_of(path)
    if form is None:
        raise WorkbenchError(f"--save: {path}: must end in one of {', '.join(SUFFIXES)}", 2)
    if not path.parent.is_dir():
        raise WorkbenchError(f"--save: {path}: folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise WorkbenchError(f"--save: {path} is a folder; pass a file")
    return form


def _parse_failures(texts: Sequence[str]) -> "tuple[str, tuple[TrafficLimit, ...]]":
    """Return the severity and the limits of ``--fail-on``; of several severities, the lower one."""
    from components.plan.review.traffic import parse_limit

    severities = [FailOn(text) for text in texts if text in [*FailOn]]
    try:
        limits = tuple(parse_limit(text) for text in texts if text not in [*FailOn])
    except ValueError as error:
        raise WorkbenchError(f"--fail-on: {error}", 2) from None
    return (FailOn.WARNING if FailOn.WARNING in severities else FailOn.ERROR).value, limits


def _parse_dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount < _MAX_USD:
        raise WorkbenchError(f"--max-monthly-usd: must be an amount of US dollars such as 2500, found {text!r}", 2)
    return amount


def _stackless(
    paths: Sequence[Path],
    stack: str,
    cluster: ClusterKind | None,
    region: str | None,
    namespace: str | None,
    releases: dict[str, str] | None,
) -> StacklessPlan | None:
    """Return the options for planning PATH; None without PATH, where all of a stack is planned."""
    options = {"--cluster": cluster, "--region": region, "--namespace": namespace, "--release": releases}
    if not paths:
        for option, value in options.items():
            if value is not None:
                raise WorkbenchError(f"{option} can only be used with PATH", 2)
        return None
    if stack and cluster:
        raise WorkbenchError("--cluster is for PATH without a stack; omit --stack", 2)
    kind = cluster or ClusterKind.NONE
    if region is not None and kind is not ClusterKind.EKS:
        raise WorkbenchError("--region needs --cluster eks", 2)
    if region is not None and not re.fullmatch(_REGION, region):
        raise WorkbenchError(f"--region: must be an AWS region such as {_DEFAULT_REGION}, found {region!r}", 2)
    return StacklessPlan(
        paths=tuple(paths),
        cluster=kind,
        region=region or _DEFAULT_REGION,
        namespace=namespace or "",
        releases=releases or {},
        stack=stack,
    )


def _stackless_snapshots(
    folder: Path, stackless: StacklessPlan, ref: str | None, simulation: "TrafficSimulation | None"
) -> "tuple[Snapshot, Snapshot | None]":
    """Plan manifests, and the same files of another revision with the same code."""
    missing = [path for path in stackless.paths if str(path) != STDIN and not (folder / path).exists()]
    # A revision may lack a file that the other one has.
    if missing and (ref is None or len(missing) == len(stackless.paths)):
        raise WorkbenchError(f"{', '.join(map(str, missing))}: no such file or folder", 2)
    with contextlib.chdir(folder):
        head = stackless.snapshot(simulation.head if simulation else None)
    if ref is None:
        return head, None
    from .base import files_of

    relative = relative_paths(stackless.paths, folder)
    if relative is None or Path(STDIN) in stackless.paths:
        raise WorkbenchError(f"--base: every PATH must be a file or folder in {folder}; see --cwd", 2)
    with files_of(folder, ref) as (commit, files), contextlib.chdir(files):
        before = replace(stackless, paths=relative).existing()
        absent = Snapshot(stackless.title, absent=True)
        other = before.snapshot(simulation.base if simulation else None) if before.paths else absent
    notes = tuple(note for note in (*commit.notes, *other.notes) if note not in head.notes)
    return head, replace(other, revision=commit.short, ref=commit.ref, notes=notes)


def _stack_snapshots(
    folder: Path, stack: str, ref: str | None, simulation: "TrafficSimulation | None", unbuilt: list[str]
) -> "tuple[Snapshot, Snapshot | None]":
    """Plan the work tree and the base revision at the same time."""
    from ..engine.interrupts import cancellable
    from .snapshot import take

    running: list[Base] = []

    def cancelled() -> str:
        for base in running:
            base.stop()
        return "cancelled; nothing was changed"

    with cancellable(cancelled), contextlib.ExitStack() as exits:
        base = None
        if ref is not None:
            from .base import planning_base

            simulated = simulation is not None
            base = exits.enter_context(planning_base(folder, stack, ref, running.append, simulated=simulated))
        head = take(folder, stack, virtual=simulation.head if simulation else None, unbuilt=unbuilt)
        other = base.snapshot() if base else None
        if simulation and base:
            simulation.base.fleet = base.virtual_fleet()
    if head.absent and (other is None or other.absent):
        from ..engine.project import ProjectFiles

        raise WorkbenchError(ProjectFiles(folder, stack).absent, 2)
    return head, other
