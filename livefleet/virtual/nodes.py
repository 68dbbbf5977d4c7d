"""Nodes and their free resources: pods are bound in order, and nodes are started and removed for them.

A pod is bound to the first node with room, by the preference of the pod. Otherwise a node is started in the first
group that has room for one more. All pods of a replica are bound together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .fleet import VirtualGroup, VirtualPod

UNNEEDED = 600.0
"""Seconds until a node without pods is removed (``--scale-down-unneeded-time`` of the Cluster Autoscaler)."""


@dataclass(slots=True, eq=False)
class VirtualNode:
    """A node.

    Attributes:
        since: Time of its request, from which on it is paid.
        ready: Time from which on its pods can start.
        pods: Pods that are bound to it.
        idle: Time since when it has no pods.
    """

    group: VirtualGroup
    since: float
    ready: float
    free: dict[str, float]
    pods: int = 0
    idle: float = 0.0

    def fits(self, requests: Mapping[str, float]) -> bool:
        return all(amount <= self.free.get(key, 0.0) for key, amount in requests.items() if amount)

    def add(self, requests: Mapping[str, float], pods: int) -> None:
        """Bind pods, or remove them if the number is negative."""
        self.pods += pods
        for key, amount in requests.items():
            self.free[key] = self.free.get(key, 0.0) - amount * pods


Binding = list[tuple[VirtualNode, VirtualPod]]
"""The node of each pod of a replica."""


@dataclass(slots=True)
class VirtualNodes:
    """The nodes of all groups.

    Attributes:
        paid: Seconds of removed nodes, by group.
        counts: Changes of the number of nodes: time, group and number.
    """

    groups: Sequence[VirtualGroup]
    nodes: dict[str, list[VirtualNode]] = field(init=False)
    paid: dict[str, float] = field(init=False)
    counts: list[tuple[float, str, int]] = field(init=False)

    def __post_init__(self) -> None:
        """Start the initial nodes."""
        self.nodes = {group.name: [] for group in self.groups}
        self.paid = {group.name: 0.0 for group in self.groups}
        self.counts = []
        for group in self.groups:
            for _ in range(group.start if group.elastic else group.most):
                self._start(group, 0.0, 0.0)

    def bind(self, pods: Sequence[VirtualPod], now: float, start: float) -> Binding | None:
        """Bind all pods of a replica, and start nodes for those without room; None if they do not fit.

        Args:
            pods: The pods.
            now: The time.
            start: Seconds until a new node is ready.
        """
        binding: Binding = []
        started: list[VirtualNode] = []
        for pod in pods:
            for _ in range(pod.count):
                node = self._room(pod)
                if node is None:
                    node = self._new(pod, now, start)
                    if node is None:
                        self._undo(binding, started, now)
                        return None
                    started.append(node)
                node.add(pod.requests, 1)
                binding.append((node, pod))
        return binding

    def release(self, binding: Binding, now: float) -> Iterator[VirtualNode]:
        """Remove the pods of a replica; yield the nodes without pods, which may be removed after ``UNNEEDED``."""
        for node, pod in binding:
            node.add(pod.requests, -1)
            if not node.pods:
                node.idle = now
                yield node

    def remove_idle(self, node: VirtualNode, now: float, unneeded: float) -> None:
        """Remove a node that has had no pods for a while, unless its group is at its minimum."""
        nodes = self.nodes[node.group.name]
        idle = node in nodes and not node.pods and now - node.idle >= unneeded - 1e-6
        if idle and node.group.elastic and len(nodes) > node.group.least:
            self._remove(node, now)

    def close(self, now: float) -> None:
        """Pay the nodes up to the end."""
        for group in self.groups:
            for node in self.nodes[group.name]:
                self.paid[group.name] += max(now - node.since, 0.0)

    def _room(self, pod: VirtualPod) -> VirtualNode | None:
        for name in pod.groups:
            for node in self.nodes[name]:
                if node.fits(pod.requests):
                    return node
        return None

    def _new(self, pod: VirtualPod, now: float, start: float) -> VirtualNode | None:
        for name in pod.groups:
            group = next(group for group in self.groups if group.name == name)
            fits = all(amount <= group.offered.get(key, 0.0) for key, amount in pod.requests.items() if amount)
            if group.elastic and fits and len(self.nodes[name]) < group.most:
                return self._start(group, now, now + start)
        return None

    def _start(self, group: VirtualGroup, now: float, ready: float) -> VirtualNode:
        node = VirtualNode(group, now, ready, dict(group.offered), idle=now)
        self.nodes[group.name].append(node)
        self.counts.append((now, group.name, len(self.nodes[group.name])))
        return node

    def _remove(self, node: VirtualNode, now: float) -> None:
        self.nodes[node.group.name].remove(node)
        self.paid[node.group.name] += now - node.since
        self.counts.append((now, node.group.name, len(self.nodes[node.group.name])))

    def _undo(self, binding: Binding, started: Iterable[VirtualNode], now: float) -> None:
        """Unbind the pods of a replica that does not fit, and cancel the nodes that were requested for it."""
        for node, pod in binding:
            node.add(pod.requests, -1)
        for node in started:
            self._remove(node, now)
