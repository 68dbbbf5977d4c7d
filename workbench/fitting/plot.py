"""Plots of a fit: as text for a terminal, and as an SVG or PNG file."""

from collections.abc import Iterator
from pathlib import Path

from toolkit.plotting.pictures import finish, picture

from .line import LineFit

_HEIGHT = 10
_FROM_ZERO = 0.3
"""The axis starts at the lowest latency if that is more than this share of the highest, else at 0."""
_LINE, _MEASURED = "·", "●"
_PLAIN_LINE, _PLAIN_MEASURED = ".", "o"


def text_plot(fitted: LineFit, width: int, *, plain: bool) -> Iterator[str]:
    """Yield the lines of a text plot of latency against concurrency.

    Args:
        fitted: The fit to plot.
        width: Maximum number of columns.
        plain: Whether to use only ASCII characters.
    """
    last = fitted.measurements[-1].concurrency
    ends = [fitted.at(0), fitted.at(last)]
    latencies = [*ends, *(measurement.itl_ms for measurement in fitted.measurements)]
    lowest, highest = min(latencies), max(latencies)
    lowest = lowest if lowest > highest * _FROM_ZERO else 0.0
    labels = [f"{highest:.4g} ms", *[""] * (_HEIGHT - 2), f"{lowest:.4g}"]
    margin = max(map(len, labels))
    columns = max(width - margin - 2, 2)
    rows = [[" "] * columns for _ in range(_HEIGHT)]

    def mark(concurrency: float, ms: float, letter: str) -> None:
        row = round((highest - ms) / (highest - lowest) * (_HEIGHT - 1))
        rows[row][round(concurrency / last * (columns - 1))] = letter

    for column in range(columns):
        at = column / (columns - 1) * last
        mark(at, fitted.at(at), _PLAIN_LINE if plain else _LINE)
    for measurement in fitted.measurements:
        mark(measurement.concurrency, measurement.itl_ms, _PLAIN_MEASURED if plain else _MEASURED)
    for label, row in zip(labels, rows, strict=True):
        yield f"{label:>{margin}} {'|' if plain else '│'}{''.join(row).rstrip()}"
    yield f"{'':{margin}}  0{f'{last:.4g} at once':>{columns - 1}}"


def write_plot(fitted: LineFit, path: Path) -> None:
    """Write an SVG or PNG with the measurements, the line and its confidence interval.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    last = fitted.measurements[-1].concurrency
    concurrencies = [last * number / 100 for number in range(101)]
    with picture(path) as figure:
        axes = figure.subplots()
        label = f"{fitted.alpha.value:.4g} ms + {fitted.beta.value:.4g} ms * n"
        (line,) = axes.plot(concurrencies, [fitted.at(concurrency) for concurrency in concurrencies], label=label)
        line.set_gid("line")
        if fitted.residual_ms is not None:
            values = [fitted.value_at(concurrency) for concurrency in concurrencies]
            lower, upper = [value.low or 0 for value in values], [value.high or 0 for value in values]
            axes.fill_between(concurrencies, lower, upper, alpha=0.2, label="95 % confidence").set_gid("confidence")
        measured = [(measurement.concurrency, measurement.itl_ms) for measurement in fitted.measurements]
        (points,) = axes.plot(*zip(*measured, strict=True), "o", label="measured")
        points.set_gid("measured")
        axes.set_xlabel("requests at once, n")
        axes.set_ylabel("inter-token latency, mean, ms")
        finish(axes, f"{len(measured)} measurements")
        axes.legend(loc="lower right", fontsize="small")
