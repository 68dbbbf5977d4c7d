"""The process behind the pods of one cluster."""

import asyncio
import time
from typing import Any

from toolkit.kube import Kube

from ..control_api import FaultOutcome, LiveFault, LiveState
from ..fleet import LiveFleet
from ..folder import LiveFolder
from ..informer import key_of
from .cluster import NO_GRACE, LiveCluster
from .control.server import ControlAddress, ControlCredentials, UnknownObjectError
from .control.states import ClusterView, group_states, model_states, pod_states
from .control.targets import backends, targets_of_monitor
from .endpoints import EndpointPorts
from .nodes.controller import NodeController
from .nodes.faults import FaultMaker
from .nodes.lost import LostNodes
from .notes import FleetNotes, PreemptionNotes
from .pod import SimulatedClock
from .ports import Loopback
from .runtime import PodRuntime
from .serving import Engine

Json = dict[str, Any]
IDENTITY = "fleet"
_POLL_SECONDS = 0.25


class PodsProcess:
    """Simulates the engines, kubelets and nodes of a cluster.

    Args:
        folder: Source of the fleet, and target of the addresses.
        kube: A client with the rights of the identity ``fleet``.
        engine: Answers a request to a pod.
        speeds: How much faster than real time answers are, and starts of nodes and pods.
    """

    def __init__(self, folder: LiveFolder, kube: Kube, engine: Engine, speeds: tuple[float, float]) -> None:
        self.folder = folder
        self.notes = FleetNotes()
        self.answers, self.starts = clocks = SimulatedClock(speeds[0]), SimulatedClock(speeds[1])
        self._cluster = LiveCluster(kube)
        self._hub = Loopback()
        self.runtime = PodRuntime(self._hub, engine, clocks, self._cluster)
        self._endpoints = EndpointPorts(self._hub, self.runtime, folder.path / "ports.json")
        lost = LostNodes(folder.path / "lost-nodes.json")
        self._nodes = NodeController(self._cluster, self.runtime, clocks, lost, self.notes)
        self._faults = FaultMaker(self._cluster, self.runtime, self._nodes, self.notes)
        self._credentials = ControlCredentials.read(folder.path / "control.json")
        self._control = ControlAddress(self, self._credentials.token)
        preemptions = PreemptionNotes(self._cluster, self.runtime, self.notes)
        self._cluster.pods.handlers += [
            self.runtime.changed,
            self._nodes.changed,
            preemptions.pod_changed,
        ]
        self._cluster.nodes.handlers += [self._nodes.changed, self._node_changed]
        self._cluster.preemptions.handlers.append(preemptions.event_changed)
        self._deletions: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Run until the task is cancelled."""
        try:
            await self._hub.start()
            await self._apply_fleet(self.folder.read_fleet() or LiveFleet(""))
            await self._cluster.follow()
            self._credentials = self._credentials.listening(await self._control.open(self._credentials.port))
            self._write_addresses()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._nodes.run())
                tasks.create_task(self._watch_fleet_file())
        finally:
            self._endpoints.close()
            self.runtime.close()
            await self._control.close()
            await self._hub.close()

    def state(self) -> LiveState:
        """Return a snapshot of the fleet."""
        cluster = self._cluster
        workloads = {kind: informer.objects for kind, informer in cluster.workloads.items()}
        view = ClusterView(cluster.active_nodes(), workloads, cluster.scalers.objects)
        groups = group_states(self.runtime.fleet, view.nodes)
        return LiveState(
            at=time.time(),
            speed=self.answers.speed,
            start_speed=self.starts.speed,
            models=model_states(self.runtime, view),
            groups=groups,
            usd_per_hour=sum(group.usd_per_hour or 0.0 for group in groups),
            pods=pod_states(self.runtime, view),
            notes=self.notes.all(),
        )

    def targets(self, job: str) -> list[Json]:
        """Return the targets of a PodMonitor.

        Raises:
            UnknownObjectError: there is no such PodMonitor.
        """
        monitors = {key_of(monitor).replace("/", ".", 1): monitor for monitor in self.runtime.fleet.monitors}
        if job not in monitors:
            raise UnknownObjectError(f"unknown PodMonitor {job!r}", tuple(sorted(monitors)))
        pods = ((pod, self.runtime.serving.get(pod["metadata"]["uid"])) for pod, _ in self.runtime.pods())
        return targets_of_monitor(monitors[job], [(pod, serving) for pod, serving in pods if serving])

    def backends(self) -> dict[str, str]:
        """Return the loopback address of each listening pod, by its address and name in the cluster."""
        return backends(self.runtime.serving.values())

    def speed(self, answers: float | None, starts: float | None) -> dict[str, float]:
        """Set the speeds that are not None, and return both."""
        for clock, speed in ((self.answers, answers), (self.starts, starts)):
            if speed is not None:
                clock.speed = speed
        return {"answers": self.answers.speed, "starts": self.starts.speed}

    async def fault(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Inject a fault.

        Raises:
            UnknownObjectError: there is no such node, pod or zone.
        """
        return await self._faults.make(fault, name)

    def _node_changed(self, before: Json | None, after: Json | None) -> None:
        """Delete the pods of a deleted node, which no kubelet terminates.

        The cluster itself would wait 40 to 60 seconds (kubernetes/kubernetes pkg/controller/podgc/gc_controller.go,
        quarantineTime and gcCheckPeriod), during which their namespace cannot be deleted.
        """
        for pod in self._cluster.pods_on(before["metadata"]["name"]) if before and after is None else ():
            task = asyncio.ensure_future(self._cluster.delete_pod(pod, NO_GRACE))
            self._deletions.add(task)
            task.add_done_callback(self._deletions.discard)

    async def _watch_fleet_file(self) -> None:
        """Apply each fleet that ``up`` writes."""
        file = self.folder.path / "fleet.json"
        applied = None
        while True:
            try:
                stat = file.stat()
                version = (stat.st_mtime_ns, stat.st_ino)
            except OSError:
                version = None
            if version != applied:
                fleet = self.folder.read_fleet()
                if fleet:
                    await self._apply_fleet(fleet)
                    self._write_addresses()
                applied = version
            await asyncio.sleep(_POLL_SECONDS)

    async def _apply_fleet(self, fleet: LiveFleet) -> None:
        self.runtime.apply_fleet(fleet)
        self._nodes.changed()
        await self._endpoints.apply_fleet(fleet)

    def _write_addresses(self) -> None:
        self.folder.write_addresses(
            "pods",
            control=self._credentials.url,
            token=self._credentials.token,
            endpoints=self._endpoints.urls(),
        )
