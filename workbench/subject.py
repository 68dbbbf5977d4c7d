"""The input of commands that need no cluster: manifests, and the environment to check them against."""

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
        metavar="[PATH...]", help="Manifest files or folders; - reads stdin. Defaults to the models of --stack."
    ),
]


def complete_stack(incomplete: str) -> list[str]:
    """Return the stacks of this folder, for shell completion."""
    names = (path.name[len("Pulumi.") : -len(".yaml")] for path in Path().glob("Pulumi.*.yaml"))
    return sorted(name for name in names if name.startswith(incomplete))


@dataclass(frozen=True, slots=True)
class Subject:
    """The environment to check manifests against, and where its settings come from.

    Attributes:
        stack: The stack whose settings apply; empty for an unknown environment.
        overrides: Settings from the command line, by key.
        configs: Values of ``--config``: ``MODEL=PATH`` or ``PATH`` of a config.json.
    """

    stack: str = ""
    folder: Path = Path()
    overrides: dict[str, Any] = field(default_factory=dict)
    configs: tuple[str, ...] = ()

    def manifests(
        self, paths: Sequence[Path] | None, settings: "FleetSettings | None", default: Path | None = None
    ) -> "Manifests":
        """Read files, folders and stdin; without paths, the models of the stack or a default path.

        Raises:
            WorkbenchError: there are no paths to read.
        """
        files = list(paths or ())
        if not files and self.stack:
            files = [self.folder / path for path in getattr(settings, "models", ())]
        if not files and default:
            files = [default]
        if not files:
            raise WorkbenchError("no manifests: pass files or folders, - for stdin, or --stack", 2)
        return read(files, settings.releases if settings else {})

    def settings(self) -> "FleetSettings":
        """Return the settings of the stack, or defaults without one, with the overrides of the command line.

        Raises:
            WorkbenchError: settings are invalid; the message lists every error.
        """
        if not self.stack:
            return fleet_settings({"namespace": _DEFAULT_NAMESPACE, **self.overrides})
        from .engine.project import stack_settings

        return stack_settings(self.folder, self.stack, self.overrides)

    def environment(self, settings: "FleetSettings | None") -> "Environment":
        """Return the environment to check manifests against, with model shapes from this machine.

        Args:
            settings: None if nothing is set. An environment has the defaults of the settings, whose models take
                longer to import and to build than the plan of one manifest.
        """
        from components.plan.environment import Environment
        from components.resources.serving.fleet.files import read_text

        from .local_models import local_shape, shapes_in

        if settings is None:
            environment = Environment()
        elif self.stack:
            environment = settings.environment(lambda path: read_text(self.folder / path))
        else:
            environment = Environment(options=settings.options(), other_kinds=settings.other_kinds)
        described = shapes_in(self.configs)
        rest = described.pop("", None)
        own = {**environment.shapes.own, **described}
        return replace(environment, shapes=replace(environment.shapes, own=own, rest=rest, local=local_shape))


def fleet_settings(values: Mapping[str, Any]) -> "FleetSettings":
    """Return settings without a stack.

    Raises:
        WorkbenchError: settings are invalid; the message lists every error.
    """
    from pydantic import ValidationError

    from components.plan.faults import faults
    from components.plan.settings import FleetSettings

    try:
        return FleetSettings.model_validate(values)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, fault.path))}: {fault.reason}" for fault in faults(error, FleetSettings)]
        raise WorkbenchError("\n".join(lines), 2) from None


def read(paths: Sequence[Path], releases: Mapping[str, str]) -> "Manifests":
    """Read files and folders; ``-`` reads stdin."""
    from components.contract.load import Manifests
    from components.families import load, load_stream

    files = [path for path in paths if str(path) != STDIN]
    parts = [load(files, releases)] if files else []
    if len(files) < len(paths):
        parts.append(load_stream(sys.stdin.buffer, "<stdin>", releases))
    return parts[0] if len(parts) == 1 else Manifests.merged(parts)


def planned(subject: Subject, paths: Sequence[Path] | None, default: Path | None = None) -> "tuple[Manifests, Plan]":
    """Read and plan manifests; the plan holds their problems."""
    from components.plan.plan import plan

    settings = subject.settings() if subject.stack or subject.overrides else None
    manifests = subject.manifests(paths, settings, default)
    return manifests, plan(manifests, subject.environment(settings))


def _subject(
    *,
    stack: Annotated[
        str,
        typer.Option(
            help="Check against the settings of this stack (Pulumi.<stack>.yaml) instead of an unknown environment.",
            autocompletion=complete_stack,
        ),
    ] = "",
    cwd: Annotated[Path, typer.Option(help="Project folder of the stack.", metavar="DIR")] = Path(),
    realization: Annotated[
        Realization | None,
        typer.Option(help="Render plain Kubernetes objects (native), or custom resources for the upstream operator."),
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY=RELEASE",
            help="Release of an API in which its manifests are read, such as kthena=v1.0.0. Can be repeated.",
        ),
    ] = None,
    workload: Annotated[
        WorkloadChoice | None,
        typer.Option(help="Workload kind; auto creates a LeaderWorkerSet only if a replica spans several pods."),
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace of resources that do not set one.")] = None,
    runtimes: Annotated[
        Edition | None,
        typer.Option(help="Image tags of the built-in runtimes: those of upstream, or current ones. All are pinned."),
    ] = None,
    cache_claim: Annotated[
        str | None, typer.Option(help="PersistentVolumeClaim in which to cache model weights.")
    ] = None,
    cache_host_path: Annotated[
        str | None, typer.Option(help="Path on the node in which to cache model weights.")
    ] = None,
    other_kinds: Annotated[
        OtherKinds | None,
        typer.Option(help="What to do with objects of other APIs, such as Secrets: reject, pass through, or skip."),
    ] = None,
) -> Subject:
    cache = {"claim": cache_claim, "hostPath": cache_host_path}
    overrides = {
        "realization": realization,
        "releases": parse_releases(release),
        "workload": workload,
        "namespace": namespace,
        "runtimes": runtimes,
        "otherKinds": other_kinds,
        "modelCache": {key: value for key, value in cache.items() if value is not None} or None,
    }
    return Subject(stack, cwd, {key: value for key, value in overrides.items() if value is not None})


def parse_releases(options: Sequence[str] | None) -> dict[str, str] | None:
    """Return the values of ``--release`` by family; None without any.

    Raises:
        WorkbenchError: a value is not FAMILY=RELEASE.
    """
    releases = {}
    for option in options or ():
        family, separator, release = option.partition("=")
        if not (family and separator and release):
            raise WorkbenchError(f"--release: must be FAMILY=RELEASE, such as kthena=v1.0.0, found {option!r}", 2)
        releases[family] = release
    return releases or None


def takes_subject(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a Subject to a command, which receives them as its argument ``subject``."""
    own = [param for param in inspect.signature(command).parameters.values() if param.name != "subject"]
    shared = inspect.signature(_subject).parameters

    @functools.wraps(command)
    def wrapper(**options: Any) -> None:  # noqa: ANN401
        subject = _subject(**{name: options.pop(name) for name in shared})
        command(subject=subject, **options)

    # typer reads options from the signature and the annotations.
    wrapper.__signature__ = inspect.Signature([*own, *shared.values()])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {param.name: param.annotation for param in (*own, *shared.values())}
    return wrapper
