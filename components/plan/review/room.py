"""Whether node groups have room for the replicas that an update adds."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .snapshot import NodeGroupState, Snapshot, WorkloadState

CLOUD = "cloud"
"""``NodeGroupState.made_by`` of groups that grow on demand, up to a maximum."""


@dataclass(frozen=True, slots=True)
class Room:
    """The accelerators of node groups.

    Attributes:
        groups: The groups whose nodes are created on demand, by name.
        before: Accelerators of their nodes before the change.
        taken: Accelerators in use after the change, at rest.
        held: Accelerators of removed workloads, in use until the end: Pulumi deletes after all creations and updates.
    """

    groups: Mapping[str, NodeGroupState] = field(default_factory=dict)
    before: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, head: Snapshot, base: Snapshot) -> "Room":
        """Compare the demand of the head with the node groups of the base."""
        before = {group.name: group.nodes * group.accelerators for group in base.groups}
        known = {group.name: group for group in head.groups if group.made_by == CLOUD}
        stays = {workload.title for workload in head.workloads}
        taken, held = Counter[str](), Counter[str]()
        for workload in head.workloads:
            taken[workload.group] += workload.replicas[0] * workload.accelerators
        for workload in base.workloads:
            if workload.title not in stays:
                held[workload.group] += workload.replicas[0] * workload.accelerators
        return cls(known, before, taken, held)

    def needs_node(self, workload: WorkloadState, extra: int) -> bool:
        """Whether a replica has to wait for a new node.

        Args:
            workload: The workload, with its replicas after the change.
            extra: Additional replicas during the update.
        """
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return False
        return self._required(workload, extra) > self.before.get(group.name, 0)

    def extra_nodes(self, workload: WorkloadState, extra: int) -> int:
        """Return the nodes that additional replicas need, which do not exist before the change or at rest.

        Args:
            workload: The workload, with its replicas after the change.
            extra: Additional replicas during the update.
        """
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators or not group.accelerators:
            return 0
        existing = max(self.before.get(group.name, 0), self._required(workload, 0))
        missing = min(self._required(workload, extra), _most(group)) - existing
        return math.ceil(max(0, missing) / group.accelerators)

    def replicas(self, workload: WorkloadState) -> int | None:
        """Return the replicas of a workload that have room at once beside the others; None for any number."""
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return None
        others = self._required(workload, 0) - workload.replicas[0] * workload.accelerators
        return max(0, _most(group) + self._fallback_room(workload) - others) // workload.accelerators

    def pending(self, workload: WorkloadState, come: int, extra: int = 0) -> int:
        """Return the maximum number of new replicas without accelerators while old ones keep theirs.

        Args:
            workload: The workload, with its replicas after the change.
            come: Number of replicas that are created at once.
            extra: Additional replicas during the update.
        """
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return 0
        missing = self._required(workload, extra) - _most(group) - self._fallback_room(workload)
        return min(come, math.ceil(max(0, missing) / workload.accelerators))

    def crowded(self, workload: WorkloadState, extra: int = 0) -> str:
        """Explain why replicas have no room in their node group."""
        group = self.groups[workload.group]
        held = self.held.get(group.name, 0)
        until = f", {held} of them until the removed workloads are deleted" if held else ""
        fallbacks = ", ".join(workload.fallbacks)
        alternatives = f", and {fallbacks} for {self._fallback_room(workload)} more" if fallbacks else ""
        required = self._required(workload, extra)
        room = f"{_most(group)} (at most {group.max_nodes} {'node' if group.max_nodes == 1 else 'nodes'})"
        return (
            f"{required} accelerators are required at once{until}, but node group {group.name} "
            f"has room for {room}{alternatives}"
        )

    def _required(self, workload: WorkloadState, extra: int) -> int:
        """Return the accelerators of the node group that are required at once."""
        at_rest = self.taken.get(workload.group, 0) + self.held.get(workload.group, 0)
        return at_rest + extra * workload.accelerators

    def _fallback_room(self, workload: WorkloadState) -> int:
        """Return the free accelerators of the other node groups that accept the pods."""
        fallbacks = [self.groups[name] for name in workload.fallbacks if name in self.groups]
        return sum(
            max(0, _most(group) - self.taken.get(group.name, 0) - self.held.get(group.name, 0)) for group in fallbacks
        )


def _most(group: NodeGroupState) -> int:
    return group.max_nodes * group.accelerators
