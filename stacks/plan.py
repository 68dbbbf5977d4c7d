"""What an environment comes to, computed and checked before anything is registered."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pulumi

from components.api.load import load
from components.api.problems import Problem, errors
from components.planning.cluster_checks import check_version
from components.planning.fit import fit
from components.planning.node_checks import check_nodes
from components.planning.node_plan import NodeGroupPlan, node_plan
from components.planning.prerequisites import Prerequisite, check_prerequisites, prerequisites
from components.render.fleet import render_fleet
from components.render.nodes import node_groups
from components.render.types import Fleet, NodeGroupDemand

from .settings import Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """What an environment comes to.

    Attributes:
        groups: What the models need of nodes.
        prerequisites: What the models need in the cluster, in the order of installation.
        cloud_groups: The nodes as node groups of a cloud; empty without one.
    """

    fleet: Fleet
    groups: tuple[NodeGroupDemand, ...]
    prerequisites: tuple[Prerequisite, ...]
    cloud_groups: tuple[NodeGroupPlan, ...] = ()


def plan(settings: Settings) -> Plan:
    """Read and render the manifests, plan nodes and prerequisites and check that all of it can be.

    Raises:
        pulumi.RunError: there are errors; one line each.
    """
    manifests = load(Path(path) for path in settings.models)
    fleet = render_fleet(manifests.resources, settings.options(), unread=manifests.problems)
    problems = [*manifests.problems, *fleet.problems, *fit(fleet)]
    cloud_groups: tuple[NodeGroupPlan, ...] = ()
    if settings.cloud == "aws":
        cloud_groups, found = _nodes(fleet, settings)
        problems += found
    groups = tuple(group.demand for group in cloud_groups) or node_groups(fleet)
    facts = settings.facts()
    listed = prerequisites(fleet, groups, facts)
    problems += check_prerequisites(listed, facts)
    _tell(problems)
    return Plan(fleet, groups, listed, cloud_groups)


def _nodes(fleet: Fleet, settings: Settings) -> tuple[tuple[NodeGroupPlan, ...], list[Problem]]:
    where = settings.environment()
    groups = node_plan(fleet, where)
    problems = list(check_nodes(fleet, groups, where))
    if not settings.cluster.existing:
        problems += check_version(where.version, where.now.date(), settings.file, "cluster.version")
    return groups, problems


def _tell(problems: Iterable[Problem]) -> None:
    """Warn of what works but hardly as meant, and refuse what cannot work."""
    listed = list(problems)
    for problem in listed:
        if problem.severity != "error":
            pulumi.log.warn(str(problem))
    lines = [str(problem) for problem in errors(listed)]
    if lines:
        count = f"{len(lines)} problem{'s' * (len(lines) > 1)} found; nothing is created"
        raise pulumi.RunError("\n".join([count, *lines]))
