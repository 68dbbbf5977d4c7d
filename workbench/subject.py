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

from .default_stack import choose_stack
from .errors import WorkbenchError

if TYPE_CHECKING:
    from components.contract.load import LoadedResource, Manifests
    from components.plan.environment import Environment
    from components.plan.plan import Plan
    from components.plan.settings import FleetSettings

STDIN = "-"
_DEFAULT_NAMESPACE = "default"

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH", help="Manifest files or folders; - reads stdin. Default: the models of the stack."
    ),
]


StackOption = Annotated[
    str | None,
    typer.Option(
        "--stack",
        metavar="NAME",
        help="Stack whose settings apply (Pulumi.NAME.yaml); none for default settings. Default: in a project, local "
        "or the only stack.",
        autocompletion=lambda incomplete: complete_stack(incomplete),
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
        title: The default stack, for a line of output; empty if the command line names the stack.
        undecided: Why no stack could be chosen; a command that needs none does not fail.
    """

    stack: str = ""
    folder: Path = Path()
    overrides: dict[str, Any] = field(default_factory=dict)
    configs: tuple[str, ...] = ()
    title: str = ""
    undecided: str = ""

    def announce(self) -> None:
        """Say which settings apply, on stderr, because stdout is often read by programs.

        Raises:
            WorkbenchError: there are several stacks to choose from.
        """
        if self.undecided:
            raise WorkbenchError(self.undecided, 2)
        # Scripts that check manifests without a project read nothing new on stderr.
        if self.title and (self.stack or sys.stderr.isatty()):
            print(self.title, file=sys.stderr)  # noqa: T201

    def manifests(self, paths: Sequence[Path] | None, settings: "FleetSettings | None") -> "Manifests":
        """Read files, folders and stdin; without paths, the models of the stack.

        Raises:
            WorkbenchError: there are no paths to read.
        """
        self.announce()
        files = list(paths or ())
        if not files and self.stack:
            files = self.models(settings)
        if not files:
            raise WorkbenchError(
                "no manifests: pass files or folders, or - for stdin; or run this in a project with a stack, or use "
                "--cwd and --stack",
                2,
            )
        return read(files, settings.releases if settings else {})

    def models(self, settings: "FleetSettings | None") -> list[Path]:
        """Return the models of the stack."""
        return [self.folder / path for path in getattr(settings, "models", ())]

    def with_rest(
        self, given: "Manifests", paths: Sequence[Path], settings: "FleetSettings | None"
    ) -> "tuple[Manifests, Manifests]":
        """Read the models of the stack that are not among the given manifests, which may refer to them.

        Returns both, in the order of a plan of the stack (of two objects with one name, the second is reported), and
        those that were added.

        An object of a manifest that is not among the models of the stack replaces the one with its name.
        """
        from components.contract.documents.files import manifest_files
        from components.contract.load import Manifests

        known = {file.resolve() for file in manifest_files([path for path in paths if str(path) != STDIN], [])}
        models = {file.resolve(): file for file in manifest_files(self.models(settings), [])}
        rest = read(
            [file for real, file in models.items() if real not in known], settings.releases if settings else {}
        )
        default = settings.options().namespace if settings else _DEFAULT_NAMESPACE

        def identity(source: "LoadedResource") -> tuple[str, str, str]:
            return source.kind.title, source.resource.metadata.namespace or default, source.name

        own = {
            identity(source)
            for source in (*given.resources, *given.partial)
            if Path(source.file).resolve() not in models
        }
        rest = replace(
            rest,
            resources=tuple(source for source in rest.resources if identity(source) not in own),
            partial=tuple(source for source in rest.partial if identity(source) not in own),
        )
        order = {real: number for number, real in enumerate(models)}

        def position(source: "LoadedResource") -> int:
            return order.get(Path(source.file).resolve(), len(order))

        merged = Manifests.merged([given, rest])
        return replace(merged, resources=tuple(sorted(merged.resources, key=position))), rest

    def settings(self) -> "FleetSettings":
        """Return the settings of the stack, or defaults without one, with the overrides of the command line.

        Raises:
            WorkbenchError: settings are invalid; the message lists every error.
        """
        if not self.stack:
            return fleet_settings({"namespace": _DEFAULT_NAMESPACE, **self.overrides})
        if self.overrides:
            # An invalid option is reported as such, not as a setting in the file of the stack.
            fleet_settings({"namespace": _DEFAULT_NAMESPACE, **self.overrides})
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


def planned(subject: Subject, paths: Sequence[Path] | None, *, figures: bool = False) -> "tuple[Manifests, Plan]":
    """Read and plan manifests; the plan holds their problems.

    Manifests in a project are planned together with the other models of its stack, as a plan of the stack does. What
    is returned is about the given manifests only.

    Args:
        subject: The environment.
        paths: The manifests; None or empty for those of the stack.
        figures: Whether nodes and costs matter, which are those of the given manifests alone.
    """
    settings = subject.settings() if subject.stack or subject.overrides else None
    manifests, found = _planned(subject, settings, paths, figures=figures)
    if not subject.stack:
        return manifests, found
    from stacks.adopting import without_omitted
    from stacks.settings import Settings
    from stacks.settings_problems import with_settings_problems

    assert isinstance(settings, Settings)  # noqa: S101  a stack has those of an environment
    return manifests, with_settings_problems(without_omitted(found, settings.adopted), settings, subject.folder)


def _planned(
    subject: Subject, settings: "FleetSettings | None", paths: Sequence[Path] | None, *, figures: bool
) -> "tuple[Manifests, Plan]":
    from components.plan.plan import plan

    manifests = subject.manifests(paths, settings)
    environment = subject.environment(settings)
    if not subject.stack or not paths:
        return manifests, plan(manifests, environment)
    every, rest = subject.with_rest(manifests, paths, settings)
    if not rest.count:
        return manifests, plan(manifests, environment)
    whole = plan(every, environment)
    if not figures:
        return manifests, _without(rest, whole, whole)
    # Other models are left out, but not what the given ones refer to.
    serving = {(item.source.file, item.source.line) for item in whole.fleet.rendered if item.pods}
    others = {(source.file, source.line) for source in rest.resources} & serving
    alone = replace(
        every,
        resources=tuple(source for source in every.resources if (source.file, source.line) not in others),
        others=manifests.others,
    )
    return manifests, _without(rest, whole, plan(alone, environment))


def _without(rest: "Manifests", whole: "Plan", own: "Plan") -> "Plan":
    """Return a plan without what is about other manifests of the stack.

    Args:
        rest: The other manifests.
        whole: The plan of all manifests, whose problems count.
        own: The plan to return.
    """
    files = {source.file for source in (*rest.resources, *rest.partial)}
    files |= {other.file for other in rest.others} | {problem.file for problem in rest.problems}
    fleet = replace(
        own.fleet,
        rendered=tuple(item for item in own.fleet.rendered if item.source.file not in files),
        problems=tuple(problem for problem in whole.fleet.problems if problem.file not in files),
    )
    others = {(other.value["apiVersion"], other.value["kind"], _name(other.value)) for other in rest.others}
    return replace(
        own,
        fleet=fleet,
        problems=tuple(problem for problem in whole.problems if problem.file not in files),
        ignored=tuple(entry for entry in whole.ignored if entry.problem.file not in files),
        verdicts=tuple(fit for fit in own.verdicts if fit.item.source.file not in files),
        others=tuple(body for body in own.others if (body["apiVersion"], body["kind"], _name(body)) not in others),
    )


def _name(body: Mapping[str, Any]) -> tuple[str, str]:
    return str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])


def _subject(
    paths: Sequence[Path],
    *,
    stack: StackOption = None,
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
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        chosen = choose_stack(cwd, stack, paths)
    except WorkbenchError as error:
        return Subject("", cwd, given, undecided=str(error))
    # Who passes --stack knows it.
    return Subject(chosen.name, chosen.folder, given, title="" if stack else chosen.title)


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
    shared = {name: param for name, param in inspect.signature(_subject).parameters.items() if name != "paths"}

    @functools.wraps(command)
    def wrapper(**options: Any) -> None:  # noqa: ANN401
        subject = _subject(options.get("paths") or (), **{name: options.pop(name) for name in shared})
        command(subject=subject, **options)

    # typer reads options from the signature and the annotations.
    wrapper.__signature__ = inspect.Signature([*own, *shared.values()])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {param.name: param.annotation for param in (*own, *shared.values())}
    return wrapper
