"""A cluster autoscaler and its cloud: moves each node to its next state.

A node without pods is removed after ten minutes (``--scale-down-unneeded-time`` of the Cluster Autoscaler), a spot
node two minutes after the notice of the cloud (AWS, "Spot Instance interruption notices"). These are simulated
seconds, at the speed of starts.
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
    EarlyBinding,
    NodeStart,
    NodeView,
    Unschedulable,
    early_bindings,
    first_states,
    idle,
    left_over,
    scale_up,
)
from .lost import LostNodes
from .node_state import SINCE, NodeStage, since, stage_of

Json = dict[str, Any]
UNNEEDED = 600.0
NOTICE = 120.0
_START = 90.0
"""Start time of a node without a known workload."""
_FEWEST = 5.0
"""Minimum real seconds before an empty node is removed: the scheduler may be about to use it."""
_LOOK, _PAUSE = 1.0, 0.05
_LOG = logging.getLogger(__name__)


class NodeKeeper:
    """Reconciles the states of all nodes.

    Args:
        cluster: Source of nodes and pods.
        runtime: The engines, which end with their node.
        clocks: Simulated time of the engines, and of starting nodes and pods.
        lost: Nodes that a fault removed, until their replacements start.
        notes: Receives events.
    """

    def __init__(
        self,
        cluster: LiveCluster,
        runtime: PodRuntime,
        clocks: tuple[SimulatedClock, SimulatedClock],
        lost: LostNodes,
        notes: FleetNotes,
    ) -> None:
        self._cluster, self._runtime, self._lost, self._notes = cluster, runtime, lost, notes
        self._answers, self._starts = clocks
        self._changed = asyncio.Event()
        self._idle: dict[str, tuple[float, float]] = {}
        """Time since when a node has no pods, in simulated and real seconds."""
        self._stuck: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def changed(self, *_: Json | None) -> None:
        """Schedule a reconciliation, after a change of a node or a pod."""
        self._changed.set()

    async def run(self) -> None:
        """Reconcile after each change, and at least once a second."""
        while True:
            with contextlib.suppress(TimeoutError):
                # Not asyncio.wait_for: before Python 3.12 it swallows a cancellation that arrives together with the
                # event (python/cpython#86296), and this loop would never end.
                async with asyncio.timeout(_LOOK):
                    await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(_PAUSE)  # changes arrive in bursts
            try:
                await self._reconcile()
            except KubeError as error:
                _LOG.warning("nodes: %s", error)
            except Exception:
                _LOG.exception("nodes")

    async def _reconcile(self) -> None:
        view = NodeView(self._runtime.fleet.groups, self._cluster.nodes_there(), self._cluster.pods.objects.values())
        steps = [self._set(name, stage) for name, stage in first_states(view).items()]
        steps += [self._age(node) for node in view.nodes.values()]
        early = list(early_bindings(view))
        steps += [self._accept_or_move(each) for each in early]
        # Otherwise the next reconciliation, which knows the state of all nodes, decides.
        if not early and all(stage_of(node) for node in view.nodes.values()):
            steps += [self._start(each) for each in self._growing(view)]
            steps += [self._return_to_reserve(name) for name in self._unneeded(view)]
        steps += [self._return(node) for node in self._lost.due(self._starts.speed) if view.group(node)]
        steps += [self._cluster.delete_node(name) for name in left_over(view)]
        for outcome in await asyncio.gather(*steps, return_exceptions=True):
            if isinstance(outcome, KubeError):  # a conflict: the next reconciliation sees the change
                _LOG.info("nodes: %s", outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def _accept_or_move(self, early: EarlyBinding) -> None:
        """Put a node in use, or delete its pods so that they are scheduled elsewhere."""
        name = early.node["metadata"]["name"]
        if not early.moved:
            await self._set(name, NodeStage.THERE)
            return
        why = f"node {name} would exceed the maximum of its group"
        for pod in early.moved:
            self._notes.add(NoteKind.POD, f"pod {key_of(pod)} goes elsewhere: {why}")
        await asyncio.gather(*(self._cluster.delete_pod(pod) for pod in early.moved))

    async def _age(self, node: Json) -> None:
        """Move a node to its next state when the time in its current one is over."""
        name, stage = node["metadata"]["name"], stage_of(node)
        elapsed = time.time() - since(node)
        if stage is NodeStage.STARTING and elapsed * self._starts.speed >= self._start_time(node):
            await self._set(name, NodeStage.THERE)
            self._notes.add(NoteKind.NODE, f"node {name} is there")
        elif stage is NodeStage.LEAVING and elapsed * self._starts.speed >= NOTICE:
            busy = any(each.live.node == name for each in self._runtime.serving.values())
            if not busy or elapsed * self._answers.speed >= NOTICE:
                self._notes.add(NoteKind.FAULT, f"spot node {name} is gone, as announced")
                self.end_nodes([node])

    def _start_time(self, node: Json) -> float:
        """Return the simulated seconds until a node is Ready: the longest of the workloads that may run there."""
        instance_type = (node["metadata"].get("labels") or {}).get(INSTANCE_TYPE_LABEL, "")
        workloads = self._runtime.fleet.workloads
        times = [workload.startup.node for workload in workloads if instance_type in workload.paces]
        return max(times, default=_START)

    def _growing(self, view: NodeView) -> list[NodeStart]:
        found = list(scale_up(view))
        stuck = {each.pod["metadata"]["uid"]: each for each in found if isinstance(each, Unschedulable)}
        for uid, each in stuck.items():
            if self._stuck.get(uid) != each.reason:
                meta = each.pod["metadata"]
                self._notes.add(NoteKind.POD, f"pod {meta['namespace']}/{meta['name']} stays Pending: {each.reason}")
        self._stuck = {uid: each.reason for uid, each in stuck.items()}
        return [each for each in found if isinstance(each, NodeStart)]

    async def _start(self, start: NodeStart) -> None:
        """Start a node; for the first pods of a workload, it is Ready at once."""
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
        """Return the nodes that had no pods for the whole scale-down time."""
        now = (self._starts(), time.monotonic())
        empty = [node["metadata"]["name"] for node in idle(view)]
        self._idle = {name: self._idle.get(name, now) for name in empty}
        return [name for name, at in self._idle.items() if now[0] - at[0] >= UNNEEDED and now[1] - at[1] >= _FEWEST]

    async def _return_to_reserve(self, name: str) -> None:
        await self._set(name, NodeStage.RESERVE)
        self._notes.add(NoteKind.NODE, f"node {name} is given back: it had no pods for {UNNEEDED / 60:.0f} minutes")

    def end_nodes(self, nodes: Iterable[Json], seconds: float | None = None) -> tuple[tuple[str, ...], int]:
        """Remove nodes and their pods at once; return the pods and the number of aborted requests.

        Connections break, and counts exclude the nodes and their pods, before this returns. They are deleted from the
        API server afterwards, because that may take longer than a caller waits.

        Args:
            nodes: The nodes.
            seconds: Simulated seconds until replacements are registered; by default the start time of a node.
        """
        nodes = list(nodes)
        pods = [pod for node in nodes for pod in self._cluster.pods_on(node["metadata"]["name"])]
        broken = sum(self._runtime.kill_on(node["metadata"]["name"]) for node in nodes)
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

    async def _until_done(self, delete: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Delete an object, with retries while the API server is overloaded."""
        while True:
            try:
                await delete(*arguments)
            except KubeError as error:
                if error.status == http.HTTPStatus.NOT_FOUND:
                    return
                _LOG.warning("deleting a lost node or pod: %s", error)
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
        """Register the replacement of a lost node, unless it exists."""
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
        """Announce that the cloud will reclaim a node, which cordons it."""
        await self._set(name, NodeStage.LEAVING)

    async def _set(self, name: str, stage: NodeStage) -> None:
        """Write the state of a node, and cordon it unless it is in use."""
        node = self._cluster.nodes.objects.get(name)
        if node is None:
            return
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        cordoned = stage is not NodeStage.THERE
        # The taint goes with the cordon: the scheduler would otherwise wait for the node controller to remove it.
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
