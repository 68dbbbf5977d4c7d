"""Replicas that serve the requests of models: routing, limits, timeouts, and the end of a replica.

Engines advance lazily, when a request arrives or a figure is read, so that no event exists per token.
"""

from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum, auto
from math import inf
from random import Random

from ..apis.planning import ASSUMED_CONTEXT
from ..pace.replica import EngineReplica, Job, JobState, QueueFullError
from .demand import RequestColumns
from .fleet import Gauge, VirtualWorkload
from .nodes import Binding

LOST = ("context", "no replica", "queue full", "timeout", "aborted")
"""Causes of lost requests: longer than the model's context, no ready replica, a limit of the engine, no end within
the timeout, and a replica that was killed at the end of its grace period."""

_PRUNE = 512
"""Requests of a replica after which those that are over are forgotten."""
KEEP_ALIVE = 15.0
"""Seconds for which clients keep an idle connection, as those of ``workbench live load`` do (aiohttp's default)."""


class ReplicaStage(Enum):
    """Stage of a replica."""

    PENDING = auto()
    """Without a node."""
    STARTING = auto()
    READY = auto()
    ENDING = auto()
    """It completes its requests, and gets no new ones."""


@dataclass(slots=True, eq=False)
class Replica:
    """A replica of a workload.

    Attributes:
        number: Order of creation in its workload.
        sample: Values of the metrics at the last scrape; None before the first one.
        open: Requests that are not over, and some that are.
    """

    workload: "RunningWorkload"
    number: int
    created: float
    stage: ReplicaStage = ReplicaStage.PENDING
    binding: Binding = field(default_factory=list)
    bound: float = inf
    ready: float = inf
    engine: EngineReplica | None = None
    sample: dict[str, float] | None = None
    open: list[Job] = field(default_factory=list)
    prune_at: int = _PRUNE

    def start_engine(self, now: float) -> None:
        served = self.workload.facts.served
        node = self.binding[0][0].group.instance_type if self.binding else ""
        self.stage, self.ready = ReplicaStage.READY, now
        self.engine = EngineReplica(served.pace_on(node), served.queue, now)
        self.engine.completed = []

    def scrape(self, now: float) -> None:
        """Read the metrics that the autoscaler uses."""
        scaler = self.workload.facts.scaler
        if scaler is None or self.engine is None:
            return
        self.engine.advance(now)
        self.sample = {name: self._value(self.engine, gauge) for name, gauge in scaler.gauges.items()}

    def _value(self, engine: EngineReplica, gauge: Gauge) -> float:
        match gauge:
            case Gauge.QUEUE:
                return engine.waiting
            case Gauge.RUNNING:
                return engine.running
            case Gauge.CACHE:
                size = engine.pace.cache_tokens
                return min(engine.cached / size, 1.0) if size else 0.0

    def remaining(self) -> list[Job]:
        """Return the requests that are not over."""
        self.open = [job for job in self.open if job.state is not JobState.OVER]
        return self.open


@dataclass(slots=True, eq=False)
class RunningWorkload:
    """A workload with its replicas.

    Attributes:
        replicas: All replicas, except those that are ending.
        ready: Those that take requests.
        changes: Changes of the number of replicas: time, replicas, ready replicas.
        seconds: Seconds of replicas from their binding to their end.
        wanted: Replicas that the manifest or the autoscaler requires.
    """

    facts: VirtualWorkload
    wanted: int = 0
    replicas: list[Replica] = field(default_factory=list)
    ready: list[Replica] = field(default_factory=list)
    ending: list[Replica] = field(default_factory=list)
    changes: list[tuple[float, int, int]] = field(default_factory=list)
    seconds: float = 0.0
    created: int = 0

    @property
    def key(self) -> str:
        return self.facts.served.key

    def create(self, now: float) -> Replica:
        self.created += 1
        replica = Replica(self, self.created, now)
        self.replicas.append(replica)
        return replica

    def record(self, now: float) -> None:
        """Record the number of replicas, once per time."""
        change = now, len(self.replicas), len(self.ready)
        if self.changes and self.changes[-1][0] == now:
            self.changes[-1] = change
        elif not self.changes or self.changes[-1][1:] != change[1:]:
            self.changes.append(change)

    def next_victim(self) -> Replica:
        """Return the replica that its controller deletes first: not bound, not ready, then the newest."""
        order = {ReplicaStage.PENDING: 0, ReplicaStage.STARTING: 1, ReplicaStage.READY: 2}
        return min(self.replicas, key=lambda replica: (order[replica.stage], -replica.number))


