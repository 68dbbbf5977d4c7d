"""Results of a run in virtual time: percentiles, lost requests, replicas, GPU-hours and dollars."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..load.summary import Percentiles, spread
from .run import VirtualRun
from .serving import LOST, RoutedEndpoint, RunningWorkload

_HOUR = 3600.0
_MAX_INTERVALS = 96
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class ModelResult:
    """Requests of one endpoint.

    Attributes:
        name: Name in the outputs.
        lost: Number of lost requests by cause.
        ttft: Time to the first token of answered requests.
        itl: Mean time between the tokens of an answer, of answered requests.
        took: Time to the end of an answer.
        workloads: Workloads that answer.
        pace: Sources of their paces.
    """

    name: str
    model: str
    requests: int
    answered: int
    lost: dict[str, int]
    ttft: Percentiles
    itl: Percentiles
    took: Percentiles
    input_tokens: int
    output_tokens: int
    workloads: tuple[str, ...]
    pace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """Replicas of a workload.

    Attributes:
        start: Replicas at the start.
        mean: Mean over time.
        most_ready: Maximum of ready replicas.
        replica_hours: From the binding of a replica to its end.
        changes: Time, replicas and ready replicas after each change.
    """

    name: str
    start: int
    least: int
    most: int
    mean: float
    most_ready: int
    replica_hours: float
    gpu_hours: float
    scaled: bool
    changes: tuple[tuple[float, int, int], ...]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Nodes of a group, which are paid from their request to their removal.

    Attributes:
        most: Maximum of nodes.
        usd: Cost; None without a price.
        price_source: Source of the price, or why there is none.
    """

    name: str
    instance_type: str
    most: int
    node_hours: float
    gpu_hours: float
    usd: float | None
    price_source: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Results of an interval, of all models; a request counts in the one in which it was sent.

    Attributes:
        start: Seconds after the start.
        sent: Requests per second.
        lost: Lost requests per second.
        replicas: Replicas of the models with requests at its end.
        ready: Those that are ready.
        nodes: Nodes at its end.
    """

    start: float
    sent: float
    lost: float
    ttft_p50: float | None
    ttft_p99: float | None
    itl_p99: float | None
    replicas: int
    ready: int
    nodes: int


@dataclass(frozen=True, slots=True)
class VirtualResult:
    """Result of a run of a fleet in virtual time.

    Attributes:
        seconds: Simulated duration.
        models: Endpoints with requests.
        ttft: Time to the first token, of the requests of all models.
        itl: Mean time between tokens, likewise.
        gpu_hours: Accelerator-hours of all nodes.
        usd: Cost of all nodes with a price.
        unpriced: VirtualNode groups without a price.
        refused: Why endpoints are not simulated.
        notes: What the simulation leaves out.
    """

    stack: str
    seconds: float
    models: tuple[ModelResult, ...]
    workloads: tuple[WorkloadResult, ...]
    groups: tuple[GroupResult, ...]
    ttft: Percentiles
    itl: Percentiles
    step: float
    intervals: tuple[Interval, ...]
    refused: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        return sum(model.requests for model in self.models)

    @property
    def answered(self) -> int:
        return sum(model.answered for model in self.models)

    @property
    def lost(self) -> int:
        return self.requests - self.answered

    @property
    def gpu_hours(self) -> float:
        return round(math.fsum(group.gpu_hours for group in self.groups), _DIGITS)

    @property
    def usd(self) -> float:
        return round(math.fsum(group.usd for group in self.groups if group.usd is not None), _DIGITS)

    @property
    def usd_per_day(self) -> float:
        """Cost of 24 hours at the mean of the run."""
        usd = math.fsum(group.usd for group in self.groups if group.usd is not None)
        return round(usd * 24 * _HOUR / self.seconds, _DIGITS) if self.seconds else 0.0

    @property
    def unpriced(self) -> tuple[str, ...]:
        return tuple(group.name for group in self.groups if group.usd is None and group.node_hours)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, with the keys of the JSON output."""
        total = {
            "requests": self.requests,
            "answered": self.answered,
            "lost": self.lost,
            "ttft": asdict(self.ttft),
            "itl": asdict(self.itl),
            "gpuHours": self.gpu_hours,
            "usd": self.usd,
            "usdPerDay": self.usd_per_day,
            "unpriced": list(self.unpriced),
        }
        body = {
            "stack": self.stack,
            "seconds": self.seconds,
            "total": total,
            "models": [_wire(model) for model in self.models],
            "workloads": [_wire(workload) for workload in self.workloads],
            "groups": [_wire(group) for group in self.groups],
            "step": self.step,
            "intervals": [_wire(interval) for interval in self.intervals],
            "notSimulated": self.refused,
            "notes": list(self.notes),
        }
        rounded: dict[str, Any] = _rounded(body)
        return rounded


