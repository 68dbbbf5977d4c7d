"""Faults that users inject: lost pods, nodes and zones, and reclaimed spot nodes."""

import time
from collections.abc import Mapping
from typing import Any

from components.fleet.demand import ZONE_LABEL
from toolkit.printing import pluralize

from ...control_api import FaultOutcome, LiveFault, NoteKind
from ...informer import key_of
from ..cluster import AT_ONCE, LiveCluster
from ..control.server import NotThereError
from ..notes import FleetNotes
from ..runtime import PodRuntime
from .keeper import NodeKeeper
from .node_state import is_there

Json = dict[str, Any]
ZONE_SECONDS = 900.0
"""Simulated seconds of a zone outage."""


class FaultMaker:
    """Injects faults.

    Args:
        cluster: Source of nodes and pods.
        runtime: The engines.
        keeper: The cloud, which removes nodes.
        notes: Receives events.
    """

    def __init__(self, cluster: LiveCluster, runtime: PodRuntime, keeper: NodeKeeper, notes: FleetNotes) -> None:
        self._cluster, self._runtime, self._keeper, self._notes = cluster, runtime, keeper, notes

    async def make(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Inject a fault.

        Raises:
            NotThereError: there is no such node, pod or zone.
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
        found = [pod for pod in pods if name in (key_of(pod), pod["metadata"]["name"])]
        if len(found) != 1:
            several = "several pods are" if found else "no pod that serves is"
            raise NotThereError(f"{several} called {name!r}", tuple(sorted(map(key_of, found or pods))))
        at = time.time()
        broken = self._runtime.kill(found[0])
        text = f"pod {key_of(found[0])} was killed"
        outcome = self._outcome(LiveFault.POD, name, (key_of(found[0]),), broken, text, at)
        self._keeper.later(self._keeper.delete_pods(found, AT_ONCE))
        return outcome

    def _node(self, name: str) -> FaultOutcome:
        node = self._node_in_use(name)
        at = time.time()
        pods, broken = self._keeper.end_nodes([node])
        text = f"node {name} is gone, with {pluralize(len(pods), 'pod')}"
        return self._outcome(LiveFault.NODE, name, pods, broken, text, at)

    def _zone(self, name: str) -> FaultOutcome:
        there = self._cluster.nodes_there().values()
        nodes = [node for node in there if _zone_of(node) == name]
        if not nodes:
            raise NotThereError(f"no node is in a zone {name!r}", tuple(sorted({*map(_zone_of, there)} - {""})))
        count, at = sum(map(is_there, nodes)), time.time()
        pods, broken = self._keeper.end_nodes(nodes, ZONE_SECONDS)
        text = f"zone {name} is gone, with {pluralize(count, 'node')} and {pluralize(len(pods), 'pod')}"
        return self._outcome(LiveFault.ZONE, name, pods, broken, text, at)

    async def _spot(self, name: str) -> FaultOutcome:
        """Reclaim a spot node: its pods terminate gracefully before, as in a drain."""
        self._node_in_use(name)
        at = time.time()
        await self._keeper.announce(name)
        pods = [pod for pod in self._cluster.pods_on(name) if self._runtime.member_of(pod)]
        names = tuple(sorted(map(key_of, pods)))
        are = "is" if len(names) == 1 else "are"
        text = (
            f"spot node {name} will be taken back in two minutes; {pluralize(len(names), 'pod')} {are} ended before"
        )
        outcome = self._outcome(LiveFault.SPOT, name, names, 0, text, at)
        self._keeper.later(self._keeper.delete_pods(pods))
        return outcome

    def _node_in_use(self, name: str) -> Json:
        nodes = {key: node for key, node in self._cluster.nodes_there().items() if is_there(node)}
        if name not in nodes:
            raise NotThereError(f"no node is called {name!r}, or it is in reserve", tuple(sorted(nodes)))
        return nodes[name]

    def _outcome(
        self, fault: LiveFault, name: str, pods: tuple[str, ...], broken: int, text: str, at: float
    ) -> FaultOutcome:
        """Record a fault at the time when connections broke."""
        were = "was" if broken == 1 else "were"
        sentence = f"{text}; {pluralize(broken, 'request')} {were} broken off" if broken else text
        self._notes.add(NoteKind.FAULT, sentence, at)
        return FaultOutcome(fault, name, pods, broken, sentence)


def _zone_of(node: Mapping[str, Any]) -> str:
    return str((node["metadata"].get("labels") or {}).get(ZONE_LABEL, ""))
