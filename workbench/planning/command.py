"""``workbench plan``."""

import contextlib
import enum
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.plan.review.snapshot import Snapshot

from ..errors import WorkbenchError
from ..subject import STDIN, complete_stack
from .formats import SUFFIXES, ReviewFormat, format_of, show, write
from .formats.links import RULES, Links, links
from .stackless import Alone, ClusterKind, inside

if TYPE_CHECKING:
    from .base import Base


class FailOn(enum.StrEnum):
    """The least severity that ends a plan with an exit code."""

    ERROR = "error"
    WARNING = "warning"


_MOST_DOLLARS = Decimal(10) ** 12
"""Whoever means more has mistyped it."""

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH...]", help="Manifest files or folders to plan without a stack; - reads stdin."),
]
Stack = Annotated[
    str | None,
    typer.Option(
        help="Stack to plan; Pulumi.<stack>.yaml holds its settings. Default without PATH: local.",
        autocompletion=complete_stack,
    ),
]
Cluster = Annotated[
    ClusterKind | None,
    typer.Option(
        help="What PATH is planned for, with default settings: a new EKS cluster, the workbench's simulated cluster, "
        "or a cluster of which nothing is known (none, the default)."
    ),
]
Region = Annotated[str | None, typer.Option(help="AWS region of --cluster eks. Default: us-east-1.")]
Namespace = Annotated[
    str | None, typer.Option(help="Namespace of resources in PATH that do not set one. Default: models.")
]
Against = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REF",
        help="Compare with a branch, tag or commit of git: with the commit where HEAD left it, so that what this "
        "branch changes is shown, and not what others changed there meanwhile.",
    ),
]
Form = Annotated[ReviewFormat, typer.Option("--format", help="How the report is written to stdout.")]
Saved = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help=f"Write the report to a file as well; its suffix ({', '.join(SUFFIXES)}) says how. May be repeated.",
    ),
]
Fails = Annotated[FailOn, typer.Option(help="End with 1 if there is something of this severity or worse.")]
Dollars = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="End with 1 if the environment costs more a month with all autoscalers at their maximum, or if it is "
        "not known because something has no price.",
    ),
]
Accelerators = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="End with 1 if there are more accelerators with all autoscalers at their maximum."
    ),
]
Cwd = Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")]


def register(app: typer.Typer) -> None:
    """Add the ``plan`` command."""
    app.command()(plan)


def plan(
    *,
    paths: Paths = None,
    stack: Stack = None,
    cluster: Cluster = None,
    region: Region = None,
    namespace: Namespace = None,
    base: Against = None,
    form: Form = ReviewFormat.TEXT,
    save: Saved = None,
    fail_on: Fails = FailOn.ERROR,
    max_monthly_usd: Dollars = None,
    max_gpus: Accelerators = None,
    cwd: Cwd = Path(),
) -> None:
    """Say whether every model fits, what it costs, what is wrong, and what a change does to what runs.

    Plans a stack of a project, or manifests alone (PATH) with default settings. --base compares either with another
    revision.

    Needs no cluster, no cloud and no credentials, and writes nothing but the files of --save. Ends with 0 if all is
    well, with 1 if there are errors or a threshold is crossed, with 2 if it was called wrongly.
    """
    from components.plan.review.compare import review
    from components.plan.review.review import Thresholds

    saved = [(path, _format(path)) for path in save or ()]
    thresholds = Thresholds(fail_on.value, _dollars(max_monthly_usd), max_gpus)
    alone = _alone(paths, stack, cluster, region, namespace)
    if alone:
        head, other = _snapshots_alone(cwd.resolve(), alone, base)
    else:
        head, other = _snapshots(cwd.resolve(), stack or _USUAL_STACK, base)
    found = review(head, other, thresholds)
    places = _links(cwd.resolve())
    for path, its in saved:
        path.write_text(write(found, its, places), encoding="utf-8")
    sys.stdout.write(show(found, form, places))
    if found.failures:
        raise typer.Exit(1)


