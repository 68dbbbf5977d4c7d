"""What goes wrong when somebody asks for it, as it does in a cloud."""

import asyncio
from collections.abc import Mapping
from typing import Any

from components.fleet.demand import ZONE_LABEL

from ...control import FaultOutcome, LiveFault, NoteKind
from ...followed import key_of
from ..cluster import AT_ONCE, LiveCluster
from ..control.http import NotThereError
from ..notes import FleetNotes
from ..stage import PodStage
from .keeper import NodeKeeper
from .marks import is_there

Json = dict[str, Any]
ZONE_SECONDS = 900.0
"""Simulated seconds for which a zone is gone."""


class FaultMaker:
    """Breaks things.

    Args:
        cluster: Where.
        stage: Who plays there.
        keeper: Who plays the cloud.
        notes: What is said of it.
    """

    def __init__(self, cluster: LiveCluster, stage: PodStage, keeper: NodeKeeper, notes: FleetNotes) -> None:
        self._cluster, self._stage, self._keeper, self._notes = cluster, stage, keeper, notes

    async def make(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Make something happen.

        Raises:
            NotThereError: there is nothing of that name.
        """
        match fault:
            case LiveFault.POD:
                return await self._pod(name)
            case LiveFault.NODE:
                return await self._node(name)
            case LiveFault.SPOT:
                return await self._spot(name)
            case LiveFault.ZONE:
                return await self._zone(name)

    async def _pod(self, name: str) -> FaultOutcome:
        pods = [pod for pod, _ in self._stage.pods()]
        found = [pod for pod in pods if name in (key_of(pod), pod["metadata"]["name"])]
        if len(found) != 1:
            several = "several pods are" if found else "no pod that serves is"
            raise NotThereError(f"{several} called {name!r}", tuple(sorted(map(key_of, found or pods))))
        broken = self._stage.kill(found[0])
        await self._cluster.delete_pod(found[0], AT_ONCE)
        return self._outcome(LiveFault.POD, name, (key_of(found[0]),), broken, f"pod {key_of(found[0])} was killed")

    async def _node(self, name: str) -> FaultOutcome:
        node = self._found_node(name)
        pods, broken = await self._keeper.end_nodes([node])
        return self._outcome(LiveFault.NODE, name, pods, broken, f"node {name} is gone, with {_counted(pods)}")

    async def _zone(self, name: str) -> FaultOutcome:
        nodes = [node for node in self._cluster.nodes.objects.values() if _zone_of(node) == name]
        if not nodes:
            zones = {_zone_of(node) for node in self._cluster.nodes.objects.values()} - {""}
            raise NotThereError(f"no node is in a zone {name!r}", tuple(sorted(zones)))
        there = sum(map(is_there, nodes))
        pods, broken = await self._keeper.end_nodes(nodes, ZONE_SECONDS)
        text = f"zone {name} is gone, with {there} nodes and {_counted(pods)}"
        return self._outcome(LiveFault.ZONE, name, pods, broken, text)

    async def _spot(self, name: str) -> FaultOutcome:
        """Announce the end of a node: its pods are ended in time, as a drain does."""
        self._found_node(name)
        await self._keeper.announce(name)
        pods = [pod for pod in self._cluster.pods_on(name) if self._stage.workload_of(pod)]
        await asyncio.gather(*(self._cluster.delete_pod(pod) for pod in pods))
        names = tuple(sorted(map(key_of, pods)))
        text = f"spot node {name} will be taken back in two minutes; {_counted(names)} are ended before"
        return self._outcome(LiveFault.SPOT, name, names, 0, text)

    def _found_node(self, name: str) -> Json:
        nodes = {key: node for key, node in self._cluster.nodes.objects.items() if is_there(node)}
        if name not in nodes:
            raise NotThereError(f"no node is called {name!r}, or it is in reserve", tuple(sorted(nodes)))
        return nodes[name]

    def _outcome(self, fault: LiveFault, name: str, pods: tuple[str, ...], broken: int, text: str) -> FaultOutcome:
        sentence = f"{text}; {broken} requests were broken off" if broken else text
        self._notes.add(NoteKind.FAULT, sentence)
        return FaultOutcome(fault, name, pods, broken, sentence)


def _zone_of(node: Mapping[str, Any]) -> str:
    return str((node["metadata"].get("labels") or {}).get(ZONE_LABEL, ""))


def _counted(pods: tuple[str, ...]) -> str:
    return f"{len(pods)} pod{'' if len(pods) == 1 else 's'}"