@dataclass(slots=True)
class ModelFigures:
    """The outcomes of the requests of one endpoint.

    Attributes:
        sent: Send times of answered requests; ``first``, ``between`` and ``took`` have the same order.
        between: Mean time between the tokens of an answer; -1 for an answer of one token.
        lost: Number of lost requests by cause.
        lost_at: Send times of lost requests.
    """

    sent: "array[float]" = field(default_factory=lambda: array("d"))
    first: "array[float]" = field(default_factory=lambda: array("d"))
    between: "array[float]" = field(default_factory=lambda: array("d"))
    took: "array[float]" = field(default_factory=lambda: array("d"))
    lost: Counter[str] = field(default_factory=Counter)
    lost_at: "array[float]" = field(default_factory=lambda: array("d"))
    prompt_tokens: int = 0
    output_tokens: int = 0

    def lose(self, cause: str, at: float) -> None:
        self.lost[cause] += 1
        self.lost_at.append(at)

    def add(self, job: Job) -> None:
        """Add a request that is over."""
        if job.ended is None or job.first is None:
            self.lose("aborted", job.arrived)
            return
        self.sent.append(job.arrived)
        self.first.append(job.first - job.arrived)
        self.between.append((job.ended - job.first) / (job.wanted - 1) if job.wanted > 1 else -1.0)
        self.took.append(job.ended - job.arrived)
        self.prompt_tokens += job.prompt
        self.output_tokens += job.wanted


@dataclass(slots=True)
class RoutedEndpoint:
    """An endpoint with the workloads that answer, by their weights.

    Attributes:
        keep_alive: Seconds for which clients keep an idle connection.
        idle: Idle connections of its clients, in the order in which they became idle: since when, and the replica.
    """

    title: str
    weights: list[tuple[float, RunningWorkload]]
    keep_alive: float = KEEP_ALIVE
    figures: ModelFigures = field(default_factory=ModelFigures)
    idle: deque[tuple[float, Replica]] = field(default_factory=deque)

    @property
    def has_choice(self) -> bool:
        """Whether there may be several replicas, so that connections matter."""
        if not self.keep_alive:
            return False
        return len(self.weights) > 1 or any(
            workload.facts.replicas > 1 or workload.facts.scaler is not None for _, workload in self.weights
        )

    def route(self, rng: Random, now: float) -> Replica | None:
        """Return the replica of an idle connection, or that of a new one.

        A connection goes to a random replica, as with kube-proxy, and stays there while the replica takes requests.
        """
        while self.idle:
            since, replica = self.idle.popleft()
            if now - since <= self.keep_alive and replica.stage is ReplicaStage.READY:
                return replica
        return self._connect(rng)

    def _connect(self, rng: Random) -> Replica | None:
        """Choose a workload by weight among those with ready replicas, then one of its replicas at random."""
        ready = [(weight, workload) for weight, workload in self.weights if workload.ready]
        if not ready:
            return None
        workload = ready[0][1]
        if len(ready) > 1:
            point = rng.random() * sum(weight for weight, _ in ready)
            for weight, workload in ready:  # noqa: B007
                point -= weight
                if point < 0:
                    break
        replicas = workload.ready
        return replicas[int(rng.random() * len(replicas))] if len(replicas) > 1 else replicas[0]


_Open = tuple[float, Job, Replica, RoutedEndpoint]


