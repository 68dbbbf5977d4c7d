"""``workbench adopt``."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from components.contract.texts.outputs import shell_word
from components.contract.texts.printable import printable
from toolkit.printing import Format, Output

from ..errors import WorkbenchError
from .aws.options import OwnedPart
from .leaving import eject

if TYPE_CHECKING:
    from toolkit.kube import Kube

    from ..engine.program.graph import Existing
    from .aws.settings import AwsSettings
    from .aws.source import AwsSource
    from .decisions import Adoption
    from .origins import HelmChart
    from .reading import ReadAdoption

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Project folder; created if it does not exist. Default: this one.")
]
Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Kubeconfig of the cluster. Default with --context: KUBECONFIG, or ~/.kube/config."
    ),
]
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
    output: Output = Format.TEXT,
) -> None:
    """Write a project that takes over the models of a cluster without changing them.

    Resources of the families become typed resources whose operators go on creating the pods; other workloads are
    applied as they are. The first `up` imports all of them: it creates, replaces and restarts nothing. Only GET
    requests are sent, and Secrets are neither read nor written. Without a cluster, from files, a Helm chart or a
    kustomization, the first `up` creates everything.

    With --aws, or a file that describes AWS, the stack uses an EKS cluster, its network and its nodes with
    accelerators without owning them, and creates none of them. With --kubeconfig too, it takes over the models of
    that cluster. With --own, it owns the managed node groups.

    Exit codes: 0 success, 1 nothing to adopt or a problem, 2 usage error.
    """
    from components.plan.conversion.convert import adopting_families

    from .aws.source import AwsSource
    from .origins import HelmChart

    if family and family not in adopting_families():
        raise WorkbenchError(f"--family: must be one of {', '.join(adopting_families())}, found {family!r}", 2)
    source = AwsSource(
        cluster=aws,
        terraform=terraform,
        eksctl=eksctl,
        cloudformation=cloudformation or (),
        region=region,
        profile=profile,
        name=cluster_name,
        own=owned or (),
    )
    source.check()
    if context and not kubeconfig:
        kubeconfig = _default_kubeconfig()
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
    writing = Writing(folder, stack, dry_run, force, output)
    if kubeconfig:
        access = _access(folder, kubeconfig, context, cluster_name or stack)
        _adopt_cluster(
            Connection(kubeconfig, context),
            namespaces or (),
            family=family,
            source=source,
            access=access,
            writing=writing,
        )
        return
    read = None
    if given:
        helm_chart = HelmChart(chart, tuple(helm_values or ()), chart_version, release) if chart else None
        read = _read_rendered(origins or (), helm_chart, kustomize, namespaces or (), family)
    found = source.settings() if source.options else None
    access = {} if found else _access(folder, folder / "kubeconfig", context, cluster_name or stack)
    _finish(read, access, found, writing)


class Writing(NamedTuple):
    """Where and how the result is written."""

    folder: Path
    stack: str
    dry_run: bool
    force: bool
    output: Format


class Connection(NamedTuple):
    """A context of a kubeconfig; empty for the current one."""

    kubeconfig: Path
    context: str

    def open(self) -> "Kube":
        """Return a client."""
        from toolkit.kube import Kube

        return Kube.from_kubeconfig(self.kubeconfig, self.context or None)


def _default_kubeconfig() -> Path:
    """Return the kubeconfig that kubectl uses; of a list of files, the first."""
    first = os.environ.get("KUBECONFIG", "").partition(os.pathsep)[0]
    return Path(first or "~/.kube/config").expanduser()


def _adopt_cluster(
    connection: Connection,
    namespaces: Sequence[str],
    family: str,
    source: "AwsSource",
    access: Mapping[str, Any],
    writing: Writing,
) -> None:
    """Write a stack that takes over what runs in a cluster, with the settings of AWS if they are given."""
    from toolkit.kubeconfig import read_cluster_entry

    from ..inspecting.reading import read_cluster
    from .aws.identity import check_same_cluster, existing_cluster
    from .reading import read_adoption

    aws, existing = None, {}
    notes: list[str] = []
    if source.options:
        entry, inventory = read_cluster_entry(connection.kubeconfig, connection.context or None), source.inventory()
        notes += filter(None, [check_same_cluster(inventory.cluster, entry, inventory.source)])
        existing = existing_cluster(inventory.cluster, entry)
    with connection.open() as kube:
        snapshot = read_cluster(kube, namespaces)
        if source.options:
            aws, access = source.settings(inventory, snapshot), {}
        read = read_adoption(kube, snapshot, family, aws.values if aws else {})
    _finish(
        replace(read, notes=(*notes, *read.notes)),
        access,
        aws=aws,
        writing=writing,
        connection=connection,
        existing=existing,
    )


def _finish(
    read: "ReadAdoption | None",
    access: Mapping[str, Any],
    aws: "AwsSettings | None",
    writing: Writing,
    connection: Connection | None = None,
    existing: "Existing | None" = None,
) -> None:
    """Write the project, and report.

    Args:
        read: The decisions about objects; None without objects.
        access: The settings by which the stack reaches the cluster, unless AWS describes it.
        aws: The settings that describe the cluster on AWS; None without.
        writing: Where and how the project is written.
        connection: The cluster whose objects are imported.
        existing: What the program of the stack reads from AWS.
    """
    from ..engine.project import check_new_settings
    from .decisions import Adoption
    from .project import MODELS, NO_MODELS, OWN_MODELS, check_absent, model_files, project_files, write
    from .report import text_report

    folder, adoption = writing.folder, read.adoption if read else Adoption(())
    notes = list(read.notes) if read else []
    if read and not aws and not any(decision.manifest for decision in adoption.decisions):
        sys.stdout.write(text_report(adoption, notes))
        raise WorkbenchError("nothing to adopt: no object serves a model; see the report, and --namespace")
    values = {**access, **(read.values if read else {})}
    if aws:
        # The settings of a cluster that was read contain those of AWS, with what else it has.
        values = values if connection else {**values, **aws.values}
        check_new_settings(values, writing.stack)
    files = project_files(folder, writing.stack, adoption, values)
    owns = any("ownedGroups" in entry for entry in values.get("gpuNodes", {}).get("types", {}).values())
    if owns and not any((folder / path).is_dir() for path in (MODELS, OWN_MODELS)) and not model_files(adoption):
        files[f"{MODELS}/models.yaml"] = NO_MODELS
    is_written = False
    if not writing.dry_run:
        check_absent(folder, files, force=writing.force)
        write(folder, files)
        if connection or owns:
            is_written, more = _write_import_file(writing, connection, existing or {})
            notes += more
    steps = _next_steps(
        writing,
        imports=bool(is_written and connection and adoption.imports),
        owns=is_written and owns,
        on_aws=bool(aws),
    )
    _print_report(adoption, notes, aws=aws, read=read, files=files, writing=writing, steps=steps)
    if adoption.problems:
        raise WorkbenchError("the project has problems; see the report")


def _print_report(
    adoption: "Adoption",
    notes: Sequence[str],
    aws: "AwsSettings | None",
    read: "ReadAdoption | None",
    files: Mapping[str, str],
    writing: Writing,
    steps: str,
) -> None:
    from .aws.source import aws_lines
    from .report import json_report, text_report

    if writing.output is Format.JSON:
        report = json_report(adoption, notes, () if writing.dry_run else tuple(files))
        if aws:
            report["aws"] = {
                "settings": aws.values,
                "unexpressed": [finding._asdict() for finding in aws.findings],
                "vpcRanges": list(aws.ranges),
                **({"notes": list(aws.notes)} if aws.notes else {}),
            }
        json.dump(report, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    if aws:
        sys.stdout.write("".join(f"{line}\n" for line in aws_lines(aws)))
    if read:
        sys.stdout.write("\n" * bool(aws) + text_report(adoption, notes))
    elif notes:
        sys.stdout.write("".join(f"  note: {printable(note)}\n" for note in notes))
    if not writing.dry_run:
        sys.stdout.write(steps)


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


def _access(folder: Path, kubeconfig: Path, context: str, cluster_name: str) -> dict[str, Any]:
    """Return the settings by which the stack reaches the cluster."""
    path = kubeconfig.resolve()
    inside = path.is_relative_to(folder.resolve())
    return {
        "kubeconfig": path.relative_to(folder.resolve()).as_posix() if inside else str(path),
        **({"context": context} if context else {}),
        "clusterName": cluster_name,
    }


def _write_import_file(
    writing: Writing, connection: Connection | None, existing: "Existing"
) -> tuple[bool, list[str]]:
    """Write the file for `pulumi import`.

    Returns:
        Whether it was written, and notes about what the program creates besides, or why it was not.
    """
    import functools

    from toolkit.private import private_folder

    from ..deploying.call import STATE_DIR, Deployer, StackCall
    from .import_file import created_on_cloud, import_text
    from .reading import look_up

    folder, stack = writing.folder, writing.stack
    call = StackCall(stack, Deployer.LOCAL, "", folder.resolve(), {"existing": existing})
    try:
        graph = call.local().record(preview=True)
    except WorkbenchError as error:
        return False, [f"no file for `pulumi import` was written: {error}"]
    if connection:
        with connection.open() as kube:
            text = import_text(graph, functools.partial(look_up, kube))
    else:
        text = import_text(graph, lambda *_: None)
    private_folder(call.state_dir)
    (folder / STATE_DIR / import_name(stack)).write_text(text, encoding="utf-8")
    created = created_on_cloud(graph)
    return True, [f"the first `up` would create on AWS: {', '.join(created)}"] if created else []


def import_name(stack: str) -> str:
    """Return the name of the file for `pulumi import`, in the folder of the state."""
    return f"import.{stack}.json"


def _next_steps(writing: Writing, *, imports: bool, owns: bool, on_aws: bool) -> str:
    from ..deploying.call import STATE_DIR

    folder, stack = writing.folder, writing.stack
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shell_word(str(folder))} && "
    lines = [
        "",
        "Next, check the fleet:",
        f"  {enter}workbench plan --stack {shell_word(stack)}",
    ]
    pulumi_import = (
        f"  pulumi import --stack {shell_word(stack)} --file {shell_word(f'{STATE_DIR}/{import_name(stack)}')}"
    )
    if owns:
        lines += [
            f"Import the node groups{' and what runs' if imports else ''} with the Pulumi CLI. They are protected "
            "until `pulumi up`, and retained afterwards:",
            f"  pulumi stack init {shell_word(stack)}",
            f"{pulumi_import} --generate-code=false",
            f"  pulumi preview --stack {shell_word(stack)}",
            f"  pulumi up --stack {shell_word(stack)}",
        ]
    elif imports:
        lines += [
            "With the Pulumi CLI, import it; the preview then shows no change to what runs:",
            f"  pulumi stack init {shell_word(stack)}",
            f"{pulumi_import} --protect=false --generate-code=false",
            f"  pulumi preview --stack {shell_word(stack)}",
        ]
    if imports and not on_aws:
        lines += [
            "With the local engine, the preview shows imports only:",
            f"  workbench preview --stack {stack} --engine local",
            f"  workbench up --stack {stack} --engine local",
        ]
    return "".join(f"{line}\n" for line in lines)
