"""Plays a cluster autoscaler and the cloud behind it: from what there is to the next state of each node.

Its figures: a node without pods goes after ten minutes (``--scale-down-unneeded-time`` of the Cluster Autoscaler), a
spot node two minutes after the cloud has announced it (AWS, "Spot Instance interruption notices"). All are simulated
seconds of what starts.
"""

import asyncio
import contextlib
import datetime
import http
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from components.fleet.demand import INSTANCE_TYPE_LABEL
from toolkit.kube import KubeError

from ...control_api import NoteKind
from ...informer import key_of
from ...kwok_stages import SEEN
from ..cluster import AT_ONCE, LiveCluster
from ..notes import FleetNotes
from ..pod import SimulatedClock
from ..runtime import PodRuntime
from .autoscaler import (
    CORDON,
    NodeStart,
    NodeView,
    Overtaken,
    Stuck,
    first_states,
    idle,
    left_over,
    overtaken,
    wanted,
)
from .lost import LostNodes
from .node_state import SINCE, NodeStage, since, stage_of

Json = dict[str, Any]
UNNEEDED = 600.0
NOTICE = 120.0
_START = 90.0
"""Where no workload says how long its nodes take."""
_FEWEST = 5.0
"""Real seconds for which an empty node stays in any case: the scheduler may be about to use it."""
_LOOK, _PAUSE = 1.0, 0.05
_LOG = logging.getLogger(__name__)


