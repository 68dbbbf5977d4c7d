"""Measurements and the line through them: as text for a terminal, and as a picture."""

from collections.abc import Iterator
from pathlib import Path

from toolkit.plotting.pictures import finish, picture

from .line import LineFit

_HEIGHT = 10
_FROM_ZERO = 0.3
"""Part of the highest latency that the lowest is at least, for the axis not to begin at 0."""
_LINE, _MEASURED = "·", "●"
_PLAIN_LINE, _PLAIN_MEASURED = ".", "o"


def drawn(fitted: LineFit, width: int, *, plain: bool) -> Iterator[str]:
    """Yield lines of text: milliseconds upwards, concurrency to the right from 0.

    Args:
        fitted: What to draw.
        width: Columns at most.
        plain: Whether to use only characters that every terminal has.
    """
    last = fitted.measurements[-1].concurrency
    lowest, highest = _range(fitted)
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
    for each in fitted.measurements:
        mark(each.concurrency, each.itl_ms, _PLAIN_MEASURED if plain else _MEASURED)
    for label, row in zip(labels, rows, strict=True):
        yield f"{label:>{margin}} {'|' if plain else '│'}{''.join(row).rstrip()}"
    yield f"{'':{margin}}  0{f'{last:.4g} at once':>{columns - 1}}"


def _range(fitted: LineFit) -> tuple[float, float]:
    """Return the latencies between which everything is; from 0 where that is not far off."""
    shown = [fitted.at(0), fitted.at(fitted.measurements[-1].concurrency)]
    shown += [each.itl_ms for each in fitted.measurements]
    lowest, highest = min(shown), max(shown)
    return (lowest if lowest > highest * _FROM_ZERO else 0.0), highest


def write_plot(fitted: LineFit, path: Path) -> None:
    """Write an SVG or PNG: measurements, the line, and where it is with 95 % confidence.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    last = fitted.measurements[-1].concurrency
    at = [last * number / 100 for number in range(101)]
    with picture(path) as figure:
        axes = figure.subplots()
        label = f"{fitted.alpha.value:.4g} ms + {fitted.beta.value:.4g} ms * n"
        (line,) = axes.plot(at, [fitted.at(each) for each in at], label=label)
        line.set_gid("line")
        if fitted.residual_ms is not None:
            found = [fitted.value_at(each) for each in at]
            lower, upper = [each.low or 0 for each in found], [each.high or 0 for each in found]
            axes.fill_between(at, lower, upper, alpha=0.2, label="95 % confidence").set_gid("confidence")
        measured = [(each.concurrency, each.itl_ms) for each in fitted.measurements]
        (points,) = axes.plot(*zip(*measured, strict=True), "o", label="measured")
        points.set_gid("measured")
        axes.set_xlabel("requests at once, n")
        axes.set_ylabel("inter-token latency, mean, ms")
        finish(axes, f"{len(measured)} measurements")
        axes.legend(loc="lower right", fontsize="small")
