"""A snapshot of the files in a folder: the real program runs, without a cluster, a cloud or credentials."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.review.snapshot import RegisteredResource, Snapshot

from ..errors import WorkbenchError

if TYPE_CHECKING:
    from components.plan.plan import Plan
    from stacks.settings import Settings

    from ..engine.program.graph import Node, ResourceGraph
    from ..engine.project import Project


_CLOUDS = ("aws", "pulumi")
_NOWHERE = Path(__file__).with_name("nowhere.yaml")
"""A kubeconfig that leads nowhere, for a program that insists on one when only a plan is made."""


@dataclass(slots=True)
class _Heard:
    """What the program planned, where it got so far."""

    found: "list[tuple[Settings, Plan]]" = field(default_factory=list)

    def listen(self, settings: "Settings", planned: "Plan") -> None:
        self.found.append((settings, planned))


def take(folder: Path, stack: str, program: Path | None = None) -> Snapshot:
    """Return what the files in a folder come to.

    Args:
        folder: The project.
        stack: Name of the stack.
        program: Folder of the program to run; that of the project without it.

    Raises:
        WorkbenchError: the folder has no project, or it is another one.
    """
    from stacks.settings import PROJECT

    from ..engine.project import ProjectFiles, load_project

    files = ProjectFiles(folder, stack)
    if files.name != PROJECT:
        raise WorkbenchError(f"{folder / 'Pulumi.yaml'}: name: plans are made of the project {PROJECT}", 2)
    if not files.settings.is_file():
        return Snapshot(stack, absent=True)
    try:
        project = load_project(folder, stack, sealed=True)
    except WorkbenchError as error:
        return Snapshot(stack, failed=_relative(str(error), folder))
    if program:
        project = replace(project, main=str(program / project.main))
    found = _of_program(project)
    return replace(found, failed=_relative(found.failed, folder))


def _relative(text: str, folder: Path) -> str:
    """Return a message without the folder: it is the same of every revision, wherever its files are."""
    return text.replace(f"{folder}/", "")


def _of_program(project: "Project") -> Snapshot:
    from stacks.environment import listening

    heard, graph, failed = _Heard(), None, ""
    with _quiet(), listening(heard.listen):
        try:
            graph = _record(project)
        except WorkbenchError as error:
            failed = str(error)
    registered = _registered(graph, {str(_NOWHERE): project.kubeconfig}) if graph else Snapshot(project.stack)
    snapshot = _with_plan(registered, *heard.found[-1]) if heard.found else registered
    # Where a finding says it, nobody needs to be told twice.
    return snapshot if snapshot.is_refused else replace(snapshot, failed=failed)


def _record(project: "Project") -> "ResourceGraph":
    from ..engine.local import LocalEngine, RunOptions

    key = f"{project.name}:kubeconfig"
    config = {**project.config, key: str(_NOWHERE)} if project.kubeconfig else project.config
    engine = LocalEngine(replace(project, config=config), project.folder, options=RunOptions(offline=True))
    return engine.record(preview=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the program's log back: whatever it says is among the findings."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _registered(graph: "ResourceGraph", renamed: Mapping[str, str]) -> Snapshot:
    """Return what a program registered and exports.

    Args:
        graph: Its resources.
        renamed: What stands for something else in their inputs.
    """
    endpoints = _shown(graph.exports.get("endpoints") or {})
    return Snapshot(
        graph.stack,
        resources=tuple(_resource(node, renamed) for _, node in sorted(graph.nodes.items())),
        endpoints=endpoints if isinstance(endpoints, dict) else {},
    )


def _resource(node: "Node", renamed: Mapping[str, str]) -> RegisteredResource:
    inputs = {
        key: renamed.get(value, value) if isinstance(value, str) else value for key, value in node.inputs.items()
    }
    shown: dict[str, Any] = _shown(inputs)
    return RegisteredResource(
        urn=node.urn,
        type=node.registration.type,
        title=_title(node, shown),
        inputs=shown,
        is_component=not node.registration.custom,
        former=node.former,
        ignored=node.registration.ignore_changes,
        replaced_on=node.registration.replace_on_changes,
    )


def _shown(value: Any) -> Any:  # noqa: ANN401
    """Return a value as it may be shown, maps by their keys: the order of Pulumi is another one in every process."""
    from ..engine.values import masked

    return _ordered(masked(value))


def _ordered(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(each) for each in value] if isinstance(value, list) else value


def _title(node: "Node", inputs: Mapping[str, Any]) -> str:
    """Name a resource for a reader: an object by its kind, another one by its type."""
    registration = node.registration
    if registration.is_object:
        metadata = inputs["metadata"]
        return f"{inputs['kind']} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"
    package, module, kind = f"{registration.type}::".split(":")[:3]
    # A cloud's own types are named as its documentation does; ours, and Helm's, by the last word.
    return f"{f'{package}:{module}' if package in _CLOUDS else kind or module or package} {registration.name}"


def _with_plan(snapshot: Snapshot, settings: "Settings", planned: "Plan") -> Snapshot:
    """Return a snapshot with what was planned, which is there even where the program refuses it."""
    from components.review.planned import findings_of, groups_of, models_of, workloads_of
    from stacks.costs import environment_bill

    workloads = workloads_of(planned)
    return replace(
        snapshot,
        models=models_of(planned, workloads),
        workloads=workloads,
        simulated=planned.environment.simulated,
        groups=groups_of(planned),
        findings=findings_of([*planned.problems, *(each.problem for each in planned.ignored)]),
        bill=environment_bill(settings, planned),
    )
