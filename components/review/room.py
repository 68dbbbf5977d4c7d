"""Whether nodes have room for what an update adds."""

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
    """

    groups: dict[str, NodeGroupState] = field(default_factory=dict)
    before: dict[str, int] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, head: Snapshot, base: Snapshot) -> "Room":
        """Return what one revision takes, and what is there from another one."""
        before = {group.name: group.nodes * group.accelerators for group in base.groups}
        room = cls({group.name: group for group in head.groups if group.made_by == CLOUD}, before)
        for workload in head.workloads:
            room.taken[workload.group] = (
                room.taken.get(workload.group, 0) + workload.replicas[0] * workload.accelerators
            )
        return room

    def needs_node(self, workload: WorkloadState, replicas: int) -> bool:
        """Whether replicas wait for a node with so many on top: where there are not enough before the change."""
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return False
        return self._wanted(group, workload, replicas) > self.before.get(group.name, 0)

    def warning(self, workload: WorkloadState, replicas: int) -> str:
        """Say that further replicas find no node, where there may be no more of them."""
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators or not replicas:
            return ""
        wanted, most = self._wanted(group, workload, replicas), group.max_nodes * group.accelerators
        if wanted <= most:
            return ""
        return (
            f"node group {group.name} may have {group.max_nodes} nodes with {most} accelerators, but at rest and "
            f"with this {wanted} are wanted: pods stay Pending unless they may run elsewhere"
        )

    def _wanted(self, group: NodeGroupState, workload: WorkloadState, replicas: int) -> int:
        return self.taken.get(group.name, 0) + replicas * workload.accelerators
