"""``workbench inspect``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import WorkbenchError
from ..planning.command import FailOn
from .formats import InspectFormat, show, write


def register(app: typer.Typer) -> None:
    """Add the ``inspect`` command."""
    app.command(name="inspect")(inspect_cluster)


def inspect_cluster(
    *,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="Path to the kubeconfig file of the cluster.", metavar="FILE", envvar="KUBECONFIG"),
    ] = None,
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig. Default: its current one.")] = None,
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", "-n", help="Only this namespace. Can be repeated. Default: all."),
    ] = None,
    origin: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="PATH",
            help="File or folder of YAML to read instead of a cluster, as `kubectl get -o yaml` and `helm template` "
            "write it. Can be repeated.",
        ),
    ] = None,
    form: Annotated[InspectFormat, typer.Option("--format", help="Output format.")] = InspectFormat.TABLE,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the report to a file instead of stdout."),
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Lowest severity of findings that makes the command fail. Default: none.")
    ] = None,
) -> None:
    """Show every model that a cluster serves, what is wrong with it, and what it costs.

    Finds resources of all families, Deployments, StatefulSets and LeaderWorkerSets that run an engine, resources of
    KServe, and models of Helm releases. Sends only GET requests, and reads no Secrets. What cannot be read is listed,
    with the missing right.

    Exit codes: 0 success, 1 findings at or above --fail-on, 2 usage error.
    """
    from .inspection import inspect
    from .reading import read_cluster, read_files

    if origin:
        if context or namespace:
            raise WorkbenchError("--from reads files, to which --context and --namespace do not apply; omit them", 2)
        snapshot, unreadable = read_files(origin)
    elif kubeconfig is None:
        raise WorkbenchError("pass the kubeconfig of a cluster with --kubeconfig, or files with --from", 2)
    else:
        from toolkit.kube import Kube

        with Kube.from_kubeconfig(kubeconfig, context) as kube:
            snapshot, unreadable = read_cluster(kube, namespace or ()), []
    result = inspect(snapshot, unreadable)
    if output is None:
        sys.stdout.write(show(result, form))
    else:
        if not output.parent.is_dir():
            raise WorkbenchError(f"--output: {output}: folder {output.parent} does not exist; create it first")
        if output.is_dir():
            raise WorkbenchError(f"--output: {output} is a folder; pass a file")
        output.write_text(write(result, form), encoding="utf-8")
    if not result.models and unreadable:
        raise typer.Exit(1)
    severities = {FailOn.ERROR: ("error",), FailOn.WARNING: ("error", "warning")}
    if fail_on and any(
        problem.severity in severities[fail_on] and not problem.ignored for problem in result.all_findings
    ):
        raise typer.Exit(1)
