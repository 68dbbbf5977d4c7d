"""Whether nodes have room for what an update adds."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .snapshot import NodeGroupState, Snapshot, WorkloadState

CLOUD = "cloud"
"""Makers of nodes that make them when pods wait, up to a bound."""


@dataclass(frozen=True, slots=True)
class Room:
    """The accelerators of node groups, and how many of them are taken at rest.

    Attributes:
        groups: The groups whose nodes are made on demand, by name.
        before: How many accelerators their nodes have before the change.
        taken: How many are taken after it.
        held: How many are held until the end by workloads that are removed: Pulumi deletes after everything is
            created and updated.
    """

    groups: Mapping[str, NodeGroupState] = field(default_factory=dict)
    before: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, head: Snapshot, base: Snapshot) -> "Room":
        """Return what one revision takes, and what is there from another one."""
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
        """Whether a replica waits for a new node, because there were too few before the change.

        Args:
            workload: The workload, with its replicas after the change.
            extra: Replicas on top of them while it lasts.
        """
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return False
        return self._wanted(workload, extra) > self.before.get(group.name, 0)

    def pending(self, workload: WorkloadState, come: int, extra: int = 0) -> int:
        """Return the maximum number of new replicas without accelerators while old ones keep theirs.

        Args:
            workload: The workload, with its replicas after the change.
            come: Number of replicas that are created at once.
            extra: Replicas on top of those at rest while it lasts.
        """
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return 0
        missing = self._wanted(workload, extra) - _most(group) - self._elsewhere(workload)
        return min(come, math.ceil(max(0, missing) / workload.accelerators))

    def crowded(self, workload: WorkloadState, extra: int = 0) -> str:
        """Describe why replicas have no room in their node group."""
        group = self.groups[workload.group]
        held = self.held.get(group.name, 0)
        until = f", {held} of them until what is removed has gone" if held else ""
        others = ", ".join(workload.fallbacks)
        beside = f", and {others} for {self._elsewhere(workload)} more" if others else ""
        return (
            f"{self._wanted(workload, extra)} accelerators are wanted at once{until}, but node group {group.name} "
            f"has room for {_most(group)} (at most {group.max_nodes} {'node' if group.max_nodes == 1 else 'nodes'})"
            f"{beside}"
        )

    def _wanted(self, workload: WorkloadState, extra: int) -> int:
        """Return how many accelerators of its node group are wanted at once."""
        at_rest = self.taken.get(workload.group, 0) + self.held.get(workload.group, 0)
        return at_rest + extra * workload.accelerators

    def _elsewhere(self, workload: WorkloadState) -> int:
        """Return how many accelerators are free in the other node groups that take its pods."""
        others = [self.groups[name] for name in workload.fallbacks if name in self.groups]
        return sum(
            max(0, _most(group) - self.taken.get(group.name, 0) - self.held.get(group.name, 0)) for group in others
        )


def _most(group: NodeGroupState) -> int:
    return group.max_nodes * group.accelerators
