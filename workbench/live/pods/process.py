"""The process: everything that stands behind the pods of one cluster, put together."""

import asyncio
import functools
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from ...kube import Kube, KubeError
from ..control import FaultOutcome, LiveFault, LiveState
from ..folder import LiveFolder
from ..followed import Followed, key_of
from ..served import LiveFleet
from .clock import SimulatedClock
from .control.http import ControlAddress, NotThereError
from .control.states import ClusterView, group_states, model_states, pod_states
from .control.targets import backends, targets_of_monitor
from .endpoints import EndpointPorts
from .groups.controller import GroupController
from .groups.pods import API as GROUP_API
from .groups.pods import KIND as GROUP_KIND
from .groups.rounds import play
from .kept import Kept
from .kubelet import STRATEGIC
from .nodes.keeper import NodeKeeper
from .notes import FleetNotes
from .ports import Loopback
from .serving import Engine
from .stage import PodStage

Json = dict[str, Any]
_T = TypeVar("_T")
IDENTITY = "fleet"
_PATIENCE = 30.0
_THREADS = 8
_LOOK = 0.25
_LOG = logging.getLogger(__name__)


class PodsProcess:
    """Plays the pods of a cluster.

    Args:
        folder: Where the fleet is read, and addresses are written.
        kube: A client with the rights of the identity ``fleet``.
        engine: Answers a request for a pod.
        speeds: How much faster than life answers and starts are.
    """

    def __init__(self, folder: LiveFolder, kube: Kube, engine: Engine, speeds: tuple[float, float]) -> None:
        self.folder = folder
        self.notes = FleetNotes()
        self.answers, self.starts = (SimulatedClock(speed) for speed in speeds)
        self._kube = kube
        kube.patience = _PATIENCE
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="kube")
        self._hub = Loopback()
        self._group_controller = GroupController(functools.partial(self.in_thread, play, kube))
        self._keeper = NodeKeeper(self._patch_node)
        self._follow()
        clocks = (self.answers, self.starts)
        self.stage = PodStage(self._hub, engine, clocks, self._replica_sets, self._nodes, self._patch_status)
        self.stage.pods = self._pods.objects
        self._endpoints = EndpointPorts(self._hub, self.stage, folder.path / "ports.json")
        self._kept = Kept.read(folder.path / "control.json")
        self._control = ControlAddress(self, self._kept.token)

    def _follow(self) -> None:
        self._nodes = Followed(self._kube, "v1", "Node", self._keeper.changed)
        self._replica_sets = Followed(self._kube, "apps/v1", "ReplicaSet")
        self._deployments = Followed(self._kube, "apps/v1", "Deployment")
        self._groups = Followed(self._kube, GROUP_API, GROUP_KIND, self._group_controller.changed)
        self._scalers = Followed(self._kube, "autoscaling/v2", "HorizontalPodAutoscaler")
        self._pods = Followed(self._kube, "v1", "Pod", self._pod_changed)

    async def run(self) -> None:
        """Play until the task is cancelled."""
        await self._hub.start()
        await self._play(self.folder.read_fleet() or LiveFleet(""))
        for followed in (self._nodes, self._replica_sets, self._deployments, self._groups, self._scalers):
            followed.start()
        await asyncio.gather(self._nodes.complete.wait(), self._replica_sets.complete.wait())
        self._pods.start()
        await self._pods.complete.wait()
        self._kept = self._kept.listening(await self._control.open(self._kept.port))
        self._write_addresses()
        await self._read_fleets()

    def state(self) -> LiveState:
        """Return the fleet as it is."""
        view = ClusterView(
            self._pods.objects,
            self._nodes.objects,
            {"Deployment": self._deployments.objects, GROUP_KIND: self._groups.objects},
            self._scalers.objects,
        )
        groups = group_states(self.stage.fleet, view.nodes)
        return LiveState(
            at=time.time(),
            speed=self.answers.speed,
            start_speed=self.starts.speed,
            models=model_states(self.stage, view),
            groups=groups,
            usd_per_hour=sum(group.usd_per_hour or 0.0 for group in groups),
            pods=pod_states(self.stage, view),
            notes=self.notes.all(),
        )

    def targets(self, job: str) -> list[Json]:
        """Return the targets of a PodMonitor.

        Raises:
            NotThereError: there is none of that name.
        """
        monitors = {key_of(each).replace("/", ".", 1): each for each in self.stage.fleet.monitors}
        if job not in monitors:
            raise NotThereError(f"there is no PodMonitor {job!r}", tuple(sorted(monitors)))
        pods = ((pod, self.stage.serving.get(pod["metadata"]["uid"])) for pod in self._pods.objects.values())
        return targets_of_monitor(monitors[job], [(pod, serving) for pod, serving in pods if serving])

    def backends(self) -> dict[str, str]:
        """Return where pods listen, by their address in the cluster."""
        return backends(self.stage.serving.values())

    def speed(self, answers: float | None, starts: float | None) -> dict[str, float]:
        """Change speeds, and return both."""
        for clock, speed in ((self.answers, answers), (self.starts, starts)):
            if speed is not None:
                clock.speed = speed
        return {"answers": self.answers.speed, "starts": self.starts.speed}

    async def fault(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Make something happen."""
        raise NotImplementedError

    async def in_thread(self, function: Callable[..., _T], *arguments: object, **options: object) -> _T:
        """Call something that asks the API server, without holding up the engines."""
        call = functools.partial(function, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _pod_changed(self, before: Json | None, after: Json | None) -> None:
        self.stage.changed(before, after)
        self._group_controller.pod_changed(before, after)

    async def _patch_node(self, name: str, patch: Json) -> None:
        path = self._kube.path("v1", "Node", name)
        await self.in_thread(self._kube.request, "PATCH", path, body=patch, content_type=STRATEGIC)

    async def _patch_status(self, pod: Json, patch: Json) -> None:
        path = self._kube.path_of({"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}) + "/status"
        try:
            await self.in_thread(self._kube.request, "PATCH", path, body=patch, content_type=STRATEGIC)
        except KubeError as error:  # it may be gone by now
            _LOG.info("pod %s is not made Ready: %s", key_of(pod), error)

    async def _read_fleets(self) -> None:
        """Play what ``up`` writes, as soon as it does."""
        file = self.folder.path / "fleet.json"
        seen = _stamp(file)
        while True:
            await asyncio.sleep(_LOOK)
            if (stamp := _stamp(file)) != seen:
                fleet = self.folder.read_fleet()
                if fleet:
                    await self._play(fleet)
                    self._write_addresses()
                seen = stamp

    async def _play(self, fleet: LiveFleet) -> None:
        self.stage.play(fleet)
        await self._endpoints.play(fleet)

    def _write_addresses(self) -> None:
        self.folder.write_addresses(
            "pods", control=self._kept.url, token=self._kept.token, endpoints=self._endpoints.urls()
        )


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file is replaced."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
