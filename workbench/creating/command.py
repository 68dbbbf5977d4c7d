"""``workbench init``."""

import enum
import sys
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from components.contract.texts.outputs import shell_line, shell_word
from components.contract.texts.printable import printable

from ..errors import WorkbenchError
from .answers import Answers, CiChoice, ClusterChoice, FamilyChoice, project_name

_Choice = TypeVar("_Choice", bound=enum.StrEnum)
_REGION = "us-east-1"
DEFAULTS = Answers(ClusterChoice.EXISTING, _REGION, FamilyChoice.LLMAZ, gateway=False, ci=CiChoice.GITHUB)

Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="Folder to write to; created if it does not exist. Default: this one."),
]
Cluster = Annotated[
    ClusterChoice | None,
    typer.Option(
        help="Your cluster: the one of a kubeconfig (stack shared), or an EKS cluster to create (stack dev)."
    ),
]
Region = Annotated[str | None, typer.Option(help="AWS region, for --cluster eks.")]
Family = Annotated[
    FamilyChoice | None, typer.Option(help="System whose kinds declare the first model; all can be used together.")
]
Gateway = Annotated[
    bool | None,
    typer.Option(
        "--gateway/--no-gateway", help="Whether one gateway with TLS and API keys serves clients outside the cluster."
    ),
]
Ci = Annotated[CiChoice | None, typer.Option(help="Where to plan pull requests.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


def register(app: typer.Typer) -> None:
    """Add the ``init`` command."""
    app.command()(init)


def init(
    folder: Folder = Path(),
    *,
    cluster: Cluster = None,
    region: Region = None,
    family: Family = None,
    gateway: Gateway = None,
    ci: Ci = None,
    force: Force = False,
) -> None:
    """Write a repository with a model, a stack for a simulated cluster, and a stack for your cluster.

    On a terminal, asks for what the options leave open; elsewhere, uses defaults and prints them. The same answers
    always produce the same files.
    """
    from .repository import repository

    answers = _answers(cluster, region, family, gateway, ci)
    files = repository(answers, project_name(folder.resolve().name))
    _check_absent(folder, files, force=force)
    for path, text in files.items():
        _write(folder / path, text)
    sys.stdout.write(_report(folder, files))


def _answers(
    cluster: ClusterChoice | None,
    region: str | None,
    family: FamilyChoice | None,
    gateway: bool | None,  # noqa: FBT001  an answer like the others
    ci: CiChoice | None,
) -> Answers:
    """Return the answers of the options, of the terminal, and of the defaults, in this order."""
    asks = sys.stdin.isatty()
    if region is not None and (cluster or DEFAULTS.cluster) is not ClusterChoice.EKS and not (asks and not cluster):
        raise WorkbenchError("--region needs --cluster eks: an existing cluster has its region", 2)
    if not asks:
        answers = Answers(
            cluster or DEFAULTS.cluster,
            region or DEFAULTS.region,
            family or DEFAULTS.family,
            DEFAULTS.gateway if gateway is None else gateway,
            ci or DEFAULTS.ci,
        )
        sys.stdout.write(f"answers: {shell_line(_options(answers))}\n")
        return answers
    cluster = cluster or _ask("Your cluster", DEFAULTS.cluster)
    if cluster is ClusterChoice.EKS and region is None:
        region = str(typer.prompt("AWS region", default=DEFAULTS.region))
    family = family or _ask("System of the first model", DEFAULTS.family)
    if gateway is None:
        gateway = typer.confirm("A gateway with TLS and API keys for clients", default=DEFAULTS.gateway)
    return Answers(cluster, region or DEFAULTS.region, family, gateway, ci or _ask("CI", DEFAULTS.ci))


def _ask(question: str, default: _Choice) -> _Choice:
    choices = list(type(default))
    words = ", ".join(choices)
    while True:
        answer = typer.prompt(f"{question} ({words})", default=default.value)
        for choice in choices:
            if choice.value == answer:
                return choice
        typer.echo(f"must be one of {words}, found {printable(str(answer))!r}")


def _options(answers: Answers) -> list[str]:
    region = ["--region", answers.region] if answers.cluster is ClusterChoice.EKS else []
    gateway = "--gateway" if answers.gateway else "--no-gateway"
    return ["--cluster", answers.cluster, *region, "--family", answers.family, gateway, "--ci", answers.ci]


def _check_absent(folder: Path, files: dict[str, str], *, force: bool) -> None:
    """Check that no file would be overwritten, or only files with ``--force``.

    Raises:
        WorkbenchError: it would; the message names every such file.
    """
    existing = [path for path in files if (folder / path).is_symlink() or (folder / path).exists()]
    replaceable = [path for path in existing if (folder / path).is_file() and not (folder / path).is_symlink()]
    if force:
        existing = [path for path in existing if path not in replaceable]
    if existing:
        advice = (
            "move them away" if force else "move them away, choose another folder, or overwrite files with --force"
        )
        raise WorkbenchError(
            f"{printable(str(folder))}: nothing was written, because these exist: {', '.join(existing)}; {advice}"
        )


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(f"{printable(str(path))}: cannot be written: {error.strerror}") from None


def _report(folder: Path, files: dict[str, str]) -> str:
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shell_word(str(folder))} && "
    lines = [
        *(f"wrote {printable(str(folder / path))}" for path in files),
        "",
        "Next, check the fleet, and start it on a simulated cluster:",
        f"  {enter}workbench plan",
        "  workbench up --start-cluster",
    ]
    return "".join(f"{line}\n" for line in lines)
