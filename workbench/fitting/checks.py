"""Checks of measurements and of the fitted line: errors for unusable ones, warnings for weak ones."""

import itertools
from collections.abc import Iterator, Sequence

from ..errors import WorkbenchError
from .line import LineFit, fit
from .measurements import Measurement

_MIN_SPAN = 2.0
"""Minimum ratio of the largest to the smallest concurrency."""
_BATCH_TOLERANCE = 1.05
"""Measured concurrencies are means: slightly more than the batch does not yet mean that requests waited."""
_NOTABLE = 0.01
"""Bends below this share of the latency are ignored."""
_STRAIGHT = 0.02
"""Maximum relative distance from the line of measurements that count as straight."""
_DECREASE = 0.02
"""Decreases of the latency below this share are ignored."""
_POOR = 0.05
"""Relative distance from the line that is worth a warning."""
_EXTRAPOLATION = 1.25
"""Ratio of the batch to the highest measured concurrency that is worth a warning."""
_MIN_POINTS = 3
_MAX_MEASUREMENTS = 10_000
_MAX_RANGES = 64
_MAX_ERROR_RATIO = 1000
"""Maximum ratio of two standard errors: beyond it, a single measurement would decide the fit."""


def usable(measurements: Sequence[Measurement], *, up_to: float | None, batch: int | None) -> list[Measurement]:
    """Return the measurements to fit: those up to ``up_to`` and up to the batch of the engine."""
    highest = min(up_to or float("inf"), _BATCH_TOLERANCE * batch if batch else float("inf"))
    return [measurement for measurement in measurements if measurement.concurrency <= highest]


def check_enough(measurements: Sequence[Measurement], left_out: int) -> None:
    """Reject measurements that do not determine a line.

    Raises:
        WorkbenchError: the message says what to measure.
    """
    omitted = f" ({left_out} above --up-to or --batch left out)" if left_out else ""
    if not measurements:
        raise WorkbenchError(f"no measurements{omitted}; run the benchmark at concurrency 1 and at the largest batch")
    if len(measurements) > _MAX_MEASUREMENTS:
        raise WorkbenchError(
            f"{len(measurements)} measurements exceed the limit of {_MAX_MEASUREMENTS}; pass one for each run"
        )
    errors = [measurement.error_ms for measurement in measurements if measurement.error_ms]
    if errors and max(errors) > _MAX_ERROR_RATIO * min(errors):
        raise WorkbenchError(
            f"standard errors (stddev / sqrt(samples)) range from {min(errors):.3g} to {max(errors):.3g} ms, so some "
            "measurements would have no weight; correct them, or omit stddev"
        )
    least = min(measurement.concurrency for measurement in measurements)
    most = max(measurement.concurrency for measurement in measurements)
    if most < _MIN_SPAN * least:
        span = f"all at {least:g}" if least == most else f"from {least:g} to {most:g}"
        missing = "1" if least >= _MIN_SPAN else "the largest batch (max-num-seqs)"
        raise WorkbenchError(
            f"the concurrencies are too close together, {span}{omitted}: a line needs two that are far apart; also "
            f"run the benchmark at {missing}"
        )


def check_fit(line: LineFit) -> None:
    """Reject a line without physical meaning: alpha and beta must be above 0.

    Raises:
        WorkbenchError: the message says what to measure.
    """
    alpha, beta = line.alpha, line.beta
    if beta.value <= 0:
        raise WorkbenchError(
            f"beta is {beta.value:.4g} ms, and must be above 0: the latency does not grow with the concurrency; "
            f"{_range_advice(line) or 'check that requests ran concurrently, and measure at higher concurrencies'}"
        )
    if not beta.is_above_zero:
        raise WorkbenchError(
            f"beta is {beta.value:.4g} ms, with a 95 % confidence interval from {beta.low:.4g} to {beta.high:.4g}, "
            "which is not distinguishable from 0; "
            f"{_range_advice(line) or 'measure at more and higher concurrencies, each for longer'}"
        )
    if alpha.value <= 0:
        raise WorkbenchError(
            f"alpha is {alpha.value:.4g} ms, and must be above 0: the latency grows more than proportionally to the "
            "concurrency; measure at concurrency 1, and use --up-to to leave out measurements beyond saturation"
        )


