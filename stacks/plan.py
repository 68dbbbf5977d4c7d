"""What an environment comes to, computed and checked before anything is registered."""

from collections.abc import Iterable, Iterator
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
from components.render.core_services import is_balanced
from components.render.fleet import render_fleet
from components.render.front_door import AWS_LOAD_BALANCER_CONTROLLER, FrontDoorPlan
from components.render.metrics import MetricChain, with_scaled_objects
from components.render.nodes import node_groups
from components.render.types import Fleet, NodeGroupDemand, Object

from .access import (
    charts_for,
    check_access,
    check_exemptions,
    door_of,
    hardened,
    kept_inside,
    policies_of,
)
from .monitoring import chain_of, check_chain, monitoring_objects
from .settings import Settings
from .volumes import check_volumes


@dataclass(frozen=True, slots=True)
class Plan:
    """Models and the nodes they need.

    Attributes:
        groups: What the models need of nodes.
        prerequisites: What the models need in the cluster, in the order of installation.
        chain: What stands behind the autoscalers.
        monitoring: What is scraped, shown and watched; empty without a Prometheus.
        door: How the models are reached from outside.
        policies: Who may connect to them.
        cloud_groups: The nodes as node groups of a cloud; empty without one.
    """

    fleet: Fleet
    groups: tuple[NodeGroupDemand, ...]
    prerequisites: tuple[Prerequisite, ...]
    chain: MetricChain
    monitoring: tuple[Object, ...]
    door: FrontDoorPlan
    policies: tuple[Object, ...]
    cloud_groups: tuple[NodeGroupPlan, ...] = ()


def plan(settings: Settings) -> Plan:
    """Load, render, size and check the models of a stack.

    Raises:
        pulumi.RunError: there are errors; one line each.
    """
    manifests = load(Path(path) for path in settings.models)
    written = render_fleet(manifests.resources, settings.options(), unread=manifests.problems)
    chain = chain_of(manifests, written, settings)
    fleet = hardened(kept_inside(with_scaled_objects(written, chain), settings), settings)
    door = door_of(fleet, settings)
    problems = [*manifests.problems, *fleet.problems, *fit(fleet), *chain.problems, *check_chain(chain, settings)]
    problems += [*check_access(door, settings), *check_exemptions(fleet, settings)]
    cloud_groups: tuple[NodeGroupPlan, ...] = ()
    if settings.cloud == "aws":
        cloud_groups, found = _nodes(fleet, settings)
        problems += found
    groups = tuple(group.demand for group in cloud_groups) or node_groups(fleet)
    problems += check_volumes(fleet, settings)
    facts = settings.facts()
    listed = prerequisites(fleet, groups, facts, _further(fleet, chain, door, settings))
    problems += check_prerequisites(listed, facts)
    _tell(problems)
    monitoring: tuple[Object, ...] = ()
    if _has_prometheus(listed, settings):
        monitoring = monitoring_objects(chain, fleet, groups, settings)
    policies = policies_of(fleet, settings, monitored=bool(monitoring))
    return Plan(fleet, groups, listed, chain, monitoring, door, policies, cloud_groups)


def _further(fleet: Fleet, chain: MetricChain, door: FrontDoorPlan, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the charts that metrics, front door and load balancers of models need."""
    for need in sorted(chain.needs):
        yield need, "metrics of the models"
    for name in charts_for(door, settings):
        yield name, f"expose: {settings.front_door.expose}"
    if settings.cloud == "aws":
        for item in fleet.rendered:
            if any(is_balanced(body) for body in item.objects):
                yield AWS_LOAD_BALANCER_CONTROLLER, f"{item.kind}/{item.name}"


def _has_prometheus(listed: Iterable[Prerequisite], settings: Settings) -> bool:
    """Tell whether PodMonitors mean anything: kinds that nobody knows would be refused."""
    said = settings.prerequisites
    installed = said.install and any(each.chart.name == "prometheus" for each in listed)
    return installed or "prometheus" in said.present


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
