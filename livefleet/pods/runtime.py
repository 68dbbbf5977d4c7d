"""Who plays: the pods of the cluster that serve, from their cold start to their end."""

import asyncio
import datetime
import logging
import time
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any

from aiohttp import web

from components.fleet.demand import INSTANCE_TYPE_LABEL

from ..fleet import LiveFleet, ServedWorkload
from ..informer import key_of
from ..pace.replica import EngineReplica
from .cluster import LiveCluster
from .groups.pods import leader_of
from .kubelet import is_ending, is_ready, is_running, ready_now, running_since
from .pod import LivePod, SimulatedClock
from .ports import Loopback
from .serving import Engine, ServingPod

Json = dict[str, Any]
_LOG = logging.getLogger(__name__)
_GRACE = 30.0
_OWNER_SECONDS = 2.0
_ROUTER = "router"
_OWN_PATHS = ("/metrics", "/health", "/healthz", "/readyz")
"""What a router answers itself."""


class PodRuntime:
    """The pods that serve.

    Args:
        hub: Where they listen.
        engine: Answers for a pod.
        clocks: Simulated time of the engines, and of what starts.
        cluster: Where the pods are.
    """

    def __init__(
        self,
        hub: Loopback,
        engine: Engine,
        clocks: tuple[SimulatedClock, SimulatedClock],
        cluster: LiveCluster,
    ) -> None:
        self.fleet = LiveFleet("")
        self.serving: dict[str, ServingPod] = {}
        """Those that listen, by the uid of the pod; those that end until they have ended."""
        self.past: dict[str, tuple[int, int, int]] = {}
        """Requests answered and refused and tokens produced by pods that have ended, by resource."""
        self._hub, self._engine, self._cluster = hub, engine, cluster
        self._answers, self._starts = clocks
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def play(self, fleet: LiveFleet) -> None:
        """Play another fleet from now on; pods of which nothing changed do not notice."""
        self.fleet = fleet
        for pod in tuple(self._cluster.pods.objects.values()):
            serving = self.serving.get(pod["metadata"]["uid"])
            workload = self.workload_of(pod)
            if serving and workload and not serving.leaving:
                serving.live.workload = workload
            elif serving and not workload:
                self._drain(serving, pod)
            else:
                self.changed(None, pod)

    def workload_of(self, pod: Mapping[str, Any]) -> ServedWorkload | None:
        """Return what a pod serves; nothing for all others."""
        meta = pod["metadata"]
        labels = meta.get("labels") or {}
        for workload in self.fleet.workloads:
            if workload.namespace == meta["namespace"] and workload.selector.items() <= labels.items():
                return workload
        return None

    def member_of(self, pod: Mapping[str, Any]) -> ServedWorkload | None:
        """Return the workload that a pod is a part of: one that serves, or one of its workers."""
        meta = pod["metadata"]
        labels = meta.get("labels") or {}
        for workload in self.fleet.workloads:
            same = workload.namespace == meta["namespace"]
            if same and workload.group and workload.group.items() <= labels.items():
                return workload
        return self.workload_of(pod)

    def changed(self, before: Json | None, after: Json | None) -> None:
        """Follow one pod."""
        if before and (after is None or before["metadata"]["uid"] != after["metadata"]["uid"]):
            self._gone(before)
        if after is None:
            return
        serving = self.serving.get(after["metadata"]["uid"])
        if is_ending(after):
            self._stop_start(after["metadata"]["uid"])
            if serving and after["metadata"].get("deletionGracePeriodSeconds"):
                self._drain(serving, after)
            elif serving and not serving.leaving:  # kwok ends at once whatever was asked to end
                serving.kill()
        elif after["spec"].get("nodeName") in self._cluster.ending:
            return  # the scheduler has not heard yet that the node is gone
        elif is_running(after) and not serving and after["metadata"]["uid"] not in self._starting:
            workload = self.workload_of(after)
            if workload or not is_ready(after):
                self._starting[after["metadata"]["uid"]] = asyncio.ensure_future(self._start(after, workload))

    def pods(self) -> Iterator[tuple[Json, ServedWorkload]]:
        """Yield the pods that serve, or will, by name."""
        for _, pod in sorted(self._cluster.pods.objects.items()):
            workload = self.workload_of(pod)
            if workload and self._is_there(pod):
                yield pod, workload

    def members(self) -> Iterator[tuple[Json, ServedWorkload]]:
        """Yield the pods that serve, or will, and their workers, by name."""
        for _, pod in sorted(self._cluster.pods.objects.items()):
            workload = self.member_of(pod)
            if workload and self._is_there(pod):
                yield pod, workload

    def _is_there(self, pod: Json) -> bool:
        return not is_ending(pod) and pod["spec"].get("nodeName") not in self._cluster.ending

    def close(self) -> None:
        """End all engines at once."""
        for task in (*self._starting.values(), *self._ending):
            task.cancel()
        for serving in self.serving.values():
            serving.kill()

    def kill(self, pod: Mapping[str, Any]) -> int:
        """End the engine of a pod immediately; return how many requests broke, those of its leader if it is a worker.

        The leader itself goes on: whether its group is made anew is up to the controller.
        """
        own = self.serving.get(pod["metadata"]["uid"])
        if own:
            return 0 if own.ended else own.kill()
        leader = self.serving.get(leader_of(pod, self._cluster.pods.objects)["metadata"]["uid"])
        return leader.break_off() if leader and not leader.ended else 0

    def kill_on(self, node: str) -> int:
        """End all engines that compute on a node, also those that drain; return how many requests that broke."""
        there = [each for each in self.serving.values() if each.live.node == node and not each.ended]
        broken = sum(each.kill() for each in there)
        return broken + sum(self.kill(pod) for pod in self._cluster.pods_on(node) if self.member_of(pod))

    def ready(self) -> Iterator[ServingPod]:
        """Yield the pods that take requests."""
        return (each for each in self.serving.values() if not each.leaving)

    def route(self, serving: ServingPod, request: web.Request) -> ServingPod | None:
        """Return who answers what one pod was asked: a stand-in for a router sends it to a pod that decodes."""
        own = serving.live.workload
        if own.role != _ROUTER or request.path in _OWN_PATHS:
            return serving
        others = [
            each
            for each in self.ready()
            if each.live.workload.title == own.title and each.live.workload.role not in (_ROUTER, "prefill")
        ]
        return min(others, key=lambda each: each.running, default=None)

    async def _start(self, pod: Json, workload: ServedWorkload | None) -> None:
        uid = pod["metadata"]["uid"]
        try:
            if workload:
                if not is_ready(pod):
                    await self._load(pod, workload)
                await self._open(pod, workload)
            if not is_ready(pod):
                await self._cluster.patch_pod_status(pod, ready_now(pod, datetime.datetime.now(datetime.UTC)))
        except Exception:
            _LOG.exception("starting pod %s", key_of(pod))
        finally:
            self._starting.pop(uid, None)

    async def _load(self, pod: Json, workload: ServedWorkload) -> None:
        """Sleep until the engine of a pod has loaded its model; the first ones of a version are warm."""
        if await self._is_first(pod):
            return
        gone_by = (time.time() - running_since(pod)) * self._starts.speed
        end = self._starts() - gone_by + workload.startup.pod
        while (left := end - self._starts()) > 0:
            await self._starts.sleep(left)

    async def _is_first(self, pod: Json) -> bool:
        """Tell whether a pod is one of the first of its owner; that may become known a moment after the pod."""
        deadline = time.monotonic() + _OWNER_SECONDS
        while not self._cluster.owner_of(pod) and time.monotonic() < deadline and self._cluster.reference_of(pod):
            await asyncio.sleep(0.05)
        return self._cluster.is_first(pod)

    async def _open(self, pod: Json, workload: ServedWorkload) -> None:
        meta, node = pod["metadata"], pod["spec"].get("nodeName", "")
        labels = self._cluster.nodes.objects.get(node, {}).get("metadata", {}).get("labels") or {}
        instance_type = labels.get(INSTANCE_TYPE_LABEL, "")
        pace = workload.pace_on(instance_type)
        replica = EngineReplica(pace, workload.queue, self._answers())
        ip = pod["status"]["podIP"]
        live = LivePod(workload, meta["name"], meta["uid"], ip, node, instance_type, pace, replica, self._answers)
        serving = ServingPod(live, self._engine, self.route)
        self.serving[meta["uid"]] = serving
        await serving.open(self._hub)

    def _gone(self, pod: Json) -> None:
        """A pod is not there any more: if nobody told it to end before, it was killed."""
        self._stop_start(pod["metadata"]["uid"])
        serving = self.serving.get(pod["metadata"]["uid"])
        if serving and not serving.leaving:
            serving.kill()
        if serving and serving.ended:
            self._later(self._forget(serving))

    async def _forget(self, serving: ServingPod) -> None:
        """Let go of a pod that has ended, once each of its requests is counted."""
        await serving.settled()
        if self.serving.pop(serving.live.uid, None):
            live, past = serving.live, self.past.get(serving.live.workload.title, (0, 0, 0))
            added = (live.answered, live.refused, live.tokens)
            self.past[live.workload.title] = (past[0] + added[0], past[1] + added[1], past[2] + added[2])

    def _stop_start(self, uid: str) -> None:
        starting = self._starting.pop(uid, None)
        if starting:
            starting.cancel()

    def _drain(self, serving: ServingPod, pod: Json) -> None:
        async def drain() -> None:
            grace = pod["metadata"].get("deletionGracePeriodSeconds", _GRACE)
            await serving.drain(grace)
            await self._forget(serving)

        if not serving.leaving:
            # Before anything else is heard: that the pod is gone may be told next, and must not look like a kill.
            serving.leaving = True
            self._later(drain())

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