def warnings(line: LineFit, batch: int) -> Iterator[str]:
    """Yield warnings about a fit that is usable."""
    measured = line.measurements
    distinct = sorted({measurement.concurrency for measurement in measured})
    if len(measured) == len(distinct) == _MIN_POINTS - 1:
        yield (
            "only two measurements: the line goes through both, and its error is unknown; measure at a few "
            "concurrencies in between"
        )
    elif len(distinct) < _MIN_POINTS:
        yield "only two concurrencies: whether a line fits in between is unknown; measure there as well"
    if line.alpha.value > 0 and not line.alpha.is_above_zero:
        yield (
            f"the confidence interval of alpha, {line.alpha.low:.4g} to {line.alpha.high:.4g} ms, includes 0; "
            "measure at concurrency 1 several times"
        )
    yield from _curvature_warnings(line)
    means = [
        (concurrency, sum(run.itl_ms for run in group) / len(group))
        for concurrency, runs in itertools.groupby(measured, key=lambda run: run.concurrency)
        if (group := list(runs))
    ]
    falls = [(lower / higher, before, after) for (before, higher), (after, lower) in itertools.pairwise(means)]
    share, before, after = min(falls, default=(1.0, 0.0, 0.0))
    if share < 1 - _DECREASE:
        yield f"latency falls by {1 - share:.0%} from concurrency {before:.4g} to {after:.4g}; measure both again"
    equal = [
        (first, second)
        for first, second in itertools.pairwise(measured)
        if (first.concurrency, first.itl_ms) == (second.concurrency, second.itl_ms)
    ]
    if equal:
        first, second = equal[0]
        further = f", and {len(equal) - 1} more" if len(equal) > 1 else ""
        yield (
            f"{first.place} and {second.place} are equal{further}; if one is a copy, remove it: copies make the fit "
            "look more certain than it is"
        )
    if any(measurement.error_ms for measurement in measured) and not line.weighted:
        yield "some rows have no stddev, so all rows have the same weight"
    if batch > _EXTRAPOLATION * distinct[-1]:
        yield (
            f"the batch of {batch} is above the highest measured concurrency of {distinct[-1]:.4g}; measure there as "
            "well"
        )


def _curvature_warnings(line: LineFit) -> Iterator[str]:
    latest = line.at(line.measurements[-1].concurrency)
    worst = max(line.measurements, key=lambda measurement: _deviation(line, measurement))
    if abs(line.bend_ms) > _NOTABLE * latest:
        shape = "faster" if line.bend_ms > 0 else "more slowly"
        deviation = f"latency grows {shape} at the end than at the beginning, by {abs(line.bend_ms):.3g} ms"
        advice = "measure at lower concurrencies, and use --up-to"
    elif _deviation(line, worst) > _POOR:
        deviation = f"the line is {_deviation(line, worst):.0%} off at a concurrency of {worst.concurrency:.4g}"
        advice = "measure each concurrency for longer, with no other load on the engine"
    else:
        return
    yield f"the measurements are not on a line: {deviation}; {_range_advice(line) or advice}"


def _range_advice(line: LineFit) -> str:
    highest = straight_up_to(line.measurements)
    return f"the engine may be saturated above {highest:.6g}: try --up-to {highest:.6g}" if highest else ""


def _deviation(line: LineFit, measurement: Measurement) -> float:
    """Return the relative distance of a measurement from the line."""
    return abs(measurement.itl_ms / line.at(measurement.concurrency) - 1)


def straight_up_to(measurements: Sequence[Measurement]) -> float | None:
    """Return the highest concurrency up to which at least three measurements are on a line; None without one."""
    distinct = sorted({measurement.concurrency for measurement in measurements})
    candidates = distinct[_MIN_POINTS - 1 : -1]
    for highest in reversed(candidates[:: len(candidates) // _MAX_RANGES + 1]):
        line = fit([measurement for measurement in measurements if measurement.concurrency <= highest])
        if line.alpha.value <= 0 or line.beta.value <= 0 or abs(line.bend_ms) > _NOTABLE * line.at(highest):
            continue
        if max(_deviation(line, measurement) for measurement in line.measurements) <= _STRAIGHT:
            return highest
    return None