def _wire(row: Any) -> dict[str, Any]:  # noqa: ANN401  one of the dataclasses above
    def camel(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(word.title() for word in rest)

    return {camel(name): value for name, value in asdict(row).items()}


def _rounded(value: Any) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def result_of(run: VirtualRun) -> VirtualResult:
    """Return the result of a finished run."""
    end = run.end
    served = [endpoint for endpoint in run.endpoints.values() if endpoint.figures.sent or endpoint.figures.lost]
    names = {endpoint.title: endpoint.model for endpoint in run.fleet.endpoints}
    step = float(next((step for step in _STEPS if step * _MAX_INTERVALS >= end), _STEPS[-1]))
    return VirtualResult(
        stack=run.fleet.stack,
        seconds=round(end, _DIGITS),
        models=tuple(_model(endpoint, names[endpoint.title]) for endpoint in served),
        workloads=tuple(_workload(workload, end) for workload in run.workloads.values()),
        groups=tuple(_groups(run)),
        ttft=spread(value for endpoint in served for value in endpoint.figures.first),
        itl=spread(value for endpoint in served for value in endpoint.figures.between if value >= 0),
        step=step,
        intervals=tuple(_intervals(run, served, end, step)),
        refused=dict(run.fleet.refused),
        notes=run.fleet.notes,
    )


def _model(endpoint: RoutedEndpoint, model: str) -> ModelResult:
    figures = endpoint.figures
    workloads = [workload for _, workload in endpoint.weights]
    return ModelResult(
        name=endpoint.title,
        model=model,
        requests=len(figures.sent) + figures.lost.total(),
        answered=len(figures.sent),
        lost={cause: figures.lost[cause] for cause in LOST if figures.lost[cause]},
        ttft=spread(figures.first),
        itl=spread(value for value in figures.between if value >= 0),
        took=spread(figures.took),
        input_tokens=figures.prompt_tokens,
        output_tokens=figures.output_tokens,
        workloads=tuple(workload.key for workload in workloads),
        pace=tuple(
            sorted(
                {
                    pace.source.value
                    for workload in workloads
                    for name, pace in workload.facts.served.paces.items()
                    if name
                }
            )
        ),
    )


def _workload(workload: RunningWorkload, end: float) -> WorkloadResult:
    changes = workload.changes
    ends = [*(at for at, _, _ in changes[1:]), end]
    total = math.fsum(replicas * max(until - at, 0.0) for (at, replicas, _), until in zip(changes, ends, strict=True))
    hours = workload.seconds / _HOUR
    return WorkloadResult(
        name=workload.key,
        start=workload.facts.replicas,
        least=min((replicas for _, replicas, _ in changes), default=0),
        most=max((replicas for _, replicas, _ in changes), default=0),
        mean=total / end if end else float(workload.facts.replicas),
        most_ready=max((ready for _, _, ready in changes), default=0),
        replica_hours=hours,
        gpu_hours=hours * workload.facts.accelerators,
        scaled=workload.facts.scaler is not None,
        changes=tuple(changes),
    )


def _groups(run: VirtualRun) -> Iterator[GroupResult]:
    for group in run.fleet.groups:
        hours = run.pool.paid[group.name] / _HOUR
        yield GroupResult(
            name=group.name,
            instance_type=group.instance_type,
            most=max((number for _, name, number in run.pool.counts if name == group.name), default=0),
            node_hours=hours,
            gpu_hours=hours * group.accelerators,
            usd=None if group.usd_per_hour is None else hours * group.usd_per_hour,
            price_source=group.price_source,
        )


def _intervals(run: VirtualRun, served: Sequence[RoutedEndpoint], end: float, step: float) -> Iterator[Interval]:
    count = max(math.ceil(end / step), 1)

    def index(at: float) -> int:
        return min(int(at // step), count - 1)

    firsts: list[list[float]] = [[] for _ in range(count)]
    betweens: list[list[float]] = [[] for _ in range(count)]
    lost = [0] * count
    for endpoint in served:
        figures = endpoint.figures
        for at, first, between in zip(figures.sent, figures.first, figures.between, strict=True):
            place = index(at)
            firsts[place].append(first)
            if between >= 0:
                betweens[place].append(between)
        for at in figures.lost_at:
            lost[index(at)] += 1
    workloads = {workload.key: workload for endpoint in served for _, workload in endpoint.weights}
    nodes = _Steps(run.pool.counts)
    replicas = _Steps((at, w.key, number) for w in workloads.values() for at, number, _ in w.changes)
    ready = _Steps((at, w.key, number) for w in workloads.values() for at, _, number in w.changes)
    for number in range(count):
        until = min((number + 1) * step, end)
        ttft, itl = spread(firsts[number]), spread(betweens[number])
        yield Interval(
            start=number * step,
            sent=(len(firsts[number]) + lost[number]) / step,
            lost=lost[number] / step,
            ttft_p50=ttft.p50,
            ttft_p99=ttft.p99,
            itl_p99=itl.p99,
            replicas=replicas.until(until),
            ready=ready.until(until),
            nodes=nodes.until(until),
        )


class _Steps:
    """The sum of numbers that change over time; ``until`` must not decrease."""

    def __init__(self, changes: Iterable[tuple[float, str, int]]) -> None:
        self._changes = sorted(changes, key=lambda change: change[0])
        self._next, self._numbers = 0, dict[str, int]()

    def until(self, time: float) -> int:
        while self._next < len(self._changes) and self._changes[self._next][0] <= time:
            _, name, number = self._changes[self._next]
            self._numbers[name] = number
            self._next += 1
        return sum(self._numbers.values())
