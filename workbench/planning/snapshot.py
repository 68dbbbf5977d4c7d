"""A snapshot of the files in a folder: the real program runs, without a cluster, a cloud or credentials."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.review.snapshot import RegisteredResource, Snapshot

from ..errors import WorkbenchError
from .recording import NOWHERE, recorded

if TYPE_CHECKING:
    from components.plan.plan import Plan
    from stacks.settings import Settings

    from ..engine.program.graph import Node, ResourceGraph
    from ..engine.project import Project


_CLOUDS = ("aws", "pulumi")


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
    found = recorded(project)
    graph, planned = found.graph, found.planned
    registered = _registered(graph, {str(NOWHERE): project.kubeconfig}) if graph else Snapshot(project.stack)
    snapshot = _with_plan(registered, *planned) if planned else registered
    # Where a finding says it, nobody needs to be told twice.
    return snapshot if snapshot.is_refused else replace(snapshot, failed=found.failed)


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
    from components.review.planned import findings_of, groups_of, manifests_of, models_of, workloads_of
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
        manifests=manifests_of(planned),
    )
