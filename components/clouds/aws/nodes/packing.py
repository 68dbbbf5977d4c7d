"""Placing pods on the node groups of an environment, in the way of its scheduler and autoscaler."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from ....fleet.demand import UNLIMITED, NodeChoice, PodDemand
from ....fleet.nodes.groups import lands_on, offered_by
from ....fleet.rendered import Fleet, Rendered
from .plan import NodeEnvironment, NodeGroupPlan

Room = dict[str, Decimal]


@dataclass(slots=True)
class GroupNodes:
    """The nodes of a group, added one at a time like an autoscaler would."""

    group: NodeGroupPlan
    open: list[Room] = field(default_factory=list)

    def _empty(self) -> Room:
        return offered_by(self.group.node.name, efa=bool(self.group.interfaces), pods=self.group.demand.pods)

    def copied(self) -> "GroupNodes":
        return GroupNodes(self.group, [dict(room) for room in self.open])

    def fits(self, requests: Room) -> bool:
        """Whether an empty node takes a pod."""
        room = self._empty()
        return all(room.get(key, 0) >= amount for key, amount in requests.items())

    def place(self, requests: Room) -> bool:
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


class Packing:
    """All pods of a fleet, placed in their order of preference, the largest first.

    Attributes:
        nodes: The nodes in use.
        unplaced: Pods without a node, by the identity of their resource.
    """

    def __init__(
        self,
        fleet: Fleet,
        groups: tuple[NodeGroupPlan, ...],
        environment: NodeEnvironment,
        count: Callable[[PodDemand], int],
    ) -> None:
        self._environment = environment
        self.nodes = [GroupNodes(group) for group in groups]
        self.unplaced: dict[int, int] = {}
        for item, demand in sorted(_typed(fleet), key=lambda pair: _devices(pair[1]), reverse=True):
            requests = requests_of(demand)
            reachable = self.reachable(demand, self.nodes)
            if not any(n.fits(requests) for n in reachable):
                continue  # it fits no node of this kind; ``fit`` reports that
            for placed in range(count(demand)):
                if not any(n.place(requests) for n in reachable):
                    self.unplaced[id(item)] = self.unplaced.get(id(item), 0) + count(demand) - placed
                    break

    def reachable(self, demand: PodDemand, nodes: list[GroupNodes]) -> list[GroupNodes]:
        """Return the nodes that accept a pod, those of its first choice first."""
        return [n for choice in demand.choices for n in nodes if takes(n.group, choice, self._environment)]

    def has_room_for(self, demands: tuple[PodDemand, ...]) -> bool:
        """Return whether the pods of one more replica find nodes."""
        nodes = [group.copied() for group in self.nodes]
        for demand in demands:
            reachable = self.reachable(demand, nodes)
            for _ in range(demand.per_replica):
                if not any(n.place(requests_of(demand)) for n in reachable):
                    return False
        return True


def requests_of(demand: PodDemand) -> Room:
    return {**demand.requests, "pods": Decimal(1)}


def selects_types(demand: PodDemand) -> bool:
    """Return whether a pod only runs on nodes that are planned here."""
    return bool(demand.choices) and all(choice.instance_type for choice in demand.choices)


def takes(group: NodeGroupPlan, choice: NodeChoice, environment: NodeEnvironment) -> bool:
    """Return whether the nodes of a group are those of a choice."""
    demand = group.demand
    return lands_on(choice, demand.labels, demand.capacity, environment.nodes)


def largest(demand: PodDemand) -> int:
    """Return the maximum pods; the minimum for unlimited autoscalers, which are reported elsewhere."""
    return demand.pods if demand.most >= UNLIMITED else demand.most


def largest_at_rest(demand: PodDemand) -> int:
    """Return the same without the additional pods of an update."""
    return demand.pods if demand.most >= UNLIMITED else demand.most - demand.surge_pods


def _typed(fleet: Fleet) -> Iterator[tuple[Rendered, PodDemand]]:
    # Pods that do not select instance types may run on nodes that are not planned here.
    return ((item, demand) for item in fleet.rendered for demand in item.pods if selects_types(demand))


def _devices(demand: PodDemand) -> Decimal:
    return sum((amount for key, amount in demand.requests.items() if "/" in key), Decimal(0))
