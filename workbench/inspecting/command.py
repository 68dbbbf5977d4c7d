"""``workbench inspect``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from toolkit.screen import Details

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
    output: Annotated[
        str, typer.Option("--output", "-o", metavar=f"[{'|'.join(InspectFormat)}]", help="Output format.")
    ] = "",
    details: Details = False,
    form: Annotated[InspectFormat | None, typer.Option("--format", hidden=True)] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file instead of stdout.")
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

    form, save = _format_and_file(output, form, save)
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
    if save is None:
        sys.stdout.write(show(result, form, details=details))
    else:
        save.write_text(write(result, form), encoding="utf-8")
    if not result.models and result.unreadable:
        raise typer.Exit(1)
    severities = {FailOn.ERROR: ("error",), FailOn.WARNING: ("error", "warning")}
    if fail_on and any(
        problem.severity in severities[fail_on] and not problem.ignored for problem in result.all_findings
    ):
        raise typer.Exit(1)


def _format_and_file(output: str, form: InspectFormat | None, save: Path | None) -> tuple[InspectFormat, Path | None]:
    """Return the format, and the file to write.

    ``--output`` was the file, and ``--format`` the format: a value of ``--output`` that is a path still is the file.

    Raises:
        WorkbenchError: the format is unknown, or the file cannot be written.
    """
    option = "--save"
    if output in [*InspectFormat]:
        form = InspectFormat(output)
    elif Path(output).suffix or "/" in output:
        save, option = save or Path(output), "--output"
    elif output:
        raise WorkbenchError(f"--output: must be one of {', '.join(InspectFormat)}, found {output!r}", 2)
    if save and not save.parent.is_dir():
        raise WorkbenchError(f"{option}: {save}: folder {save.parent} does not exist; create it first")
    if save and save.is_dir():
        raise WorkbenchError(f"{option}: {save} is a folder; pass a file")
    return form or InspectFormat.TEXT, save
