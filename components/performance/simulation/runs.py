"""Simulated runs of an autoscaler, and their measures."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .trace import INTERVAL, Moment

_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of an autoscaler.

    Attributes:
        time: In milliseconds.
        replicas: Replicas that it set, by target.
        wanted: Total replicas that its metrics require, before limits; None without metrics.
        note: A special condition, such as a failed pod; otherwise empty.
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
        return {
            "time": self.time / 1000,
            "replicas": dict(self.replicas),
            "total": self.total,
            "wanted": self.wanted,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class ScalingRun:
    """All passes of one autoscaler.

    Attributes:
        scaler: Name of the autoscaler.
        start: Replicas before the first pass, by target.
    """

    scaler: str
    start: Mapping[str, int]
    passes: Sequence[Pass]

    @property
    def changes(self) -> int:
        """Number of changes of a target's replicas."""
        before, changes = dict(self.start), 0
        for step in self.passes:
            changes += sum(before[target] != replicas for target, replicas in step.replicas.items())
            before |= step.replicas
        return changes

    def as_dict(self) -> dict[str, Any]:
        return {"scaler": self.scaler, "passes": [step.as_dict() for step in self.passes]}


@dataclass(frozen=True, slots=True)
class Measures:
    """Measures of a run.

    Attributes:
        hours: Replica-hours by target.
        usd: Cost by target; None if the price of a replica is unknown.
        above: Seconds during which some metric exceeded its target.
        peak: Maximum total replicas.
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
        """Cost of all targets; None if one is unknown."""
        known = [usd for usd in self.usd.values() if usd is not None]
        return sum(known, Decimal(0)) if len(known) == len(self.usd) else None

    def as_dict(self) -> dict[str, Any]:
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
    """Return the measures of a run.

    A pass lasts until the next one; the last pass lasts as long as the one before it.

    Args:
        run: The passes of an autoscaler, one per moment.
        moments: Its readings.
        metrics: Target per replica, by metric.
        prices: Price of a replica by target, in US dollars per hour.
    """
    times = [moment.time for moment in moments]
    spans = [after - before for before, after in itertools.pairwise(times)]
    if times:
        spans.append(spans[-1] if spans else INTERVAL)
    hours = {
        target: Fraction(
            sum(step.replicas[target] * span for step, span in zip(run.passes, spans, strict=True)), _HOUR
        )
        for target in run.start
    }
    above = sum(
        span
        for step, moment, span in zip(run.passes, moments, spans, strict=True)
        if _is_above(step.total, moment, metrics)
    )
    return Measures(
        hours={target: _rounded(value) for target, value in hours.items()},
        usd={
            target: _rounded(value * Fraction(prices[target])) if target in prices else None
            for target, value in hours.items()
        },
        above=_rounded(Fraction(above, 1000)),
        changes=run.changes,
        peak=max((step.total for step in run.passes), default=sum(run.start.values())),
    )


def _is_above(replicas: int, moment: Moment, metrics: Mapping[str, Fraction]) -> bool:
    """Return whether some metric exceeds its target times the replicas."""
    return any(
        sum(reading.values.get(metric, Fraction(0)) for reading in moment.readings.values()) > target * replicas
        for metric, target in metrics.items()
    )


def _rounded(number: Fraction) -> Decimal:
    """Round to six decimals, equally on every machine."""
    return Decimal(round(number * 10**6)).scaleb(-6)
