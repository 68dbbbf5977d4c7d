"""Linear regression of latency on concurrency, with confidence intervals from Student's t distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import WorkbenchError
from .measurements import Measurement

CONFIDENCE = 0.95
_PARAMETERS = 2
_PARABOLA_PARAMETERS = 3


@dataclass(frozen=True, slots=True)
class FittedValue:
    """An estimate with its 95 % confidence interval; without bounds if two measurements determine the line."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def is_above_zero(self) -> bool:
        """Whether the confidence interval, or the value without one, is above 0."""
        return (self.value if self.low is None else self.low) > 0


@dataclass(frozen=True, slots=True)
class LineFit:
    """``alpha + beta * n`` milliseconds per token at n concurrent requests (WVA spec 8.2).

    Attributes:
        measurements: Sorted by concurrency.
        weighted: Whether measurements are weighted by their standard errors.
        residual_ms: Residual standard deviation; None with two measurements.
        r_squared: Coefficient of determination.
        middle: Weighted mean concurrency.
        spread: Weighted sum of squared deviations from ``middle``.
        bend_ms: Largest distance between the line and a parabola through the same measurements, if the parabola fits
            significantly better, else 0. Positive if latency grows faster at the end.
    """

    measurements: tuple[Measurement, ...]
    alpha: FittedValue
    beta: FittedValue
    weighted: bool
    residual_ms: float | None
    r_squared: float
    middle: float
    spread: float
    bend_ms: float

    def at(self, concurrency: float) -> float:
        """Return the latency on the line."""
        return self.alpha.value + self.beta.value * concurrency

    def value_at(self, concurrency: float) -> FittedValue:
        """Return the latency on the line, with the confidence interval of the mean of many runs."""
        distance = (concurrency - self.middle) ** 2 / self.spread
        free = len(self.measurements) - _PARAMETERS
        variance = None if self.residual_ms is None else self.residual_ms**2
        return _bounded(self.at(concurrency), variance, 1 / len(self.measurements) + distance, free)


def fit(measurements: Sequence[Measurement]) -> LineFit:
    """Fit a line to measurements at two or more concurrencies.

    Measurements have equal weights, unless all have a standard error: then its inverse square. The size of the errors
    is always estimated from the residuals, so that the intervals describe repeated runs and not tokens within a run.
    """
    ordered = tuple(sorted(measurements, key=lambda run: (run.concurrency, run.itl_ms, run.place)))
    weights, weighted = _weights(ordered)
    x, y = [run.concurrency for run in ordered], [run.itl_ms for run in ordered]
    line = _Line(x, y, weights)
    free = len(ordered) - _PARAMETERS
    residuals = math.fsum(w * r * r for w, r in zip(weights, line.residuals, strict=True))
    spread = math.fsum(w * (b - line.mean_y) ** 2 for w, b in zip(weights, y, strict=True))
    variance = residuals / free if free else None
    return LineFit(
        measurements=ordered,
        alpha=_bounded(line.intercept, variance, 1 / line.total + line.mean_x**2 / line.spread_x, free),
        beta=_bounded(line.slope, variance, 1 / line.spread_x, free),
        weighted=weighted,
        residual_ms=None if variance is None else math.sqrt(variance),
        r_squared=1 - residuals / spread if spread else 1.0,
        middle=line.mean_x,
        spread=line.spread_x,
        bend_ms=_curvature(x, line, weights, residuals),
    )


class _Line:
    """A weighted least-squares line, computed around the means to avoid cancellation."""

    def __init__(self, x: Sequence[float], y: Sequence[float], weights: Sequence[float]) -> None:
        self.total = math.fsum(weights)
        self.mean_x = math.fsum(w * a for w, a in zip(weights, x, strict=True)) / self.total
        self.mean_y = math.fsum(w * b for w, b in zip(weights, y, strict=True)) / self.total
        points = list(zip(weights, x, y, strict=True))
        self.spread_x = math.fsum(w * (a - self.mean_x) ** 2 for w, a, _ in points)
        self.slope = math.fsum(w * (a - self.mean_x) * (b - self.mean_y) for w, a, b in points) / self.spread_x
        self.intercept = self.mean_y - self.slope * self.mean_x
        self.residuals = [b - self.mean_y - self.slope * (a - self.mean_x) for _, a, b in points]


def _weights(measurements: Sequence[Measurement]) -> tuple[list[float], bool]:
    """Return weights with a mean of 1, and whether they come from standard errors."""
    errors = [run.error_ms for run in measurements if run.error_ms]
    if len(errors) < len(measurements):
        return [1.0] * len(measurements), False
    least = min(errors)
    relative = [(least / error) ** 2 for error in errors]
    mean = math.fsum(relative) / len(relative)
    return [weight / mean for weight in relative], True


def _bounded(value: float, variance: float | None, times: float, free: int) -> FittedValue:
    if variance is None:
        return FittedValue(value)
    margin = _quantile(free) * math.sqrt(variance * times)
    return FittedValue(value, value - margin, value + margin)


def _quantile(free: int) -> float:
    """Return the quantile of Student's t distribution for the confidence level."""
    try:
        from scipy.special import stdtrit
    except ModuleNotFoundError as error:
        raise WorkbenchError(f"fit-profile needs {error.name}: pip install 'inference-platform[fit]'") from None
    return float(stdtrit(free, (1 + CONFIDENCE) / 2))


def _curvature(x: Sequence[float], line: _Line, weights: Sequence[float], residuals: float) -> float:
    """Return the largest distance between line and parabola, if the parabola fits significantly better, else 0."""
    free = len(x) - _PARABOLA_PARAMETERS
    if free < 1:
        return 0.0
    squares = _Line(x, [a * a for a in x], weights).residuals  # the part of n**2 orthogonal to the line
    size = math.fsum(w * square * square for w, square in zip(weights, squares, strict=True))
    if len(set(x)) < _PARABOLA_PARAMETERS or not size:
        return 0.0
    curvature = math.fsum(w * a * b for w, a, b in zip(weights, squares, line.residuals, strict=True)) / size
    left = max(residuals - curvature**2 * size, 0.0)
    if abs(curvature) * math.sqrt(size) <= _quantile(free) * math.sqrt(left / free):
        return 0.0
    return math.copysign(max(abs(curvature * square) for square in squares), curvature)
