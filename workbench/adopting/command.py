"""``workbench adopt``."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from components.contract.texts.printable import printable
from toolkit.printing import Format

from ..errors import WorkbenchError
from .aws.options import OwnedPart
from .leaving import eject

if TYPE_CHECKING:
    from .aws.source import AwsSource
    from .origins import HelmChart
    from .reading import ReadAdoption

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
ClusterName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Permanent name of the cluster; with a file that describes AWS, the cluster in it. Default: the stack, "
        "or the only cluster of the file.",
    ),
]
AwsCluster = Annotated[
    str,
    typer.Option(
        "--aws",
        metavar="CLUSTER",
        help="Use this EKS cluster with its network and nodes; read with the AWS credentials of this machine.",
    ),
]
Terraform = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The same from the output of `terraform show -json`, without credentials."),
]
Eksctl = Annotated[Path | None, typer.Option(metavar="FILE", help="The same from a ClusterConfig of eksctl.")]
CloudFormation = Annotated[
    list[Path] | None,
    typer.Option(
        "--cloudformation",
        metavar="FILE",
        help="The same from a CloudFormation template, and from the output of `aws cloudformation "
        "describe-stack-resources` and `describe-stacks`. Can be repeated.",
    ),
]
Region = Annotated[str, typer.Option(help="AWS region, unless the configuration or the file has it.")]
Profile = Annotated[str, typer.Option(help="AWS CLI profile, also of the stack. Default: the default credentials.")]
Owned = Annotated[
    list[OwnedPart] | None,
    typer.Option(
        "--own",
        help="With --aws: what the stack owns, and imports with the Pulumi CLI, instead of only using it. Can be "
        "repeated; cluster and network are refused with the fields that the stack would change.",
    ),
]
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
    aws: AwsCluster = "",
    terraform: Terraform = None,
    eksctl: Eksctl = None,
    cloudformation: CloudFormation = None,
    region: Region = "",
    profile: Profile = "",
    owned: Owned = None,
    dry_run: DryRun = False,
    force: Force = False,
    output: Annotated[Format, typer.Option(help="Output format.")] = Format.TEXT,
) -> None:
    """Write a project that takes over the models of a cluster without changing them.

    Resources of the families become typed resources whose operators go on creating the pods; other workloads are
    applied as they are. The first `up` imports all of them: it creates, replaces and restarts nothing. Only GET
    requests are sent, and Secrets are neither read nor written. Without a cluster, from files, a Helm chart or a
    kustomization, the first `up` creates everything.

    With --aws, or a file that describes AWS, the stack uses an EKS cluster, its network and its nodes with
    accelerators without owning them, and creates none of them. With --own, it owns the managed node groups.

    Exit codes: 0 success, 1 nothing to adopt or a problem, 2 usage error.
    """
    from components.plan.conversion.convert import adopting_families
    from toolkit.kube import Kube

    from .aws.source import AwsSource
    from .origins import HelmChart
    from .project import check_absent, project_files, write
    from .reading import read_adoption
    from .report import json_report, text_report

    if family and family not in adopting_families():
        raise WorkbenchError(f"--family: must be one of {', '.join(adopting_families())}, found {family!r}", 2)
    source = AwsSource(aws, terraform, eksctl, cloudformation or (), region, profile, cluster_name, owned or ())
    source.check(kubeconfig=bool(kubeconfig))
    given = sum(map(bool, (kubeconfig, origins, chart, kustomize)))
    if given > 1 or not (given or source.options):
        raise WorkbenchError(
            "pass one of --kubeconfig, the cluster to adopt, --from, --chart or --kustomize, or --aws, an EKS "
            "cluster",
            2,
        )
    _check_rendering(chart, helm_values or (), chart_version, release)
    if kubeconfig and not kubeconfig.is_file():
        raise WorkbenchError(f"--kubeconfig: {printable(str(kubeconfig))} does not exist", 2)
    access = _access(folder, kubeconfig or folder / "kubeconfig", context, cluster_name or stack)
    read = None
    if kubeconfig:
        with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
            read = read_adoption(kube, namespaces or (), family)
    elif origins or chart or kustomize:
        helm_chart = HelmChart(chart, tuple(helm_values or ()), chart_version, release) if chart else None
        read = _read_rendered(origins or (), helm_chart, kustomize, namespaces or (), family)
    if read is None or source.options:
        _adopt_aws(folder, stack, source, read, Writing(dry_run, force, output))
        return
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


def _read_rendered(
    origins: Sequence[Path], chart: "HelmChart | None", kustomize: Path | None, namespaces: Sequence[str], family: str
) -> "ReadAdoption":
    """Read the objects of files, a chart or a kustomization."""
    from ..inspecting.reading import DEFAULT_NAMESPACE
    from .origins import read_origins
    from .reading import read_rendered_adoption

    if len(namespaces) > 1:
        raise WorkbenchError("--namespace: without a cluster, pass one, for objects that set none", 2)
    (namespace,) = namespaces or (DEFAULT_NAMESPACE,)
    return read_rendered_adoption(*read_origins(origins, chart, kustomize, namespace), family)


class Writing(NamedTuple):
    """What is done with the result."""

    dry_run: bool
    force: bool
    output: Format


def _adopt_aws(folder: Path, stack: str, source: "AwsSource", read: "ReadAdoption | None", writing: Writing) -> None:
    """Write a stack that uses what exists on AWS, with the models of rendered files if there are any."""
    from ..engine.project import check_new_settings
    from .aws.source import aws_lines
    from .decisions import Adoption
    from .project import MODELS, NO_MODELS, OWN_MODELS, check_absent, model_files, project_files, write
    from .report import json_report, text_report

    found = source.settings()
    adoption = read.adoption if read else Adoption(())
    values = {**(read.values if read else {}), **found.values}
    check_new_settings(values, stack)
    files = project_files(folder, stack, adoption, values)
    owns = any("ownedGroups" in entry for entry in values.get("gpuNodes", {}).get("types", {}).values())
    if owns and not any((folder / path).is_dir() for path in (MODELS, OWN_MODELS)) and not model_files(adoption):
        files[f"{MODELS}/models.yaml"] = NO_MODELS
    if not writing.dry_run:
        check_absent(folder, files, force=writing.force)
        write(folder, files)
    notes = [*(read.notes if read else ())]
    unwritten = _write_import_file(folder, stack, None, "") if owns and not writing.dry_run else []
    notes += unwritten
    if writing.output is Format.JSON:
        report = json_report(adoption, notes, () if writing.dry_run else tuple(files))
        report["aws"] = {"settings": found.values, "unexpressed": [each._asdict() for each in found.findings]}
        report["aws"] |= {"notes": list(found.notes)} if found.notes else {}
        json.dump(report, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in aws_lines(found)))
        if read:
            sys.stdout.write("\n" + text_report(adoption, notes))
        elif notes:
            sys.stdout.write("".join(f"  note: {printable(note)}\n" for note in notes))
        if not writing.dry_run:
            sys.stdout.write(_next_steps(folder, stack, imports=False, owns=owns and not unwritten))
    if adoption.problems:
        raise WorkbenchError("the project has problems; see the report")


def _access(folder: Path, kubeconfig: Path, context: str, cluster_name: str) -> dict[str, Any]:
    """Return the settings by which the stack reaches the cluster."""
    path = kubeconfig.resolve()
    inside = path.is_relative_to(folder.resolve())
    return {
        "kubeconfig": path.relative_to(folder.resolve()).as_posix() if inside else str(path),
        **({"context": context} if context else {}),
        "clusterName": cluster_name,
    }


def _write_import_file(folder: Path, stack: str, kubeconfig: Path | None, context: str) -> list[str]:
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
    if kubeconfig:
        with Kube.from_kubeconfig(kubeconfig, context or None) as kube:
            text = import_text(graph, functools.partial(look_up, kube))
    else:
        text = import_text(graph, lambda *_: None)
    private_folder(call.state_dir)
    (folder / STATE_DIR / import_name(stack)).write_text(text, encoding="utf-8")
    return []


def import_name(stack: str) -> str:
    """Return the name of the file for `pulumi import`, in the folder of the state."""
    return f"import.{stack}.json"


def _next_steps(folder: Path, stack: str, *, imports: bool, owns: bool = False) -> str:
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
    owned = [
        "Import the node groups with the Pulumi CLI. They are protected until `pulumi up`, and retained afterwards:",
        f"  pulumi stack init {stack}",
        f"  pulumi import --stack {stack} --file {STATE_DIR}/{import_name(stack)} --generate-code=false",
        f"  pulumi preview --stack {stack}",
        f"  pulumi up --stack {stack}",
    ]
    following = [*(by_import if imports else ()), *(owned if owns else ())]
    return "".join(f"{line}\n" for line in (*lines, *following))
