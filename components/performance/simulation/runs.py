"""What an autoscaler did on a trace, and what that is measured by."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .trace import INTERVAL, Moment

_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class Pass:
    """What an autoscaler did at one time.

    Attributes:
        time: In milliseconds.
        replicas: By target, what it set.
        wanted: Replicas of all targets that its metrics asked for, before limits; None where they said nothing.
        note: What is special about it, such as that a pod has failed; otherwise empty.
    """

    time: int
    replicas: Mapping[str, int]
    wanted: int | None
    note: str = ""

    @property
    def total(self) -> int:
        """Replicas of all targets."""
        return sum(self.replicas.values())

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "time": self.time / 1000,
            "replicas": dict(self.replicas),
            "total": self.total,
            "wanted": self.wanted,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class ScalingRun:
    """What one autoscaler did, pass by pass.

    Attributes:
        scaler: What it is called.
        start: By target, the replicas before the first pass.
    """

    scaler: str
    start: Mapping[str, int]
    passes: Sequence[Pass]

    @property
    def changes(self) -> int:
        """How often it changed the replicas of a target."""
        before, changes = dict(self.start), 0
        for each in self.passes:
            changes += sum(before[target] != replicas for target, replicas in each.replicas.items())
            before |= each.replicas
        return changes

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {"scaler": self.scaler, "passes": [each.as_dict() for each in self.passes]}


@dataclass(frozen=True, slots=True)
class Measures:
    """What a run comes to.

    Attributes:
        hours: By target, replicas times the hours that there were so many.
        usd: By target, what they cost; None where a replica has no known price.
        above: Seconds in which some metric was above its target for each replica.
        peak: The most replicas of all targets at one time.
    """

    hours: Mapping[str, Decimal]
    usd: Mapping[str, Decimal | None]
    above: Decimal
    changes: int
    peak: int

    @property
    def total_hours(self) -> Decimal:
        """Replica-hours of all targets."""
        return sum(self.hours.values(), Decimal(0))

    @property
    def total_usd(self) -> Decimal | None:
        """Cost of all targets; None where the price of one is unknown."""
        known = [usd for usd in self.usd.values() if usd is not None]
        return sum(known, Decimal(0)) if len(known) == len(self.usd) else None

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain JSON."""
        return {
            "replicaHours": float(self.total_hours),
            "replicaHoursByTarget": {target: float(hours) for target, hours in self.hours.items()},
            "usd": None if self.total_usd is None else float(self.total_usd),
            "usdByTarget": {target: None if usd is None else float(usd) for target, usd in self.usd.items()},
            "secondsAboveTarget": float(self.above),
            "changes": self.changes,
            "peakReplicas": self.peak,
        }


def measure(
    run: ScalingRun,
    moments: Sequence[Moment],
    metrics: Mapping[str, Fraction],
    prices: Mapping[str, Decimal],
) -> Measures:
    """Return what a run comes to.

    What a pass sets holds until the next one; after the last one, as long as between the two before.

    Args:
        run: What an autoscaler did at each of the moments.
        moments: What it read.
        metrics: By metric, its target for one replica.
        prices: By target, what a replica costs an hour in US dollars.
    """
    spans = list(_spans([moment.time for moment in moments]))
    hours = {target: _hours(target, run.passes, spans) for target in run.start}
    above = sum(
        span
        for each, moment, span in zip(run.passes, moments, spans, strict=True)
        if _is_above(each.total, moment, metrics)
    )
    return Measures(
        hours={target: _rounded(value) for target, value in hours.items()},
        usd={
            target: _rounded(value * Fraction(prices[target])) if target in prices else None
            for target, value in hours.items()
        },
        above=_rounded(Fraction(above, 1000)),
        changes=run.changes,
        peak=max((each.total for each in run.passes), default=sum(run.start.values())),
    )


def _spans(times: Sequence[int]) -> Iterator[int]:
    yield from (after - before for before, after in itertools.pairwise(times))
    if times:
        yield times[-1] - times[-2] if len(times) > 1 else INTERVAL


def _hours(target: str, passes: Sequence[Pass], spans: Sequence[int]) -> Fraction:
    return Fraction(sum(each.replicas[target] * span for each, span in zip(passes, spans, strict=True)), _HOUR)


def _is_above(replicas: int, moment: Moment, metrics: Mapping[str, Fraction]) -> bool:
    """Tell whether the pods report more of some metric than all replicas together should have."""
    return any(
        sum(reading.values.get(metric, Fraction(0)) for reading in moment.readings.values()) > target * replicas
        for metric, target in metrics.items()
    )


def _rounded(number: Fraction) -> Decimal:
    """Return a number to six digits behind the point, the same on every machine."""
    return Decimal(round(number * 10**6)).scaleb(-6)
