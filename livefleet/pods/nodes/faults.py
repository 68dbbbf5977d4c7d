"""Faults that users inject: lost pods, nodes and zones, and reclaimed spot nodes."""

import time
from collections.abc import Mapping
from typing import Any

from components.fleet.demand import ZONE_LABEL
from toolkit.printing import pluralize

from ...control_api import FaultOutcome, LiveFault, NoteKind
from ...informer import key_of
from ..cluster import NO_GRACE, LiveCluster
from ..control.server import UnknownObjectError
from ..notes import FleetNotes
from ..runtime import PodRuntime
from .controller import NodeController
from .node_state import is_in_use

Json = dict[str, Any]
ZONE_SECONDS = 900.0
"""Simulated seconds of a zone outage."""


class FaultMaker:
    """Injects faults.

    Args:
        cluster: Source of nodes and pods.
        runtime: The engines.
        nodes: The cloud, which removes nodes.
        notes: Receives events.
    """

    def __init__(self, cluster: LiveCluster, runtime: PodRuntime, nodes: NodeController, notes: FleetNotes) -> None:
        self._cluster, self._runtime, self._nodes, self._notes = cluster, runtime, nodes, notes

    async def make(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Inject a fault.

        Raises:
            UnknownObjectError: there is no such node, pod or zone.
        """
        match fault:
            case LiveFault.POD:
                return self._pod(name)
            case LiveFault.NODE:
                return self._node(name)
            case LiveFault.SPOT:
                return await self._spot(name)
            case LiveFault.ZONE:
                return self._zone(name)

    def _pod(self, name: str) -> FaultOutcome:
        pods = [pod for pod, _ in self._runtime.members()]
        matches = [pod for pod in pods if name in (key_of(pod), pod["metadata"]["name"])]
        if len(matches) != 1:
            several = "several pods are" if matches else "no pod that serves is"
            raise UnknownObjectError(f"{several} called {name!r}", tuple(sorted(map(key_of, matches or pods))))
        (pod,) = matches
        at = time.time()
        aborted = self._runtime.kill(pod)
        outcome = self._outcome(
            LiveFault.POD, name, pods=(key_of(pod),), aborted=aborted, text=f"pod {key_of(pod)} was killed", at=at
        )
        self._nodes.run_in_background(self._nodes.delete_pods([pod], NO_GRACE))
        return outcome

    def _node(self, name: str) -> FaultOutcome:
        node = self._node_in_use(name)
        at = time.time()
        pods, aborted = self._nodes.end_nodes([node])
        text = f"node {name} is gone, with {pluralize(len(pods), 'pod')}"
        return self._outcome(LiveFault.NODE, name, pods=pods, aborted=aborted, text=text, at=at)

    def _zone(self, name: str) -> FaultOutcome:
        active = self._cluster.active_nodes().values()
        nodes = [node for node in active if _zone_of(node) == name]
        if not nodes:
            raise UnknownObjectError(f"no node is in a zone {name!r}", tuple(sorted({*map(_zone_of, active)} - {""})))
        count, at = sum(map(is_in_use, nodes)), time.time()
        pods, aborted = self._nodes.end_nodes(nodes, ZONE_SECONDS)
        text = f"zone {name} is gone, with {pluralize(count, 'node')} and {pluralize(len(pods), 'pod')}"
        return self._outcome(LiveFault.ZONE, name, pods=pods, aborted=aborted, text=text, at=at)

    async def _spot(self, name: str) -> FaultOutcome:
        """Reclaim a spot node: its pods terminate gracefully first, as in a drain."""
        self._node_in_use(name)
        at = time.time()
        await self._nodes.announce(name)
        pods = [pod for pod in self._cluster.pods_on(name) if self._runtime.member_of(pod)]
        names = tuple(sorted(map(key_of, pods)))
        are = "is" if len(names) == 1 else "are"
        text = (
            f"spot node {name} will be taken back in two minutes; {pluralize(len(names), 'pod')} {are} ended before"
        )
        outcome = self._outcome(LiveFault.SPOT, name, pods=names, aborted=0, text=text, at=at)
        self._nodes.run_in_background(self._nodes.delete_pods(pods))
        return outcome

    def _node_in_use(self, name: str) -> Json:
        nodes = {key: node for key, node in self._cluster.active_nodes().items() if is_in_use(node)}
        if name not in nodes:
            raise UnknownObjectError(f"no node is called {name!r}, or it is in reserve", tuple(sorted(nodes)))
        return nodes[name]

    def _outcome(
        self, fault: LiveFault, name: str, pods: tuple[str, ...], aborted: int, text: str, at: float
    ) -> FaultOutcome:
        """Record a fault at the time when its requests were aborted."""
        were = "was" if aborted == 1 else "were"
        sentence = f"{text}; {pluralize(aborted, 'request')} {were} broken off" if aborted else text
        self._notes.add(NoteKind.FAULT, sentence, at)
        return FaultOutcome(fault, name, pods, aborted, sentence)


def _zone_of(node: Mapping[str, Any]) -> str:
    return str((node["metadata"].get("labels") or {}).get(ZONE_LABEL, ""))
