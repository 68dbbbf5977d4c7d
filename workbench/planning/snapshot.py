"""The snapshot of a project folder, made by running its program without a cluster, cloud account or credentials."""

from collections.abc import Iterable, Iterator, Mapping
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
    from .traffic import VirtualPlan


_CLOUDS = ("aws", "pulumi")
WITHOUT_STACK = "to plan manifests without a stack, use: workbench plan PATH... --cluster eks"


def take(
    folder: Path,
    stack: str,
    program: Path | None = None,
    virtual: "VirtualPlan | None" = None,
    unbuilt: list[str] | None = None,
) -> Snapshot:
    """Plan the stack of a project folder.

    Args:
        folder: The project.
        stack: Name of the stack.
        program: Folder of the program to run; defaults to the project's.
        virtual: Receives the plan, to simulate it; None if it is not simulated.
        unbuilt: Receives the programs that ``up`` must build first on this machine; they are no part of the plan.

    Raises:
        WorkbenchError: the folder has no project, or one with a program of its own.
    """
    from ..engine.project import ProjectFiles, load_project, own_program

    if not (folder / "Pulumi.yaml").is_file():
        raise WorkbenchError(
            f"{folder / 'Pulumi.yaml'} does not exist. Planning a stack needs a project: Pulumi.yaml, __main__.py "
            f"and Pulumi.{stack}.yaml with the settings; `workbench init` creates one. Run the command in the "
            f"project folder, or use --cwd; {WITHOUT_STACK}",
            2,
        )
    files = ProjectFiles(folder, stack)
    if not files.settings.is_file():
        return Snapshot(stack, absent=True)
    try:
        project = load_project(folder, stack, sealed=True, offline=True)
    except WorkbenchError as error:
        return Snapshot(stack, failed=_relative(str(error), folder))
    if not project.has_settings:
        raise own_program(project, WITHOUT_STACK)
    if program:
        project = replace(project, main=str(program / project.main))
    recording = recorded(project)
    placeholders = {str(NOWHERE): project.kubeconfig}
    if recording.graph:
        snapshot = _registered(recording.graph, placeholders, recording.traced)
    else:
        snapshot = Snapshot(project.stack)
    if recording.planned:
        snapshot = _with_plan(snapshot, *recording.planned, virtual, recording.graph)
        if unbuilt is not None:
            from ..deploying.builds import missing_programs

            unbuilt += missing_programs(project, *recording.planned)
    # An error that is also a finding is reported once.
    return snapshot if snapshot.is_refused else replace(snapshot, failed=_relative(recording.failed, folder))


def _relative(text: str, folder: Path) -> str:
    """Remove the folder from a message, so that messages of two revisions compare equal."""
    return text.replace(f"{folder}/", "")


def _registered(
    graph: "ResourceGraph", placeholders: Mapping[str, str], traced: "tuple[ResourceGraph, StandIns] | None"
) -> Snapshot:
    """Return the resources and endpoints of a program.

    Args:
        graph: The resources.
        placeholders: Values to replace in inputs, with their replacements.
        traced: The same graph with stand-ins for unknown outputs, and the stand-ins.
    """
    titles = {urn: _title(node, masked(dict(node.inputs))) for urn, node in graph.nodes.items()}
    unknowns = Unknowns(titles, traced)
    resources = []
    for urn, node in sorted(graph.nodes.items()):
        inputs = {
            key: placeholders.get(value, value) if isinstance(value, str) else value
            for key, value in unknowns.named(node).items()
        }
        registration = node.registration
        resources.append(
            RegisteredResource(
                urn=node.urn,
                type=registration.type,
                title=titles[urn],
                inputs=_sorted(masked(inputs)),
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
                is_read=registration.is_read,
                timeouts=dict(registration.timeouts),
            )
        )
    endpoints = _sorted(masked(graph.exports.get("endpoints") or {}))
    return Snapshot(
        graph.stack,
        resources=tuple(resources),
        sources=dict(sorted(unknowns.sources.items())),
        endpoints=endpoints if isinstance(endpoints, dict) else {},
    )


def _sorted(value: Any) -> Any:  # noqa: ANN401
    """Sort keys at every level: Pulumi's order differs between processes."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _title(node: "Node", inputs: Mapping[str, Any]) -> str:
    """Return the display name of a resource: kind and name of an object, else type and logical name."""
    registration = node.registration
    if registration.is_object:
        metadata = inputs["metadata"]
        return f"{inputs['kind']} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"
    package, module, kind = f"{registration.type}::".split(":")[:3]
    # Types of clouds keep their module, as in the documentation of the provider.
    return f"{f'{package}:{module}' if package in _CLOUDS else kind or module or package} {registration.name}"


def _with_groups(
    resources: Iterable[RegisteredResource],
    graph: "ResourceGraph | None",
    sources: Mapping[tuple[str, str], Mapping[str, int]],
) -> Iterator[RegisteredResource]:
    """Yield the resources with the node groups that they belong to.

    Args:
        resources: The resources of a program.
        graph: Its graph.
        sources: The nodes of each group, by type and name of the resources that they come from.
    """
    for resource in resources:
        node = graph.nodes.get(resource.urn) if graph else None
        parent = graph.nodes.get(node.registration.parent) if graph and node else None
        component = f"{parent.registration.name}-" if parent else ""
        belongs = bool(component) and resource.name.startswith(component)
        nodes_of = sources.get((resource.type, resource.name.removeprefix(component))) if belongs else None
        yield replace(resource, nodes_of=dict(nodes_of)) if nodes_of else resource


def _with_plan(
    snapshot: Snapshot,
    settings: "Settings",
    planned: "Plan",
    virtual: "VirtualPlan | None",
    graph: "ResourceGraph | None",
) -> Snapshot:
    """Add the plan to a snapshot; a plan exists even if the program rejects it."""
    from components.plan.review.planned import node_sources, snapshot_of
    from stacks.costs import environment_bill

    bill = environment_bill(settings, planned)
    if virtual:
        virtual.take(snapshot.stack, planned, bill)
    return replace(
        snapshot_of(planned, snapshot.stack, bill),
        notes=snapshot.notes,
        resources=tuple(_with_groups(snapshot.resources, graph, node_sources(planned))),
        sources=snapshot.sources,
        endpoints=snapshot.endpoints,
    )
