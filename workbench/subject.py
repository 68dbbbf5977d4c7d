"""What the commands that need no cluster work on: manifests, and the environment that they are for."""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from components.fleet.words import Edition, OtherKinds, Realization, WorkloadChoice

from .errors import WorkbenchError

if TYPE_CHECKING:
    from components.contract.load import Manifests
    from components.plan.environment import Environment
    from components.plan.plan import Plan
    from components.plan.settings import FleetSettings

STDIN = "-"
_DEFAULT_NAMESPACE = "default"

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH...]", help="Manifest files or folders; - reads stdin. With --stack: default is its models."
    ),
]


def complete_stack(incomplete: str) -> list[str]:
    """Return the stacks with settings in this folder, for the shell that completes a name."""
    names = (path.name[len("Pulumi.") : -len(".yaml")] for path in Path().glob("Pulumi.*.yaml"))
    return sorted(name for name in names if name.startswith(incomplete))


@dataclass(frozen=True, slots=True)
class Subject:
    """Manifests, and the environment that they are for.

    Attributes:
        stack: The stack whose settings count; empty for an environment of which nothing is known.
        overrides: Settings from the command line, by their keys.
        configs: Models that the command line describes, each as ``MODEL=PATH`` or ``PATH`` of a config.json.
    """

    stack: str = ""
    folder: Path = Path()
    overrides: dict[str, Any] = field(default_factory=dict)
    configs: tuple[str, ...] = ()

    def manifests(
        self, paths: Sequence[Path] | None, settings: "FleetSettings", default: Path | None = None
    ) -> "Manifests":
        """Read files, folders and stdin; without any the models of the stack, or else a default.

        Raises:
            WorkbenchError: there is nothing to read.
        """
        given = list(paths or ())
        if not given and self.stack:
            given = [self.folder / path for path in getattr(settings, "models", ())]
        if not given and default:
            given = [default]
        if not given:
            raise WorkbenchError("pass manifest files or folders, - for stdin, or --stack for the models of one", 2)
        return read(given)

    def settings(self) -> "FleetSettings":
        """Return the settings of the stack, or of nowhere in particular, with those of the command line.

        Raises:
            WorkbenchError: settings are wrong; all of them are listed.
        """
        return self._of_stack() if self.stack else self._of_nowhere()

    def environment(self, settings: "FleetSettings") -> "Environment":
        """Return what is known of the environment."""
        from components.plan.environment import Environment
        from components.resources.serving.fleet.files import read_text

        from .local_models import local_shape, shapes_in

        if self.stack:
            found = settings.environment(lambda path: read_text(self.folder / path))
        else:
            found = Environment(options=settings.options(), other_kinds=settings.other_kinds)
        described = shapes_in(self.configs)
        rest = described.pop("", None)
        own = {**found.shapes.own, **described}
        return replace(found, shapes=replace(found.shapes, own=own, rest=rest, local=local_shape))

    def _of_stack(self) -> "FleetSettings":
        from .engine.project import stack_settings

        try:
            return stack_settings(self.folder, self.stack, self.overrides)
        except ModuleNotFoundError as error:
            raise without_stacks(error, "leave out --stack to check manifests by themselves") from None

    def _of_nowhere(self) -> "FleetSettings":
        return fleet_settings({"namespace": _DEFAULT_NAMESPACE, **self.overrides})


def fleet_settings(values: Mapping[str, Any]) -> "FleetSettings":
    """Return settings without a stack, those that are not given by their defaults.

    Raises:
        WorkbenchError: settings are wrong; all of them are listed.
    """
    from pydantic import ValidationError

    from components.plan.faults import faults
    from components.plan.settings import FleetSettings

    try:
        return FleetSettings.model_validate(values)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, fault.path))}: {fault.reason}" for fault in faults(error, FleetSettings)]
        raise WorkbenchError("\n".join(wrong), 2) from None


def without_stacks(error: ModuleNotFoundError, instead: str) -> Exception:
    """Return what to raise where the code that knows the settings of stacks is not installed.

    Args:
        error: What Python said; it is returned where another module is missing.
        instead: What does work here.
    """
    if (error.name or "").partition(".")[0] != "stacks":
        return error
    return WorkbenchError(
        "--stack needs a checkout of the project inference-platform, and the workbench of that checkout (make env): "
        "its Pulumi.yaml, __main__.py, components/ and stacks/, which know the settings in Pulumi.<stack>.yaml, are "
        f"not in the package that runs this command; {instead}",
        2,
    )


def read(paths: Sequence[Path]) -> "Manifests":
    """Read files and folders, and stdin where the path is ``-``."""
    from components.contract.load import Manifests
    from components.families import load, load_stream

    files = [path for path in paths if str(path) != STDIN]
    parts = [load(files)] if files else []
    if len(files) < len(paths):
        parts.append(load_stream(sys.stdin.buffer, "<stdin>"))
    return parts[0] if len(parts) == 1 else Manifests.merged(parts)


def planned(subject: Subject, paths: Sequence[Path] | None, default: Path | None = None) -> "tuple[Manifests, Plan]":
    """Read and plan; what is wrong with manifests is in the plan."""
    from components.plan.plan import plan

    settings = subject.settings()
    manifests = subject.manifests(paths, settings, default)
    return manifests, plan(manifests, subject.environment(settings))


def _subject(
    *,
    stack: Annotated[
        str,
        typer.Option(
            help="Check for this stack, whose settings are in Pulumi.<stack>.yaml, instead of for any environment.",
            autocompletion=complete_stack,
        ),
    ] = "",
    cwd: Annotated[Path, typer.Option(help="Project folder of the stack.", metavar="DIR")] = Path(),
    realization: Annotated[
        Realization | None,
        typer.Option(help="Plain Kubernetes objects (native), or custom resources for the upstream operator."),
    ] = None,
    workload: Annotated[
        WorkloadChoice | None,
        typer.Option(help="auto creates a LeaderWorkerSet only if a replica spans several pods."),
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace of resources that do not set one.")] = None,
    runtimes: Annotated[
        Edition | None,
        typer.Option(help="Edition of the shipped runtimes: upstream's image tags, or current ones (all pinned)."),
    ] = None,
    cache_claim: Annotated[str | None, typer.Option(help="PersistentVolumeClaim that keeps loaded weights.")] = None,
    cache_host_path: Annotated[str | None, typer.Option(help="Folder on the node that keeps loaded weights.")] = None,
    other_kinds: Annotated[
        OtherKinds | None,
        typer.Option(help="Objects of other APIs, such as a Secret: refuse them, pass them through, or skip them."),
    ] = None,
) -> Subject:
    cache = {"claim": cache_claim, "hostPath": cache_host_path}
    given = {
        "realization": realization,
        "workload": workload,
        "namespace": namespace,
        "runtimes": runtimes,
        "otherKinds": other_kinds,
        "modelCache": {key: value for key, value in cache.items() if value is not None} or None,
    }
    return Subject(stack, cwd, {key: value for key, value in given.items() if value is not None})


def takes_subject(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say what its manifests are for; it gets them as its argument ``subject``."""
    own = [each for each in inspect.signature(command).parameters.values() if each.name != "subject"]
    shared = inspect.signature(_subject).parameters

    @functools.wraps(command)
    def wrapper(**given: Any) -> None:  # noqa: ANN401  whatever the options are
        subject = _subject(**{name: given.pop(name) for name in shared})
        command(subject=subject, **given)

    wrapper.__signature__ = inspect.Signature([*own, *shared.values()])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in (*own, *shared.values())}
    return wrapper
