"""The discrete-event loop: arrivals, scrapes, autoscalers, starts and ends of replicas and nodes."""

import heapq
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from .demand import RequestColumns
from .fleet import VirtualFleet, VirtualScaler
from .nodes import UNNEEDED, VirtualNode, VirtualNodes
from .scaling import SYNC, ScalerPasses
from .serving import KEEP_ALIVE, ModelSet, Replica, ReplicaStage, RoutedEndpoint, RunningWorkload


@dataclass(frozen=True, slots=True)
class VirtualOptions:
    """Options of a run.

    Attributes:
        timeout: Seconds after which clients give up.
        keep_alive: Seconds for which clients keep an idle connection; 0 for a new one for each request.
        seed: Seed of routing and of the phases of scrapes and autoscalers.
        start_speed: How much faster than in a cluster nodes and replicas start and idle nodes are removed, as in
            the live fleet.
        seconds: Duration; by default until the last request.
    """

    timeout: float = 300.0
    seed: int = 0
    start_speed: float = 1.0
    seconds: float | None = None
    keep_alive: float = KEEP_ALIVE


class VirtualRun:
    """One run of a fleet. Its results are in its attributes after :meth:`run`.

    Args:
        fleet: The fleet.
        demand: Requests of each endpoint, ordered by time.
        options: Options of the run.
    """

    def __init__(self, fleet: VirtualFleet, demand: Mapping[str, RequestColumns], options: VirtualOptions) -> None:
        self.fleet, self.options = fleet, options
        self.pool = VirtualNodes(fleet.groups)
        self.workloads = {facts.served.key: RunningWorkload(facts, facts.replicas) for facts in fleet.workloads}
        self.endpoints = {
            endpoint.title: RoutedEndpoint(
                endpoint.title,
                [(weight, self.workloads[key]) for key, weight in endpoint.workloads.items() if weight > 0],
                options.keep_alive,
            )
            for endpoint in fleet.endpoints
        }
        last = max((arrivals.at[-1] for arrivals in demand.values() if len(arrivals)), default=0.0)
        self.end = last if options.seconds is None else options.seconds
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._order = itertools.count()
        self._pending: list[Replica] = []
        self._sets: dict[str, ModelSet] = {}
        for endpoints in self._shared():
            workloads = list({workload.key: workload for each in endpoints for _, workload in each.weights}.values())
            models = ModelSet(endpoints, workloads, dict(demand), options.timeout, options.seed)
            self._sets |= {workload.key: models for workload in workloads}

    def run(self) -> None:
        """Run to the end of the demand, then complete all requests."""
        for workload in self.workloads.values():
            for _ in range(workload.wanted):
                self._place(workload.create(0.0), 0.0, warm=True)
            workload.record(0.0)
        for nodes in self.pool.nodes.values():
            for node in nodes:
                if not node.pods:
                    self._check_idle(node, 0.0)
        for workload in self.workloads.values():
            if workload.facts.scaler is not None:
                self._start_scaling(workload, workload.facts.scaler)
        while self._events and self._events[0][0] <= self.end:
            at, _, event = heapq.heappop(self._events)
            event(at)
        for models in {id(models): models for models in self._sets.values()}.values():
            models.run_until(self.end)
            models.finish()
        for workload in self.workloads.values():
            for replica in (*workload.replicas, *workload.ending):
                workload.seconds += max(self.end - replica.bound, 0.0)
        self.pool.close(self.end)

    def _shared(self) -> list[list[RoutedEndpoint]]:
        """Return the endpoints in sets that share workloads."""
        sets: list[tuple[set[str], list[RoutedEndpoint]]] = []
        for endpoint in self.endpoints.values():
            keys, members = {workload.key for _, workload in endpoint.weights}, [endpoint]
            for other in [other for other in sets if other[0] & keys]:
                sets.remove(other)
                keys |= other[0]
                members = [*other[1], *members]
            sets.append((keys, members))
        return [members for _, members in sets]

    def _at(self, time: float, event: Callable[[float], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), event))

    def _advance(self, workload: RunningWorkload, now: float) -> None:
        models = self._sets.get(workload.key)
        if models is not None:
            models.run_until(now)

    def _start_scaling(self, workload: RunningWorkload, scaler: VirtualScaler) -> None:
        scaling = ScalerPasses(workload, scaler)
        phase = Random(f"{self.options.seed}:hpa:{workload.key}").random() * SYNC  # noqa: S311

        def scale(now: float) -> None:
            self._advance(workload, now)
            self._set_replicas(workload, scaling.step(now), now)
            self._at(now + SYNC, scale)

        self._at(phase, scale)

    def _start_scrapes(self, replica: Replica, now: float) -> None:
        scaler = replica.workload.facts.scaler
        if scaler is None:
            return
        # Prometheus spreads the scrapes of its targets over the interval.
        name = f"{self.options.seed}:scrape:{replica.workload.key}:{replica.number}"
        phase = Random(name).random() * scaler.interval  # noqa: S311

        def scrape(at: float) -> None:
            if replica.stage is ReplicaStage.READY:
                self._advance(replica.workload, at)
                replica.scrape(at)
                self._at(at + scaler.interval, scrape)

        self._at(now + phase, scrape)

    def _set_replicas(self, workload: RunningWorkload, wanted: int, now: float) -> None:
        workload.wanted = wanted
        while len(workload.replicas) < wanted:
            self._place(workload.create(now), now)
        while len(workload.replicas) > wanted:
            self._terminate(workload.next_victim(), now)
        workload.record(now)

    def _place(self, replica: Replica, now: float, *, warm: bool = False) -> None:
        """Bind a replica and start it, or let it wait for room.

        Args:
            replica: The replica.
            now: The time.
            warm: Whether it and its nodes are ready at once, as at the start of the run.
        """
        facts = replica.workload.facts
        speed, startup = self.options.start_speed, facts.served.startup
        binding = self.pool.bind(facts.pods, now, 0.0 if warm else startup.node / speed)
        if binding is None:
            self._pending.append(replica)
            return
        replica.binding, replica.bound, replica.stage = binding, now, ReplicaStage.STARTING
        if warm:
            self._serve(replica, now)
            return
        ready = max((node.ready for node, _ in binding), default=now)
        self._at(max(ready, now) + startup.pod / speed, lambda at: self._ready(replica, at))

    def _ready(self, replica: Replica, now: float) -> None:
        if replica.stage is not ReplicaStage.STARTING:
            return  # it was deleted while it started
        self._advance(replica.workload, now)
        self._serve(replica, now)

    def _serve(self, replica: Replica, now: float) -> None:
        replica.start_engine(now)
        replica.workload.ready.append(replica)
        replica.workload.record(now)
        self._start_scrapes(replica, now)

    def _terminate(self, replica: Replica, now: float) -> None:
        """Delete a replica: its requests may complete as long as its pods wait for them."""
        workload = replica.workload
        self._advance(workload, now)
        workload.replicas.remove(replica)
        stage, replica.stage = replica.stage, ReplicaStage.ENDING
        if stage is ReplicaStage.PENDING:
            self._pending.remove(replica)
            return
        workload.ending.append(replica)
        if stage is ReplicaStage.READY:
            workload.ready.remove(replica)
            self._drain(replica, now, now + workload.facts.finishing)
        else:
            self._gone(replica, now)

    def _drain(self, replica: Replica, now: float, deadline: float) -> None:
        self._advance(replica.workload, now)
        engine = replica.engine
        if engine is None:
            return
        engine.advance(now)
        jobs = replica.remaining()
        if jobs and now >= deadline:
            for job in jobs:
                engine.cancel(now, job)
        elif jobs:
            due = max(engine.due(job, job.wanted) for job in jobs)
            self._at(min(max(due, now + _DRAIN_CHECK), deadline), lambda at: self._drain(replica, at, deadline))
            return
        self._gone(replica, now)

    def _gone(self, replica: Replica, now: float) -> None:
        replica.workload.ending.remove(replica)
        replica.workload.seconds += now - replica.bound
        for node in self.pool.release(replica.binding, now):
            self._check_idle(node, now)
        waiting, self._pending = self._pending, []
        for other in waiting:
            self._place(other, now)
            other.workload.record(now)

    def _check_idle(self, node: VirtualNode, now: float) -> None:
        unneeded = UNNEEDED / self.options.start_speed
        self._at(now + unneeded, lambda at: self.pool.remove_idle(node, at, unneeded))


_DRAIN_CHECK = 0.05
"""Seconds between two checks of a replica that ends; its requests' times are estimates."""
