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
from ..cluster import NO_GRACE, LiveCluster
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
    idle,
    initial_stages,
    orphaned_replacements,
    scale_up,
)
from .lost import LostNodes
from .node_state import SINCE, NodeStage, since, stage_of

Json = dict[str, Any]
UNNEEDED = 600.0
NOTICE = 120.0
_DEFAULT_START_SECONDS = 90.0
"""Start time of a node without a known workload."""
_MIN_IDLE_SECONDS = 5.0
"""Minimum real seconds before an empty node is removed: the scheduler may be about to use it."""
_RESYNC_SECONDS, _PAUSE = 1.0, 0.05
_LOG = logging.getLogger(__name__)


class NodeController:
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
        self._pending_reasons: dict[str, str] = {}
        """Why each unschedulable pod stays Pending, by uid; a reason is recorded as an event when it changes."""
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
                async with asyncio.timeout(_RESYNC_SECONDS):
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
        view = NodeView(self._runtime.fleet.groups, self._cluster.active_nodes(), self._cluster.pods.objects.values())
        steps = [self._set(name, stage) for name, stage in initial_stages(view).items()]
        steps += [self._advance(node) for node in view.nodes.values()]
        early = list(early_bindings(view))
        steps += [self._accept_or_move(binding) for binding in early]
        # Otherwise the next reconciliation, which has the state of all nodes, decides.
        if not early and all(stage_of(node) for node in view.nodes.values()):
            decisions = list(scale_up(view))
            self._record_pending(decision for decision in decisions if isinstance(decision, Unschedulable))
            steps += [self._start(decision) for decision in decisions if isinstance(decision, NodeStart)]
            # A node is removed once it had no pods for the whole scale-down time.
            now = (self._starts(), time.monotonic())
            empty = [node["metadata"]["name"] for node in idle(view)]
            self._idle = {name: self._idle.get(name, now) for name in empty}
            steps += [
                self._return_to_reserve(name)
                for name, (simulated, real) in self._idle.items()
                if now[0] - simulated >= UNNEEDED and now[1] - real >= _MIN_IDLE_SECONDS
            ]
        steps += [self._replace(node) for node in self._lost.due(self._starts.speed) if view.group(node)]
        steps += [self._cluster.delete_node(name) for name in orphaned_replacements(view)]
        for outcome in await asyncio.gather(*steps, return_exceptions=True):
            if isinstance(outcome, KubeError):  # a conflict: the next reconciliation sees the change
                _LOG.info("nodes: %s", outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def _accept_or_move(self, early: EarlyBinding) -> None:
        """Put a node in use, or delete its pods so that they are scheduled elsewhere."""
        name = early.node["metadata"]["name"]
        if not early.moved:
            await self._set(name, NodeStage.IN_USE)
            return
        reason = f"node {name} would exceed the maximum of its group"
        for pod in early.moved:
            self._notes.add(NoteKind.POD, f"pod {key_of(pod)} is moved: {reason}")
        await asyncio.gather(*(self._cluster.delete_pod(pod) for pod in early.moved))

    async def _advance(self, node: Json) -> None:
        """Move a node to its next state when the time in its current one is over."""
        name, stage = node["metadata"]["name"], stage_of(node)
        elapsed = time.time() - since(node)
        if stage is NodeStage.STARTING and elapsed * self._starts.speed >= self._start_time(node):
            await self._set(name, NodeStage.IN_USE)
            self._notes.add(NoteKind.NODE, f"node {name} is Ready")
        elif stage is NodeStage.LEAVING and elapsed * self._starts.speed >= NOTICE:
            busy = any(pod.live.node == name for pod in self._runtime.serving.values())
            if not busy or elapsed * self._answers.speed >= NOTICE:
                self._notes.add(NoteKind.FAULT, f"spot node {name} is gone, as announced")
                self.end_nodes([node])

    def _start_time(self, node: Json) -> float:
        """Return the simulated seconds until a node is Ready: the longest of the workloads that may run there."""
        instance_type = (node["metadata"].get("labels") or {}).get(INSTANCE_TYPE_LABEL, "")
        workloads = self._runtime.fleet.workloads
        times = [workload.startup.node for workload in workloads if instance_type in workload.paces]
        return max(times, default=_DEFAULT_START_SECONDS)

    def _record_pending(self, pods: Iterable[Unschedulable]) -> None:
        """Record the pods for which no node can be started, once per reason."""
        reasons = {}
        for unschedulable in pods:
            uid, reason = unschedulable.pod["metadata"]["uid"], unschedulable.reason
            if self._pending_reasons.get(uid) != reason:
                self._notes.add(NoteKind.POD, f"pod {key_of(unschedulable.pod)} stays Pending: {reason}")
            reasons[uid] = reason
        self._pending_reasons = reasons

    async def _start(self, start: NodeStart) -> None:
        """Start a node; for the first pods of a workload, it is Ready at once."""
        name, pod = start.node["metadata"]["name"], key_of(start.pod)
        if self._cluster.is_warm(start.pod):
            await self._set(name, NodeStage.IN_USE)
            self._notes.add(NoteKind.NODE, f"node {name} is in use for pod {pod}")
            return
        await self._set(name, NodeStage.STARTING)
        seconds = self._start_time(start.node)
        self._notes.add(NoteKind.NODE, f"node {name} starts for pod {pod}; it takes {seconds:.0f} simulated seconds")

    async def _return_to_reserve(self, name: str) -> None:
        await self._set(name, NodeStage.RESERVE)
        self._notes.add(NoteKind.NODE, f"node {name} is removed: it had no pods for {UNNEEDED / 60:.0f} minutes")

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
        aborted = sum(self._runtime.kill_on(node["metadata"]["name"]) for node in nodes)
        self._cluster.ending.update(node["metadata"]["name"] for node in nodes)
        self._lost.add((node, self._start_time(node) if seconds is None else seconds) for node in nodes)
        self.run_in_background(self._delete(nodes, pods))
        return tuple(sorted(map(key_of, pods))), aborted

    async def _delete(self, nodes: list[Json], pods: list[Json]) -> None:
        """Delete nodes and then their pods, so that replacements are not scheduled there."""
        names = [node["metadata"]["name"] for node in nodes]
        try:
            await asyncio.gather(*(self._retry_delete(self._cluster.delete_node, name) for name in names))
            await asyncio.gather(*(self._retry_delete(self._cluster.delete_pod, pod, NO_GRACE) for pod in pods))
            # Watchers of nodes may see the deletion later.
            while any(name in self._cluster.nodes.objects for name in names):
                await asyncio.sleep(_PAUSE)
        finally:
            self._cluster.ending.difference_update(names)
            self._changed.set()

    async def _retry_delete(self, delete: Callable[..., Awaitable[None]], *arguments: object) -> None:
        """Delete an object, with retries while the API server is overloaded."""
        while True:
            try:
                await delete(*arguments)
            except KubeError as error:
                if error.status == http.HTTPStatus.NOT_FOUND:
                    return
                _LOG.warning("deleting a lost node or pod: %s", error)
                await asyncio.sleep(_RESYNC_SECONDS)
            else:
                return

    def run_in_background(self, work: Coroutine[None, None, None]) -> None:
        """Run a coroutine in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def delete_pods(self, pods: Iterable[Json], grace: int | None = None) -> None:
        """Delete pods, with their own or another grace period."""
        await asyncio.gather(*(self._retry_delete(self._cluster.delete_pod, pod, grace) for pod in pods))

    async def _replace(self, node: Json) -> None:
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
        cordoned = stage is not NodeStage.IN_USE
        # Written together with the cordon: otherwise the scheduler waits until the node controller removes the taint.
        taints = [taint for taint in node.get("spec", {}).get("taints") or () if taint["key"] != CORDON]
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
