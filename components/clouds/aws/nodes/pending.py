"""Models whose pods stay Pending with the maximum number of nodes."""

from collections.abc import Collection, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.rendered import Fleet, Rendered
from .packing import Packing, largest, takes
from .plan import NodeEnvironment, NodeGroupPlan


def pending(
    fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment, stuck: Collection[int] = ()
) -> Iterator[Problem]:
    """Report models with Pending pods: an error at minimum replicas, a warning at their maximum.

    Args:
        fleet: The rendered fleet.
        groups: Its node groups.
        environment: The settings of nodes.
        stuck: Identities of the resources that lack nodes only for their updates, which are reported elsewhere.
    """
    at_rest = _unplaced(Packing(fleet, groups, environment, lambda demand: demand.pods), fleet)
    for item, count in at_rest:
        yield _problem(item, count, sum(d.pods for d in item.pods), groups, environment, at_most=False)
    known = {*stuck, *(id(item) for item, _ in at_rest)}
    for item, count in _unplaced(Packing(fleet, groups, environment, largest), fleet):
        if id(item) not in known:
            yield _problem(item, count, sum(map(largest, item.pods)), groups, environment, at_most=True)


def _unplaced(packing: Packing, fleet: Fleet) -> list[tuple[Rendered, int]]:
    return [(item, packing.unplaced[id(item)]) for item in fleet.rendered if id(item) in packing.unplaced]


def limits_text(item: Rendered, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> str:
    """Return the maximum sizes of the node groups that pods of a resource may use."""
    reachable = {
        group.name: group.maximum
        for group in groups
        for demand in item.pods
        for choice in demand.choices
        if takes(group, choice, environment)
    }
    return ", ".join(f"{name} has at most {most} node{'s' * (most != 1)}" for name, most in sorted(reachable.items()))


def _problem(
    item: Rendered,
    count: int,
    total: int,
    groups: tuple[NodeGroupPlan, ...],
    environment: NodeEnvironment,
    *,
    at_most: bool,
) -> Problem:
    when = "with all autoscalers at their maximum and an update in progress, " if at_most else ""
    limits = limits_text(item, groups, environment)
    reason = f"{when}{count} of {total} pods will stay Pending: {limits or 'no node group fits'}"
    place = environment.place
    remedy = f"raise {place.key('maxNodes')} under {place.path('types')} in {place.file}, or use fewer replicas"
    severity = Severity.WARNING if at_most else Severity.ERROR
    return item.source.problem("spec", f"{reason}; {remedy}", severity, rule=RuleId.NODES_PENDING)
