"""``workbench render``: what would be created, as YAML."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.fleet.words import Edition, Realization, WorkloadChoice

from .printing import ShowSecrets, write_objects

if TYPE_CHECKING:
    from components.api.problems import Problem

Workload = Annotated[
    WorkloadChoice, typer.Option(help="auto creates a LeaderWorkerSet only if a replica spans several pods.")
]
Runtimes = Annotated[
    Edition,
    typer.Option(help=("Edition of the shipped runtimes: upstream's image tags, or current ones (all pinned).")),
]


def register(app: typer.Typer) -> None:
    """Add the ``render`` command."""
    app.command()(render)


def render(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Manifest files or folders.")],
    realization: Annotated[
        Realization,
        typer.Option(help=("Render plain Kubernetes objects, or the custom resources for the upstream operator.")),
    ] = Realization.NATIVE,
    workload: Workload = WorkloadChoice.AUTO,
    namespace: Annotated[str, typer.Option(help="Namespace of resources that do not set one.")] = "default",
    runtimes: Runtimes = Edition.UPSTREAM,
    cache_claim: Annotated[str | None, typer.Option(help="PersistentVolumeClaim that keeps loaded weights.")] = None,
    cache_host_path: Annotated[str | None, typer.Option(help="Folder on the node that keeps loaded weights.")] = None,
    *,
    show_secrets: ShowSecrets = False,
) -> None:
    """Print the Kubernetes objects that the manifests become.

    Problems go to stderr; if one of them is an error, no objects are printed.
    """
    from components.api.problems import errors
    from components.families import load
    from components.fleet.options import ModelCache, Options
    from components.plan.environment import Environment
    from components.plan.plan import plan

    try:
        cached = cache_claim or cache_host_path
        options = Options(
            realization=realization,
            workload=workload,
            namespace=namespace,
            runtimes=runtimes,
            cache=ModelCache(cache_claim, cache_host_path) if cached else None,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    planned = plan(load(paths), Environment(options=options))
    _report(planned.problems)
    if errors(planned.problems):
        raise typer.Exit(1)
    write_objects((obj for item in planned.fleet.rendered for obj in item.objects), show_secrets=show_secrets)


def _report(problems: "Iterable[Problem]") -> None:
    for problem in sorted(set(problems), key=lambda problem: problem.place):
        prefix = "" if problem.is_error else "warning: "
        print(f"{prefix}{problem}", file=sys.stderr)  # noqa: T201
