"""Draining the nodes of a workload one after another: how many replicas that leaves, and for how long."""

import math
from typing import NamedTuple

from ...fleet.nodes.replacement import NodeReplacement
from ..rollouts import Rollout
from .snapshot import NodeGroupState, WorkloadState


class NodeLoad(NamedTuple):
    """The replicas of a workload on the nodes of a group.

    Attributes:
        replicas: Their number.
        per_node: Replicas that share a node.
        nodes_each: Nodes of a replica.
    """

    replicas: int
    per_node: int
    nodes_each: int

    @classmethod
    def of(cls, workload: WorkloadState, group: NodeGroupState) -> "NodeLoad":
        """Return the load of a workload, with its replicas at rest."""
        each = workload.accelerators
        if not each or not group.accelerators:
            return cls(workload.replicas[0], 1, 1)
        return cls(workload.replicas[0], max(1, group.accelerators // each), math.ceil(each / group.accelerators))

    @property
    def nodes(self) -> int:
        """Nodes of all replicas."""
        return math.ceil(self.replicas / self.per_node) * self.nodes_each


class Drain(NamedTuple):
    """The effect of draining nodes one after another.

    Attributes:
        seconds: How long replicas are missing; None if unknown.
        overlaps: Whether a drain may begin before the replicas of the previous one serve again.
    """

    rollout: Rollout
    seconds: int | None
    overlaps: bool = False


def drained(
    load: NodeLoad, how: NodeReplacement, budget: int | None, each: int | None, node: int, grace: int
) -> Drain:
    """Return the effect on a workload of replacing its nodes one after another.

    Args:
        load: The workload on its nodes.
        how: How the nodes are replaced.
        budget: Replicas that may be evicted at the same time; None without a disruption budget.
        each: Seconds that a replica is missing if its node is drained; None if unknown.
        node: Seconds until a node is usable.
        grace: Seconds that a pod may take to terminate.
    """
    at_once = max(1, how.at_once)
    step = min(load.replicas, load.per_node * at_once)
    steps = math.ceil(load.nodes / at_once)
    if budget:
        # The next eviction waits until the replicas serve again. Each node of a replica ends it once.
        short = min(step, budget)
        waves = math.ceil(load.replicas / short) * load.nodes_each
        seconds = None if each is None else waves * each
        return Drain(Rollout(load.replicas, short, 0, waves), seconds)
    # Pods that end at once make the most replicas missing; those that take their grace period make it last longest.
    gap = how.pause + (node if how.launches_each or not how.surge else 0)
    together = steps if each is None else min(steps, math.ceil(each / max(1, gap)))
    seconds = None if each is None else min(steps * each, (steps - 1) * (gap + grace) + each)
    short = min(load.replicas, step * together)
    return Drain(Rollout(load.replicas, short, 0, steps), seconds, overlaps=together > 1)


def fails(load: NodeLoad, how: NodeReplacement, budget: int | None, each: int | None) -> bool:
    """Whether a disruption budget delays a drain for longer than it waits.

    Args:
        load: The workload on its nodes.
        how: How the nodes are replaced.
        budget: Replicas that may be evicted at the same time; None without a disruption budget.
        each: Seconds that a replica is missing if its node is drained; None if unknown.
    """
    if not budget or how.patience is None or each is None or load.replicas <= budget:
        return False
    # All replicas of a node leave in turn, the first when those of the node before serve again.
    turns = math.ceil(min(load.per_node, load.replicas) / budget)
    return turns * each - how.pause > how.patience