def _format(path: Path) -> ReviewFormat:
    found = format_of(path)
    if found is None:
        raise WorkbenchError(f"--save: {path} must end in one of {', '.join(SUFFIXES)}", 2)
    if not path.parent.is_dir():
        raise WorkbenchError(f"--save: {path}: folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise WorkbenchError(f"--save: {path} is a folder; name a file")
    return found


def _links(folder: Path) -> Links:
    """Return where a code host shows the files of the project, where one runs this."""
    from .git import prefix_of

    return links(os.environ, prefix_of(folder), documented=(folder / RULES).is_file())


def _dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount < _MOST_DOLLARS:
        raise WorkbenchError(f"--max-monthly-usd: must be an amount of US dollars such as 2500, found {text!r}", 2)
    return amount


def _alone(
    paths: list[Path] | None,
    stack: str | None,
    cluster: ClusterKind | None,
    region: str | None,
    namespace: str | None,
) -> Alone | None:
    """Return how manifests are planned without a stack; None where a stack is planned."""
    given = {"--cluster": cluster, "--region": region, "--namespace": namespace}
    if not paths:
        for option in (option for option, value in given.items() if value is not None):
            raise WorkbenchError(f"{option} is for manifests without a stack; pass their files or folders too", 2)
        return None
    if stack is not None:
        raise WorkbenchError(
            "PATH is planned without a stack; leave out --stack, or list the files in the models of that stack", 2
        )
    kind = cluster or ClusterKind.NONE
    if region is not None and kind is not ClusterKind.EKS:
        raise WorkbenchError("--region needs --cluster eks", 2)
    if region is not None and not re.fullmatch(_REGION, region):
        raise WorkbenchError(f"--region: must be an AWS region such as {_USUAL_REGION}, found {region!r}", 2)
    return Alone(tuple(paths), kind, region or _USUAL_REGION, namespace or "")


_USUAL_STACK = "local"
_USUAL_REGION = "us-east-1"
_REGION = r"[a-z]{2,4}(-[a-z]+)+-\d+"


def _snapshots_alone(folder: Path, alone: Alone, ref: str | None) -> "tuple[Snapshot, Snapshot | None]":
    """Plan manifests, and the same files of another revision by the same code."""
    with contextlib.chdir(folder):
        head = alone.snapshot()
    if ref is None:
        return head, None
    from .base import files_of

    relative = inside(alone.paths, folder)
    if relative is None or Path(STDIN) in alone.paths:
        raise WorkbenchError(f"--base: every PATH must be a file or folder below {folder}; see --cwd", 2)
    with files_of(folder, ref) as (commit, files), contextlib.chdir(files):
        then = replace(alone, paths=relative).existing()
        other = then.snapshot() if then.paths else Snapshot(alone.title, absent=True)
    notes = tuple(note for note in (*commit.notes, *other.notes) if note not in head.notes)
    return head, replace(other, revision=commit.short, ref=commit.ref, notes=notes)


def _snapshots(folder: Path, stack: str, ref: str | None) -> "tuple[Snapshot, Snapshot | None]":
    """Plan the work tree, and at the same time what it is compared with."""
    from ..engine.interrupts import cancellable
    from .snapshot import take

    running: list[Base] = []

    def cancelled() -> str:
        for base in running:
            base.stop()
        return "cancelled; nothing was changed"

    with cancellable(cancelled), _beside(folder, stack, ref, running) as base:
        head = take(folder, stack)
        other = base.snapshot() if base else None
    if head.absent and (other is None or other.absent):
        from ..engine.project import ProjectFiles

        raise WorkbenchError(ProjectFiles(folder, stack).absent)
    return head, other


@contextmanager
def _beside(folder: Path, stack: str, ref: str | None, running: "list[Base]") -> "Iterator[Base | None]":
    if ref is None:
        yield None
        return
    from .base import planning_base

    with planning_base(folder, stack, ref, running.append) as base:
        yield base
