"""Whether nodes have room for what an update adds."""

from dataclasses import dataclass, field

from .snapshot import NodeGroupState, Snapshot, WorkloadState

CLOUD = "cloud"
"""Makers of nodes that make them when pods wait, up to a bound."""


@dataclass(frozen=True, slots=True)
class Room:
    """The accelerators of node groups, and how many of them are taken at rest."""

    groups: dict[str, NodeGroupState] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Room":
        """Return what a revision has and takes."""
        room = cls({group.name: group for group in snapshot.groups if group.made_by == CLOUD})
        for workload in snapshot.workloads:
            room.taken[workload.group] = (
                room.taken.get(workload.group, 0) + workload.replicas[0] * workload.accelerators
            )
        return room

    def needs_node(self, workload: WorkloadState, replicas: int) -> bool:
        """Whether further replicas wait for a node: where nodes are made on demand and those at rest are taken."""
        group = self.groups.get(workload.group)
        if group is None or not workload.accelerators:
            return False
        return self._wanted(group, workload, replicas) > group.nodes * group.accelerators

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
