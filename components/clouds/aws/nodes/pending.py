"""Models whose pods stay Pending with the maximum number of nodes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.demand import UNLIMITED, NodeChoice, PodDemand
from ....fleet.nodes.groups import lands_on, offered_by
from ....fleet.rendered import Fleet, Rendered
from .plan import NodeEnvironment, NodeGroupPlan

_Room = dict[str, Decimal]


@dataclass(slots=True)
class _Nodes:
    """The nodes of a group, added one at a time like an autoscaler would."""

    group: NodeGroupPlan
    open: list[_Room] = field(default_factory=list)

    def _empty(self) -> _Room:
        return offered_by(self.group.node.name, efa=bool(self.group.interfaces), pods=self.group.demand.pods)

    def fits(self, requests: _Room) -> bool:
        """Whether an empty node takes a pod."""
        room = self._empty()
        return all(room.get(key, 0) >= amount for key, amount in requests.items())

    def place(self, requests: _Room) -> bool:
        """Place a pod on a node with room or on a new node; return whether that is possible."""
        room = next((r for r in self.open if all(r.get(key, 0) >= amount for key, amount in requests.items())), None)
        if room is None:
            if len(self.open) >= self.group.maximum or not self.fits(requests):
                return False
            room = self._empty()
            self.open.append(room)
        for key, amount in requests.items():
            room[key] -= amount
        return True


def pending(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report models with Pending pods: an error at minimum replicas, a warning at their maximum.

    Pods are placed in their order of preference, the largest pods first.
    """
    at_rest = _unplaced(fleet, groups, environment, lambda demand: demand.pods)
    for item, count in at_rest:
        yield _problem(item, count, sum(d.pods for d in item.pods), groups, environment, largest=False)
    known = {id(item) for item, _ in at_rest}
    for item, count in _unplaced(fleet, groups, environment, _bounded):
        if id(item) not in known:
            yield _problem(item, count, sum(map(_bounded, item.pods)), groups, environment, largest=True)


def _bounded(demand: PodDemand) -> int:
    """Return the maximum pods; the minimum for unlimited autoscalers, which are reported elsewhere."""
    return demand.pods if demand.most >= UNLIMITED else demand.most


def _unplaced(
    fleet: Fleet,
    groups: tuple[NodeGroupPlan, ...],
    environment: NodeEnvironment,
    count: Callable[[PodDemand], int],
) -> list[tuple[Rendered, int]]:
    nodes = [_Nodes(group) for group in groups]
    unplaced: dict[int, int] = {}
    # Pods that do not select instance types may run on nodes that are not planned here.
    typed = [
        (item, demand)
        for item in fleet.rendered
        for demand in item.pods
        if demand.choices and all(choice.instance_type for choice in demand.choices)
    ]
    for item, demand in sorted(typed, key=lambda pair: _devices(pair[1]), reverse=True):
        requests = {**demand.requests, "pods": Decimal(1)}
        reachable = [n for choice in demand.choices for n in nodes if _takes(n.group, choice, environment)]
        if not any(n.fits(requests) for n in reachable):
            continue  # it fits no node of this kind; ``fit`` reports that
        for placed in range(count(demand)):
            if not any(n.place(requests) for n in reachable):
                unplaced[id(item)] = unplaced.get(id(item), 0) + count(demand) - placed
                break
    return [(item, unplaced[id(item)]) for item in fleet.rendered if id(item) in unplaced]


def _devices(demand: PodDemand) -> Decimal:
    return sum((amount for key, amount in demand.requests.items() if "/" in key), Decimal(0))


def _takes(group: NodeGroupPlan, choice: NodeChoice, environment: NodeEnvironment) -> bool:
    demand = group.demand
    return lands_on(choice, demand.labels, demand.capacity, environment.nodes)


def _problem(
    item: Rendered,
    count: int,
    total: int,
    groups: tuple[NodeGroupPlan, ...],
    environment: NodeEnvironment,
    *,
    largest: bool,
) -> Problem:
    reachable = {
        group.name: group.maximum
        for group in groups
        for demand in item.pods
        for choice in demand.choices
        if _takes(group, choice, environment)
    }
    limits = ", ".join(
        f"{name} has at most {most} node{'s' * (most != 1)}" for name, most in sorted(reachable.items())
    )
    when = "with all autoscalers at their maximum and an update in progress, " if largest else ""
    reason = f"{when}{count} of {total} pods will stay Pending: {limits or 'no node group fits'}"
    place = environment.place
    remedy = f"raise {place.key('maxNodes')} under {place.path('types')} in {place.file}, or use fewer replicas"
    severity = Severity.WARNING if largest else Severity.ERROR
    return item.source.problem("spec", f"{reason}; {remedy}", severity, rule=RuleId.NODES_PENDING)
