"""A snapshot of the files in a folder: the real program runs, without a cluster, a cloud or credentials."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.plan.review.snapshot import RegisteredResource, Snapshot

from ..engine.values import masked
from ..errors import WorkbenchError
from .recording import NOWHERE, recorded
from .unknowns import Unknowns

if TYPE_CHECKING:
    from components.plan.plan import Plan
    from stacks.settings import Settings

    from ..engine.program.graph import Node, ResourceGraph
    from ..engine.program.stand_ins import StandIns
    from ..engine.project import Project


_CLOUDS = ("aws", "pulumi")
MANIFESTS_ALONE = "for manifests without a stack, pass them: workbench plan PATH... --cluster eks"


def take(folder: Path, stack: str, program: Path | None = None) -> Snapshot:
    """Return what the files in a folder come to.

    Args:
        folder: The project.
        stack: Name of the stack.
        program: Folder of the program to run; that of the project without it.

    Raises:
        WorkbenchError: the folder has no project, or it is another one.
    """
    from ..engine.project import ProjectFiles, load_project
    from ..subject import without_stacks

    try:
        from stacks.settings import PROJECT
    except ModuleNotFoundError as error:
        raise without_stacks(error, MANIFESTS_ALONE) from None
    if not (folder / "Pulumi.yaml").is_file():
        raise WorkbenchError(
            f"{folder / 'Pulumi.yaml'} does not exist, and a plan of a stack needs a project: Pulumi.yaml with name: "
            f"{PROJECT} and runtime: python, __main__.py, and Pulumi.{stack}.yaml with the settings; run this in its "
            f"folder, or use --cwd; {MANIFESTS_ALONE}"
        )
    files = ProjectFiles(folder, stack)
    if files.name != PROJECT:
        raise WorkbenchError(
            f"{folder / 'Pulumi.yaml'}: name: must be {PROJECT} for plans of a stack, found {files.name!r}; "
            f"{MANIFESTS_ALONE}",
            2,
        )
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
    renamed = {str(NOWHERE): project.kubeconfig}
    registered = _registered(graph, renamed, found.traced) if graph else Snapshot(project.stack)
    snapshot = _with_plan(registered, *planned) if planned else registered
    # Where a finding says it, nobody needs to be told twice.
    return snapshot if snapshot.is_refused else replace(snapshot, failed=found.failed)


def _registered(
    graph: "ResourceGraph", renamed: Mapping[str, str], traced: "tuple[ResourceGraph, StandIns] | None"
) -> Snapshot:
    """Return what a program registered and exports.

    Args:
        graph: Its resources.
        renamed: What stands for something else in their inputs.
        traced: The same graph with stand-ins for what is unknown.
    """
    endpoints = _shown(graph.exports.get("endpoints") or {})
    titles = {urn: _title(node, masked(dict(node.inputs))) for urn, node in graph.nodes.items()}
    unknowns = Unknowns(titles, traced)
    resources = tuple(_resource(node, titles[urn], renamed, unknowns) for urn, node in sorted(graph.nodes.items()))
    return Snapshot(
        graph.stack,
        resources=resources,
        sources=dict(sorted(unknowns.sources.items())),
        endpoints=endpoints if isinstance(endpoints, dict) else {},
    )


def _resource(node: "Node", title: str, renamed: Mapping[str, str], unknowns: Unknowns) -> RegisteredResource:
    inputs = {
        key: renamed.get(value, value) if isinstance(value, str) else value
        for key, value in unknowns.named(node).items()
    }
    registration = node.registration
    return RegisteredResource(
        urn=node.urn,
        type=registration.type,
        title=title,
        inputs=_shown(inputs),
        is_component=not registration.custom,
        former=node.former,
        ignored=registration.ignore_changes,
        replaced_on=registration.replace_on_changes,
        provider=registration.provider,
        comes_from=registration.property_dependencies if registration.custom else {},
        deletes_first=registration.delete_before_replace,
        goes_with=tuple(filter(None, (registration.deleted_with, *registration.replaced_with))),
        protected=node.protect,
        retained=node.retain,
    )


def _shown(value: Any) -> Any:  # noqa: ANN401
    """Return a value as it may be shown, maps by their keys: the order of Pulumi is another one in every process."""
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
    from components.plan.review.planned import snapshot_of
    from stacks.costs import environment_bill

    found = snapshot_of(planned, snapshot.stack, environment_bill(settings, planned))
    return replace(
        found,
        notes=snapshot.notes,
        resources=snapshot.resources,
        sources=snapshot.sources,
        endpoints=snapshot.endpoints,
    )
