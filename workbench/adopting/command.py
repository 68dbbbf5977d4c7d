"""``workbench adopt``."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from components.contract.texts.printable import printable
from toolkit.printing import Format

from ..errors import WorkbenchError
from .leaving import eject

Folder = Annotated[
    Path, typer.Argument(metavar="[FOLDER]", help="Project folder; created if it does not exist. Default: this one.")
]
Kubeconfig = Annotated[Path | None, typer.Option(metavar="FILE", help="Kubeconfig of the cluster.")]
Origins = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="PATH",
        help="Read files or folders instead of a cluster: the output of `helm template` or `kustomize build`; - "
        "reads stdin. Can be repeated.",
    ),
]
HelmValues = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="File of values for --chart; can be repeated, and later ones override."),
]
Chart = Annotated[
    str,
    typer.Option(
        metavar="CHART",
        help="Render this chart with `helm template` instead of reading a cluster: a folder, an archive, "
        "<repository>/<name>, or an OCI reference.",
    ),
]
ChartVersion = Annotated[str, typer.Option(metavar="VERSION", help="Version of --chart. Default: the newest one.")]
Release = Annotated[str, typer.Option(metavar="NAME", help="Name of the Helm release. Default: name of the chart.")]
Kustomization = Annotated[
    Path | None,
    typer.Option(
        "--kustomize",
        metavar="DIR",
        help="Build this kustomization with `kustomize build`, or `kubectl kustomize`, instead of reading a cluster.",
    ),
]
Context = Annotated[str, typer.Option(help="Context in the kubeconfig. Default: its current context.")]
Namespaces = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAMESPACE",
        help="Only this namespace; can be repeated. Without a cluster: the namespace of objects that set none.",
    ),
]
Family = Annotated[
    str,
    typer.Option(
        metavar="FAMILY",
        help="Describe plain workloads in the kinds of this family where that restarts no pod, and list what would "
        "change for the others: kthena or llmkube.",
    ),
]
Stack = Annotated[str, typer.Option(help="Stack to write.")]
ClusterName = Annotated[str, typer.Option(metavar="NAME", help="Permanent name of the cluster. Default: the stack.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Report the decisions, and write nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


def register(app: typer.Typer) -> None:
    """Add the ``adopt`` and ``eject`` commands."""
    app.command()(adopt)
    app.command()(eject)


def adopt(
    folder: Folder = Path(),
    *,
    kubeconfig: Kubeconfig = None,
    origins: Origins = None,
    helm_values: HelmValues = None,
    chart: Chart = "",
    chart_version: ChartVersion = "",
    release: Release = "",
    kustomize: Kustomization = None,
    context: Context = "",
    namespaces: Namespaces = None,
    family: Family = "",
    stack: Stack = "adopted",
    cluster_name: ClusterName = "",
    dry_run: DryRun = False,
    force: Force = False,
    output: Annotated[Format, typer.Option(help="Output format.")] = Format.TEXT,
) -> None:
    """Write a project that takes over the models of a cluster without changing them.

    Resources of the families become typed resources whose operators go on creating the pods; other workloads are
    applied as they are. The first `up` imports all of them: it creates, replaces and restarts nothing. Only GET
    requests are sent, and Secrets are neither read nor written. Without a cluster, from files, a Helm chart or a
    kustomization, the first `up` creates everything.

    Exit codes: 0 success, 1 nothing to adopt or a problem, 2 usage error.
    """
    from components.plan.conversion.convert import adopting_families
    from toolkit.kube import Kube

    from ..inspecting.reading import DEFAULT_NAMESPACE
    from .origins import HelmChart, read_origins
    from .project import check_absent, project_files, write
    from .reading import read_adoption, read_rendered_adoption
    from .report import json_report, text_report

    if family and family not in adopting_families():
        raise WorkbenchError(f"--family: must be one of {', '.join(adopting_families())}, found {family!r}", 2)
    if sum(map(bool, (kubeconfig, origins, chart, kustomize))) != 1:
        raise WorkbenchError("pass one of --kubeconfig, the cluster to adopt, --from, --chart or --kustomize", 2)
    _check_rendering(chart, helm_values or (), chart_version, release)
    if kubeconfig and not kubeconfig.is_file():
        raise WorkbenchError(f"--kubeconfig: {printable(str(kubeconfig))} does not exist", 2)
    access = _access(folder, kubeconfig or folder / "kubeconfig", context, cluster_name or stack)
    if kubeconfig:
        with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
            read = read_adoption(kube, namespaces or (), family)
    else:
        if len(namespaces or ()) > 1:
            raise WorkbenchError("--namespace: without a cluster, pass one, for objects that set none", 2)
        source = HelmChart(chart, tuple(helm_values or ()), chart_version, release) if chart else None
        (namespace,) = namespaces or (DEFAULT_NAMESPACE,)
        read = read_rendered_adoption(*read_origins(origins or (), source, kustomize, namespace), family)
    adoption, notes = read.adoption, list(read.notes)
    if not any(decision.manifest for decision in adoption.decisions):
        sys.stdout.write(text_report(adoption, notes))
        raise WorkbenchError("nothing to adopt: no object serves a model; see the report, and --namespace")
    files = project_files(folder, stack, adoption, {**access, **read.values})
    if not dry_run:
        check_absent(folder, files, force=force)
        write(folder, files)
        notes += _write_import_file(folder, stack, kubeconfig, context) if kubeconfig else []
    if output is Format.JSON:
        json.dump(json_report(adoption, notes, () if dry_run else tuple(files)), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(text_report(adoption, notes))
        if not dry_run:
            sys.stdout.write(_next_steps(folder, stack, imports=bool(kubeconfig)))
    if adoption.problems:
        raise WorkbenchError("the project has problems; see the report")


def _check_rendering(chart: str, values: Sequence[Path], version: str, release: str) -> None:
    if not chart and (values or version or release):
        raise WorkbenchError(
            "--helm-values, --chart-version and --release belong to a chart: pass it with --chart, such as "
            "vllm/vllm-stack after `helm repo add vllm https://vllm-project.github.io/production-stack`",
            2,
        )
    for file in values:
        if not file.is_file():
            raise WorkbenchError(f"--helm-values: {printable(str(file))} does not exist", 2)


def _access(folder: Path, kubeconfig: Path, context: str, cluster_name: str) -> dict[str, Any]:
    """Return the settings by which the stack reaches the cluster."""
    path = kubeconfig.resolve()
    inside = path.is_relative_to(folder.resolve())
    return {
        "kubeconfig": path.relative_to(folder.resolve()).as_posix() if inside else str(path),
        **({"context": context} if context else {}),
        "clusterName": cluster_name,
    }


def _write_import_file(folder: Path, stack: str, kubeconfig: Path, context: str) -> list[str]:
    """Write the file for `pulumi import`; return a note if the program cannot be recorded."""
    import functools

    from toolkit.kube import Kube
    from toolkit.private import private_folder

    from ..deploying.call import STATE_DIR, Deployer, StackCall
    from .import_file import import_text
    from .reading import look_up

    call = StackCall(stack, Deployer.LOCAL, "", folder.resolve())
    try:
        graph = call.local().record(preview=True)
    except WorkbenchError as error:
        return [f"no file for `pulumi import` was written: {error}"]
    with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
        text = import_text(graph, functools.partial(look_up, kube))
    private_folder(call.state_dir)
    (folder / STATE_DIR / import_name(stack)).write_text(text, encoding="utf-8")
    return []


def import_name(stack: str) -> str:
    """Return the name of the file for `pulumi import`, in the folder of the state."""
    return f"import.{stack}.json"


def _next_steps(folder: Path, stack: str, *, imports: bool) -> str:
    from ..deploying.call import STATE_DIR

    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(printable(str(folder)))} && "
    lines = [
        "",
        "Next, check the fleet:",
        f"  {enter}workbench plan --stack {stack}",
    ]
    by_import = [
        "With the Pulumi CLI, import it; the preview then shows no change:",
        f"  pulumi stack init {stack}",
        f"  pulumi import --stack {stack} --file {STATE_DIR}/{import_name(stack)} --protect=false "
        "--generate-code=false",
        f"  pulumi preview --stack {stack}",
        "With the local engine, the preview shows imports only:",
        f"  workbench preview --stack {stack} --engine local",
        f"  workbench up --stack {stack} --engine local",
    ]
    return "".join(f"{line}\n" for line in (*lines, *(by_import if imports else ())))
