"""What measurements cannot tell is refused, and what they tell badly is said."""

import itertools
from collections.abc import Iterator, Sequence

from ..errors import WorkbenchError
from .line import LineFit, fit
from .measurements import Measurement

_APART = 2.0
"""Times that the largest concurrency is at least the smallest."""
_BESIDE = 1.05
"""Times a batch that a concurrency may be without requests waiting: means of runs are not exact."""
_NOTABLE = 0.01
"""Of the latency: what is less is of no use to anybody."""
_NEAR = 0.02
_FALLS = 0.02
_POOR = 0.05
_BEYOND = 1.25
_FEWEST = 3
_MOST = 10_000
_MOST_RANGES = 64
_MOST_APART = 1000
"""Times that a standard error may be another one: beyond, one measurement would be all that counts."""


def usable(measurements: Sequence[Measurement], *, up_to: float | None, batch: int | None) -> list[Measurement]:
    """Return the measurements to fit: none above a concurrency, nor above what the engine works on at once."""
    highest = min(up_to or float("inf"), _BESIDE * batch if batch else float("inf"))
    return [each for each in measurements if each.concurrency <= highest]


def check_enough(measurements: Sequence[Measurement], left_out: int) -> None:
    """Refuse measurements through which there is no line.

    Raises:
        WorkbenchError: it says what to measure.
    """
    beside = f" ({left_out} above --up-to or --batch left out)" if left_out else ""
    if not measurements:
        raise WorkbenchError(f"no measurements{beside}; run the benchmark at concurrency 1 and at the largest batch")
    if len(measurements) > _MOST:
        raise WorkbenchError(f"{len(measurements)} measurements are more than {_MOST}; one for each run is enough")
    errors = [each.error_ms for each in measurements if each.error_ms]
    if errors and max(errors) > _MOST_APART * min(errors):
        raise WorkbenchError(
            f"standard errors (stddev / sqrt(samples)) are from {min(errors):.3g} to {max(errors):.3g} ms: some "
            "measurements would not count at all; correct them, or leave stddev out"
        )
    least = min(each.concurrency for each in measurements)
    most = max(each.concurrency for each in measurements)
    if most < _APART * least:
        found = f"all at {least:g}" if least == most else f"from {least:g} to {most:g}"
        missing = "1" if least >= _APART else "the largest batch (max-num-seqs)"
        raise WorkbenchError(
            f"measurements at one concurrency, {found}{beside}: a line needs two that are far apart; run the "
            f"benchmark at {missing} as well"
        )


def check_fit(line: LineFit) -> None:
    """Refuse a line that is none of a model: a token takes time, and more of it with more requests at once.

    Raises:
        WorkbenchError: it says what was found and what to measure.
    """
    alpha, beta = line.alpha, line.beta
    if beta.value <= 0:
        raise WorkbenchError(
            f"beta is {beta.value:.4g} ms, and must be above 0: the latency does not grow with the concurrency; "
            f"{_range_advice(line) or 'check that requests ran at once, and measure at higher concurrencies'}"
        )
    if not beta.is_above_zero:
        raise WorkbenchError(
            f"beta is {beta.value:.4g} ms, with 95 % confidence from {beta.low:.4g} to {beta.high:.4g}: the "
            "measurements do not tell it from 0; "
            f"{_range_advice(line) or 'measure at more and higher concurrencies, each for longer'}"
        )
    if alpha.value <= 0:
        raise WorkbenchError(
            f"alpha is {alpha.value:.4g} ms, and must be above 0: the latency grows faster than in proportion to the "
            "concurrency; measure at concurrency 1, and use --up-to to leave out what is beyond saturation"
        )