class NodeKeeper:
    """Gives every node its state, again and again.

    Args:
        cluster: What there is.
        stage: Who plays there.
        clocks: Simulated time of the engines, and of what starts.
        lost: Nodes that are gone, and come back.
        notes: What is said of it.
    """

    def __init__(
        self,
        cluster: LiveCluster,
        stage: PodRuntime,
        clocks: tuple[SimulatedClock, SimulatedClock],
        lost: LostNodes,
        notes: FleetNotes,
    ) -> None:
        self._cluster, self._stage, self._lost, self._notes = cluster, stage, lost, notes
        self._answers, self._starts = clocks
        self._changed = asyncio.Event()
        self._idle: dict[str, tuple[float, float]] = {}
        """Since when a node has no pods: simulated and real seconds."""
        self._stuck: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def changed(self, *_: Json | None) -> None:
        """Look soon: a node or a pod has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Look at the nodes whenever something changes, and at least once a second."""
        while True:
            with contextlib.suppress(TimeoutError):
                # Not asyncio.wait_for: before Python 3.12 it swallows a cancellation that arrives together with the
                # event (python/cpython#86296), and this loop would never end.
                async with asyncio.timeout(_LOOK):
                    await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(_PAUSE)  # changes come several at a time
            try:
                await self._look()
            except KubeError as error:
                _LOG.warning("nodes: %s", error)
            except Exception:
                _LOG.exception("nodes")

    async def _look(self) -> None:
        view = NodeView(self._stage.fleet.groups, self._cluster.nodes_there(), self._cluster.pods.objects.values())
        steps = [self._set(name, stage) for name, stage in first_states(view).items()]
        steps += [self._age(node) for node in view.nodes.values()]
        late = list(overtaken(view))
        steps += [self._catch_up(each) for each in late]
        # Else the next look knows better how many nodes there are, and has more to choose from.
        if not late and all(stage_of(node) for node in view.nodes.values()):
            steps += [self._start(each) for each in self._growing(view)]
            steps += [self._give_back(name) for name in self._unneeded(view)]
        steps += [self._return(node) for node in self._lost.due(self._starts.speed) if view.group(node)]
        steps += [self._cluster.delete_node(name) for name in left_over(view)]
        for outcome in await asyncio.gather(*steps, return_exceptions=True):
            if isinstance(outcome, KubeError):  # changed meanwhile: the next look sees it
                _LOG.info("nodes: %s", outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def _catch_up(self, found: Overtaken) -> None:
        """Let a node be there after all, or its pods go elsewhere."""
        name = found.node["metadata"]["name"]
        if not found.moved:
            await self._set(name, NodeStage.THERE)
            return
        why = f"node {name} would be one more than the most of its group"
        for pod in found.moved:
            self._notes.add(NoteKind.POD, f"pod {key_of(pod)} goes elsewhere: {why}")
        await asyncio.gather(*(self._cluster.delete_pod(pod) for pod in found.moved))

    async def _age(self, node: Json) -> None:
        """Let the time that a node is in its state take effect."""
        name, stage = node["metadata"]["name"], stage_of(node)
        gone_by = time.time() - since(node)
        if stage is NodeStage.STARTING and gone_by * self._starts.speed >= self._start_time(node):
            await self._set(name, NodeStage.THERE)
            self._notes.add(NoteKind.NODE, f"node {name} is there")
        elif stage is NodeStage.LEAVING and gone_by * self._starts.speed >= NOTICE:
            busy = any(each.live.node == name for each in self._stage.serving.values())
            if not busy or gone_by * self._answers.speed >= NOTICE:
                self._notes.add(NoteKind.FAULT, f"spot node {name} is gone, as announced")
                self.end_nodes([node])

    def _start_time(self, node: Json) -> float:
        """Return how long a node of a type takes to start, as the workloads say that run there."""
        instance_type = (node["metadata"].get("labels") or {}).get(INSTANCE_TYPE_LABEL, "")
        found = [each.startup.node for each in self._stage.fleet.workloads if instance_type in each.paces]
        return max(found, default=_START)

    def _growing(self, view: NodeView) -> list[NodeStart]:
        found = list(wanted(view))
        stuck = {each.pod["metadata"]["uid"]: each for each in found if isinstance(each, Stuck)}
        for uid, each in stuck.items():
            if self._stuck.get(uid) != each.reason:
                meta = each.pod["metadata"]
                self._notes.add(NoteKind.POD, f"pod {meta['namespace']}/{meta['name']} stays Pending: {each.reason}")
        self._stuck = {uid: each.reason for uid, each in stuck.items()}
        return [each for each in found if isinstance(each, NodeStart)]

    async def _start(self, start: NodeStart) -> None:
        """Start a node; for the first pods of a workload it is ready at once."""
        name, meta = start.node["metadata"]["name"], start.pod["metadata"]
        what = f"for pod {meta['namespace']}/{meta['name']}"
        if self._cluster.is_first(start.pod):
            await self._set(name, NodeStage.THERE)
            self._notes.add(NoteKind.NODE, f"node {name} is there {what}")
            return
        await self._set(name, NodeStage.STARTING)
        seconds = self._start_time(start.node)
        self._notes.add(NoteKind.NODE, f"node {name} is asked for {what}; it takes {seconds:.0f} simulated seconds")

    def _unneeded(self, view: NodeView) -> list[str]:
        """Return the nodes that have had no pods for long enough."""
        now = (self._starts(), time.monotonic())
        empty = [node["metadata"]["name"] for node in idle(view)]
        self._idle = {name: self._idle.get(name, now) for name in empty}
        return [name for name, at in self._idle.items() if now[0] - at[0] >= UNNEEDED and now[1] - at[1] >= _FEWEST]

    async def _give_back(self, name: str) -> None:
        await self._set(name, NodeStage.RESERVE)
        self._notes.add(NoteKind.NODE, f"node {name} is given back: it had no pods for {UNNEEDED / 60:.0f} minutes")

    def end_nodes(self, nodes: Iterable[Json], seconds: float | None = None) -> tuple[tuple[str, ...], int]:
        """End nodes and their pods at once; return the pods, and how many requests that broke.

        Connections break, and counts exclude the nodes and their pods, before this returns. They are deleted from the
        API server afterwards, because that may take longer than a caller waits.

        Args:
            nodes: The nodes.
            seconds: Simulated seconds until others stand in their place; as long as a node takes, without.
        """
        nodes = list(nodes)
        pods = [pod for node in nodes for pod in self._cluster.pods_on(node["metadata"]["name"])]
        broken = sum(self._stage.kill_on(node["metadata"]["name"]) for node in nodes)
        self._cluster.ending.update(node["metadata"]["name"] for node in nodes)
        self._lost.add((node, self._start_time(node) if seconds is None else seconds) for node in nodes)
        self.later(self._delete(nodes, pods))
        return tuple(sorted(map(key_of, pods))), broken

    async def _delete(self, nodes: list[Json], pods: list[Json]) -> None:
        """Delete nodes and then their pods, so that replacements are not scheduled there."""
        names = [node["metadata"]["name"] for node in nodes]
        try:
            await asyncio.gather(*(self._until_done(self._cluster.delete_node, name) for name in names))
            await asyncio.gather(*(self._until_done(self._cluster.delete_pod, pod, AT_ONCE) for pod in pods))
            # Watchers of nodes may see the deletion later.
            while any(name in self._cluster.nodes.objects for name in names):
                await asyncio.sleep(_PAUSE)
        finally:
            self._cluster.ending.difference_update(names)
            self._changed.set()

    async def _until_done(self, delete: Callable[..., Awaitable[None]], *what: object) -> None:
        """Delete an object, with retries while the API server is overloaded."""
        while True:
            try:
                await delete(*what)
            except KubeError as error:
                if error.status == http.HTTPStatus.NOT_FOUND:
                    return
                _LOG.warning("deleting what is gone: %s", error)
                await asyncio.sleep(_LOOK)
            else:
                return

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Run a coroutine in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def delete_pods(self, pods: Iterable[Json], grace: int | None = None) -> None:
        """Delete pods, with their own or another grace period."""
        await asyncio.gather(*(self._until_done(self._cluster.delete_pod, pod, grace) for pod in pods))

    async def _return(self, node: Json) -> None:
        """Make a node in the place of one that is gone, unless somebody else has."""
        if node["metadata"]["name"] in self._cluster.ending:
            self._lost.add([(node, 0.0)])
            return
        try:
            await self._cluster.create_node(node)
        except KubeError as error:
            if error.status != http.HTTPStatus.CONFLICT:
                self._lost.add([(node, 0.0)])
                raise

    async def announce(self, name: str) -> None:
        """Announce that a node will be taken back: no more pods come there."""
        await self._set(name, NodeStage.LEAVING)

    async def _set(self, name: str, stage: NodeStage) -> None:
        """Write the state of a node, and cordon it unless pods may come."""
        node = self._cluster.nodes.objects.get(name)
        if node is None:
            return
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        cordoned = stage is not NodeStage.THERE
        # With the cordon goes its taint, or the scheduler would look in vain until the node controller has seen it.
        taints = [each for each in node.get("spec", {}).get("taints") or () if each["key"] != CORDON]
        if cordoned:
            taints.append({"key": CORDON, "effect": "NoSchedule"})
        await self._cluster.patch_node(
            name,
            {
                "metadata": {
                    "annotations": {SEEN: stage.value, SINCE: now},
                    "resourceVersion": node["metadata"]["resourceVersion"],
                },
                "spec": {"unschedulable": cordoned or None, "taints": taints},
            },
        )
