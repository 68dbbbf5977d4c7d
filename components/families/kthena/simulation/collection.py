"""Collects the metrics of pods as the autoscaler does (Kthena spec 4.2)."""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from ....performance.simulation.trace import Histogram, Moment, Reported, Sample, TargetReading, Trace
from .settings import Defects, Number

_MIN_AGE, _MAX_AGE = 60_000, 300_000
"""Milliseconds; histograms of this age are compared with the current ones."""
_PERCENTILE = 95


def moments(trace: Trace, metrics: Iterable[str], defects: Defects, every: int | None = None) -> tuple[Moment, ...]:
    """Return the sums of metrics over the pods of each target, for each pass of a trace."""
    watched = tuple(metrics)
    collectors: dict[str, Collector] = {}
    readings_by_time = []
    for tick in trace.ticks(every):
        readings = {
            target: collectors.setdefault(target, Collector(watched, defects)).read(tick.time, sample)
            for target, sample in tick.samples.items()
        }
        readings_by_time.append(Moment(tick.time, readings))
    return tuple(readings_by_time)


Snapshot = Mapping[tuple[str, str], tuple[str, Histogram]]
"""By metric and pod: when the pod started, and its histogram."""


class Collector:
    """Reads the metrics of one target, and keeps its histograms."""

    def __init__(self, metrics: Iterable[str], defects: Defects) -> None:
        self._metrics = tuple(metrics)
        self._float64 = defects.tolerance_of_one
        self._snapshots: deque[tuple[int, Snapshot]] = deque()

    def read(self, now: int, sample: Sample) -> TargetReading:
        """Return the sums over the pods of a sample; a metric that they do not report, unlike others, is 0."""
        past = self._past(now)
        reported = {metric: sample.metrics[metric] for metric in self._metrics if sample.metrics.get(metric)}
        values = {}
        if reported:
            for metric in self._metrics:
                values[metric] = self._sum(metric, reported.get(metric, {}), past)
        if not sample.failed and not sample.starting and sample.ready != 0:
            histograms = {
                (metric, pod): (item.started, item.value)
                for metric, pods in reported.items()
                for pod, item in pods.items()
                if isinstance(item.value, Histogram)
            }
            self._snapshots.append((now, histograms))
        return TargetReading(values, sample.ready, sample.failed, sample.starting)

    def _sum(self, metric: str, pods: Mapping[str, Reported], past: Snapshot) -> Fraction:
        total: Number = self._number(Decimal(0))
        for pod, reported in pods.items():
            if isinstance(reported.value, Histogram):
                started, before = past.get((metric, pod), ("", None))
                # A restarted process counts from its start. Percentiles of pods are added up, too.
                same = before if started == reported.started else None
                total += percentile_of_difference(reported.value, same, float64=self._float64) or 0
            else:
                total += self._number(reported.value)
        return Fraction(total)

    def _number(self, value: Decimal) -> Number:
        return float(value) if self._float64 else Fraction(value)

    def _past(self, now: int) -> Snapshot:
        """Return the newest histograms that are more than 60 and at most 300 seconds old."""
        while len(self._snapshots) > 1 and self._snapshots[1][0] + _MIN_AGE < now:
            self._snapshots.popleft()
        if not self._snapshots:
            return {}
        time, snapshot = self._snapshots[0]
        return snapshot if time + _MIN_AGE < now <= time + _MAX_AGE else {}


def percentile_of_difference(now: Histogram, past: Histogram | None, *, float64: bool) -> Number | None:
    """Return the 95th percentile of the values since a past histogram, or since the start of the process.

    None if the two have different buckets, or if counts decreased.
    """
    before = past.counts if past else (0,) * len(now.counts)
    if len(before) != len(now.counts):
        return None
    added = now.counts[-1] - before[-1]
    if added <= 0:
        return None if added else Fraction(0)
    rank = math.ceil(Fraction(added * _PERCENTILE, 100))
    low: Number = 0.0 if float64 else Fraction(0)
    below = 0
    for bound, count, earlier in zip(now.bounds, now.counts, before, strict=True):
        upto = count - earlier
        if upto < below:
            return None
        # The controller takes twice the previous bound for the last bucket, which has none.
        high = low * 2 if bound.is_infinite() else float(bound) if float64 else Fraction(bound)
        if upto > below and rank <= upto:
            # In this order of operations, like the controller: its float64 rounds after each of them.
            return high - (upto - rank) * (high - low) / (upto - below)
        low, below = high, upto
    return None