def warnings(line: LineFit, batch: int) -> Iterator[str]:
    """Yield what somebody who uses a fit should know."""
    measured = line.measurements
    distinct = sorted({each.concurrency for each in measured})
    if len(measured) == len(distinct) == _FEWEST - 1:
        yield (
            "two measurements: the line goes through both, and nothing tells how far it is from the truth; measure "
            "at a few concurrencies in between"
        )
    elif len(distinct) < _FEWEST:
        yield "two concurrencies: nothing tells whether a line fits in between; measure there as well"
    if line.alpha.value > 0 and not line.alpha.is_above_zero:
        yield (
            f"alpha may be anything from {line.alpha.low:.4g} to {line.alpha.high:.4g} ms; measure at concurrency 1, "
            "several times"
        )
    yield from _bent(line)
    yield from _falling(measured)
    yield from _repeated(measured)
    if any(each.error_ms for each in measured) and not line.weighted:
        yield "not every row has a stddev: all count alike"
    if batch > _BEYOND * distinct[-1]:
        yield (
            f"the batch of {batch} is beyond what was measured, up to {distinct[-1]:.4g} requests at once; measure "
            "there as well"
        )


def _bent(line: LineFit) -> Iterator[str]:
    latest = line.at(line.measurements[-1].concurrency)
    worst = max(line.measurements, key=lambda each: _off(line, each))
    if abs(line.bend_ms) > _NOTABLE * latest:
        shape = "faster" if line.bend_ms > 0 else "more slowly"
        found = f"latency grows {shape} at the end than at the beginning, by {abs(line.bend_ms):.3g} ms"
        advice = "measure at smaller concurrencies, and use --up-to"
    elif _off(line, worst) > _POOR:
        found = f"the line is {_off(line, worst):.0%} off at a concurrency of {worst.concurrency:.4g}"
        advice = "measure each for longer, with nothing else on the engine"
    else:
        return
    yield f"no line: {found}; {_range_advice(line) or advice}"


def _range_advice(line: LineFit) -> str:
    highest = straight_up_to(line.measurements)
    return f"perhaps the engine is saturated above {highest:.6g}: try --up-to {highest:.6g}" if highest else ""


def _off(line: LineFit, measurement: Measurement) -> float:
    """Return how far a measurement is from the line, as a share of it."""
    return abs(measurement.itl_ms / line.at(measurement.concurrency) - 1)


def straight_up_to(measurements: Sequence[Measurement]) -> float | None:
    """Return the highest concurrency up to which three or more are on a line; None if even the first are not."""
    distinct = sorted({each.concurrency for each in measurements})
    candidates = distinct[_FEWEST - 1 : -1]
    for highest in reversed(candidates[:: len(candidates) // _MOST_RANGES + 1]):
        line = fit([each for each in measurements if each.concurrency <= highest])
        if line.alpha.value <= 0 or line.beta.value <= 0 or abs(line.bend_ms) > _NOTABLE * line.at(highest):
            continue
        if max(_off(line, each) for each in line.measurements) <= _NEAR:
            return highest
    return None


def _falling(measured: Sequence[Measurement]) -> Iterator[str]:
    means = [
        (concurrency, sum(each.itl_ms for each in group) / len(group))
        for concurrency, found in itertools.groupby(measured, key=lambda each: each.concurrency)
        if (group := list(found))
    ]
    falls = [(lower / higher, before, after) for (before, higher), (after, lower) in itertools.pairwise(means)]
    share, before, after = min(falls, default=(1.0, 0.0, 0.0))
    if share < 1 - _FALLS:
        yield f"latency falls by {1 - share:.0%} from concurrency {before:.4g} to {after:.4g}; measure both again"


def _repeated(measured: Sequence[Measurement]) -> Iterator[str]:
    equal = [
        (one, other)
        for one, other in itertools.pairwise(measured)
        if (one.concurrency, one.itl_ms) == (other.concurrency, other.itl_ms)
    ]
    if equal:
        one, other = equal[0]
        further = f", and {len(equal) - 1} more" if len(equal) > 1 else ""
        yield (
            f"{one.place} and {other.place} are equal{further}; if one is a copy, remove it: copies feign certainty"
        )