class ModelSet:
    """Endpoints that share workloads, with their requests. Different sets share nodes only.

    Args:
        endpoints: The endpoints.
        workloads: Their workloads.
        demand: Requests of each endpoint.
        timeout: Seconds after which clients give up.
        seed: Seed of the routing.
    """

    def __init__(
        self,
        endpoints: list[RoutedEndpoint],
        workloads: list[RunningWorkload],
        demand: dict[str, RequestColumns],
        timeout: float,
        seed: int,
    ) -> None:
        self.endpoints, self.workloads = endpoints, workloads
        self._timeout = timeout
        self._rng = Random(f"{seed}:{endpoints[0].title if endpoints else ''}")  # noqa: S311
        self._open: deque[_Open] = deque()
        self._has_choice = any(endpoint.has_choice for endpoint in endpoints)
        self._owners: dict[Job, RoutedEndpoint] = {}
        """The endpoint of each request that runs, if its connection matters."""
        columns = [(endpoint, demand.get(endpoint.title, RequestColumns())) for endpoint in endpoints]
        self._arrivals = self._merged(columns)
        self._next = 0

    @property
    def left(self) -> bool:
        """Whether requests are still to be sent, or not over."""
        return self._next < len(self._arrivals[1]) or bool(self._open)

    def run_until(self, now: float) -> None:
        """Send the requests up to a time, and settle those whose clients gave up."""
        owners, at, prompt, wanted = self._arrivals
        index, end = self._next, len(at)
        while index < end and at[index] <= now:
            self._send(at[index], owners[index] if owners else self.endpoints[0], prompt[index], wanted[index])
            index += 1
        self._next = index
        self._harvest(now)

    def finish(self) -> None:
        """Complete all requests."""
        self.run_until(inf)

    def _send(self, at: float, endpoint: RoutedEndpoint, prompt: int, wanted: int) -> None:
        self._harvest(at)
        if self._has_choice:
            self._release_connections(at)
        replica = endpoint.route(self._rng, at)
        if replica is None or replica.engine is None:
            endpoint.figures.lose("no replica", at)
            return
        served, engine = replica.workload.facts.served, replica.engine
        if prompt + wanted > (served.context or ASSUMED_CONTEXT):
            endpoint.figures.lose("context", at)
            return
        limit = served.in_flight
        if limit is not None:
            engine.advance(at)
            if engine.waiting + engine.running >= limit:
                endpoint.figures.lose("queue full", at)
                return
        try:
            job = engine.submit(at, prompt, wanted)
        except QueueFullError:
            endpoint.figures.lose("queue full", at)
            return
        self._open.append((at + self._timeout, job, replica, endpoint))
        if self._has_choice:
            self._owners[job] = endpoint
        replica.open.append(job)
        if len(replica.open) > replica.prune_at:
            # Twice the rest, so that the time per request does not depend on the length of the queue.
            replica.prune_at = max(2 * len(replica.remaining()), _PRUNE)

    def _release_connections(self, now: float) -> None:
        """Record the connections of completed requests as idle."""
        released = []
        for workload in self.workloads:
            for replica in workload.ready:
                engine = replica.engine
                if engine is not None:
                    engine.advance(now)
                    if engine.completed:
                        released += [(job, replica) for job in engine.completed]
                        engine.completed.clear()
        released.sort(key=lambda pair: pair[0].ended or now)
        for job, replica in released:
            endpoint = self._owners.pop(job, None)
            if endpoint is not None:
                endpoint.idle.append((now if job.ended is None else job.ended, replica))

    def _harvest(self, now: float) -> None:
        """Record the requests that are over, and cancel those whose clients gave up, in the order of sending."""
        waiting = self._open
        while waiting:
            deadline, job, replica, endpoint = waiting[0]
            if job.state is not JobState.OVER:
                if deadline > now:
                    return
                if replica.engine is not None:
                    replica.engine.cancel(deadline, job)
                if job.ended is None:
                    self._owners.pop(job, None)
                    endpoint.figures.lose("timeout", job.arrived)
                    waiting.popleft()
                    continue
            endpoint.figures.add(job)
            waiting.popleft()

    def _merged(
        self, columns: list[tuple[RoutedEndpoint, RequestColumns]]
    ) -> "tuple[list[RoutedEndpoint], array[float], array[int], array[int]]":
        """Return the requests of all endpoints by time; the first list is empty if there is one endpoint."""
        if len(columns) == 1:
            arrivals = columns[0][1]
            return [], arrivals.at, arrivals.prompt, arrivals.wanted
        rows = sorted(
            (
                (arrivals.at[row], place, row)
                for place, (_, arrivals) in enumerate(columns)
                for row in range(len(arrivals))
            )
        )
        return (
            [columns[place][0] for _, place, _ in rows],
            array("d", (at for at, _, _ in rows)),
            array("q", (columns[place][1].prompt[row] for _, place, row in rows)),
            array("q", (columns[place][1].wanted[row] for _, place, row in rows)),
        )
