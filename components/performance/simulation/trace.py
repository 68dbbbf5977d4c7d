"""Traces: metrics and pod counts of each target over time."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

INTERVAL = 15_000
"""Milliseconds between two passes of an autoscaler: the default of kube-controller-manager, 15 s
(``--horizontal-pod-autoscaler-sync-period``), which other controllers copy.
"""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Cumulative counts by upper bound since the start of a process; the last bound is infinite."""

    bounds: tuple[Decimal, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reported:
    """A metric value of one pod.

    Attributes:
        started: Start of the pod, as the trace spells it; empty if unspecified.
    """

    value: Decimal | Histogram
    started: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Metrics and pod counts of a target at one time.

    Attributes:
        metrics: Values by metric and pod; a value for all pods together has an empty pod name.
        ready: Ready pods; None for all replicas that are neither failed nor starting.
        failed: Pods that failed, terminated, or restarted.
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
        """All times of the trace, in order."""
        return sorted({time for series in self.targets.values() for time, _ in series})

    def ticks(self, every: int | None = None) -> Iterator["Tick"]:
        """Yield the latest sample of each target, at each time of the trace or at regular intervals.

        Args:
            every: Interval in milliseconds; None for the times of the trace.
        """
        times: Sequence[int] = self.times
        starts = {target: [time for time, _ in series] for target, series in self.targets.items()}
        if every is not None and times:
            times = range(times[0], times[-1] + 1, every)
        for now in times:
            samples: dict[str, Sample] = {}
            for target, known in starts.items():
                # The number of samples until now; a target without one has not started yet.
                count = bisect_right(known, now)
                if count:
                    _, samples[target] = self.targets[target][count - 1]
            yield Tick(now, samples)


@dataclass(frozen=True, slots=True)
class Tick:
    """The latest sample of each target at a time in milliseconds."""

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
        """Total number of pods."""
        return self.ready + self.failed + self.starting


@dataclass(frozen=True, slots=True)
class TargetReading:
    """A sample with metrics aggregated over all pods.

    Attributes:
        values: Values by metric; empty if no pod responded.
        silent: Running pods without metrics, such as those whose engine starts; not part of ``ready``.
    """

    values: Mapping[str, Fraction] = field(default_factory=dict)
    ready: int | None = None
    failed: int = 0
    starting: int = 0
    silent: int = 0

    def pods(self, replicas: int) -> PodCounts:
        """Return the pod counts for a number of replicas."""
        ready = max(replicas - self.failed - self.starting, 0) if self.ready is None else self.ready
        return PodCounts(ready, self.failed, self.starting)


@dataclass(frozen=True, slots=True)
class Moment:
    """Readings by target at a time in milliseconds; targets without a sample so far are missing."""

    time: int
    readings: Mapping[str, TargetReading]

    def reading(self, target: str) -> TargetReading:
        """Return the reading of a target; empty if it has none yet."""
        return self.readings.get(target, TargetReading())
