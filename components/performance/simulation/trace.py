"""A trace: what the pods of each target reported, and how many of them were ready, at which time."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

INTERVAL = 15_000
"""Milliseconds between two passes of an autoscaler.

That of kube-controller-manager is 15 s by default (``--horizontal-pod-autoscaler-sync-period``); others follow it.
"""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Cumulative counts by upper bound, as a process counts from its start; the last bound is infinite."""

    bounds: tuple[Decimal, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reported:
    """What one pod reported of a metric.

    Attributes:
        started: When the pod started, as the trace writes it; empty where it does not say.
    """

    value: Decimal | Histogram
    started: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a target reported at one time.

    Attributes:
        metrics: By metric and pod, what was reported; a value for all pods together has no pod's name.
        ready: Pods that were ready; None where all are that an autoscaler has set and that do not fail or start.
        failed: Pods that failed, were going, or had restarted.
        starting: Pods that were not ready yet.
    """

    metrics: Mapping[str, Mapping[str, Reported]] = field(default_factory=dict)
    ready: int | None = None
    failed: int = 0
    starting: int = 0


Series = Sequence[tuple[int, Sample]]
"""Samples of one target with their times in milliseconds, in order."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Samples of each target."""

    targets: Mapping[str, Series]

    @property
    def times(self) -> list[int]:
        """Every time that is in it, in order."""
        return sorted({time for series in self.targets.values() for time, _ in series})

    def ticks(self, every: int | None = None) -> Iterator["Tick"]:
        """Yield what each target reported last, at each time of the trace or in even steps.

        Args:
            every: Milliseconds between two ticks; None for the times of the trace.
        """
        times = self.times
        starts = {target: [time for time, _ in series] for target, series in self.targets.items()}
        for now in times if every is None or not times else range(times[0], times[-1] + 1, every):
            places = {target: bisect_right(known, now) for target, known in starts.items()}
            yield Tick(now, {t: self.targets[t][place - 1][1] for t, place in places.items() if place})


@dataclass(frozen=True, slots=True)
class Tick:
    """The newest sample of each target at one time in milliseconds."""

    time: int
    samples: Mapping[str, Sample]


@dataclass(frozen=True, slots=True)
class PodCounts:
    """Pods of a target at one time."""

    ready: int
    failed: int
    starting: int

    @property
    def count(self) -> int:
        """How many there are."""
        return self.ready + self.failed + self.starting


@dataclass(frozen=True, slots=True)
class TargetReading:
    """A sample whose metrics are numbers: those of all pods together.

    Attributes:
        values: By metric; empty where no pod answered.
    """

    values: Mapping[str, Fraction] = field(default_factory=dict)
    ready: int | None = None
    failed: int = 0
    starting: int = 0

    def pods(self, replicas: int) -> PodCounts:
        """Return the pods that there are where an autoscaler has set some replicas."""
        ready = max(replicas - self.failed - self.starting, 0) if self.ready is None else self.ready
        return PodCounts(ready, self.failed, self.starting)


@dataclass(frozen=True, slots=True)
class Moment:
    """What autoscalers read at one time in milliseconds, by target; a target that has not reported yet is missing."""

    time: int
    readings: Mapping[str, TargetReading]

    def reading(self, target: str) -> TargetReading:
        """Return what a target reported; nothing where it has not yet."""
        return self.readings.get(target, TargetReading())
