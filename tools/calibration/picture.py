"""A picture of measured against estimated times: a panel for each engine and accelerator."""

from collections.abc import Callable, Sequence
from math import log10

from .fitting import Prediction
from .points import Point

_PANEL, _GAP, _MARGIN = 170, 34, 46
_INK, _DOT = "#24292f", "#0969da"


def scatter(
    points: Sequence[Point],
    found: Sequence[Prediction],
    title: str,
    times: Callable[[Point, Prediction], tuple[float, float]],
) -> str:
    """Return an SVG with a column for each accelerator and a row for each engine.

    Args:
        points: The points.
        found: Their estimates.
        title: What is compared.
        times: Returns the measured and the estimated milliseconds of a point.
    """
    pairs = [times(point, estimate) for point, estimate in zip(points, found, strict=True)]
    low = 10 ** int(log10(min(min(pair) for pair in pairs)))
    high = 10 ** (int(log10(max(max(pair) for pair in pairs))) + 1)
    engines, devices = (sorted({point.group[place] for point in points}) for place in (0, 1))
    width = _MARGIN + len(devices) * (_PANEL + _GAP)
    height = _MARGIN + len(engines) * (_PANEL + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="11" fill="{_INK}">',
        f"<title>{title}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{_MARGIN}" y="16" font-size="13">{title}</text>',
    ]
    for row, engine in enumerate(engines):
        for column, device in enumerate(devices):
            chosen = [pair for point, pair in zip(points, pairs, strict=True) if point.group == (engine, device)]
            if chosen:
                left, top = _MARGIN + column * (_PANEL + _GAP), _MARGIN + row * (_PANEL + _GAP)
                parts += _panel(left, top, f"{engine}, {device}", chosen, (low, high))
    return "\n".join([*parts, "</svg>", ""])


def _panel(
    left: int, top: int, title: str, pairs: Sequence[tuple[float, float]], span: tuple[float, float]
) -> list[str]:
    low, high = span

    def share(value: float) -> float:
        return log10(value / low) / log10(high / low) * _PANEL

    right, bottom = left + _PANEL, top + _PANEL
    # A line of no length with round ends is a dot.
    dots = sorted({(round(left + share(x), 1), round(bottom - share(y), 1)) for x, y in pairs})
    path = "".join(f"M{x:g} {y:g}h0" for x, y in dots)
    return [
        f'<text x="{left}" y="{top - 5}">{title} ({len(pairs)})</text>',
        f'<rect x="{left}" y="{top}" width="{_PANEL}" height="{_PANEL}" fill="none" stroke="{_INK}"/>',
        f'<path d="M{left} {bottom}L{right} {top}" stroke="{_INK}" stroke-dasharray="3 3"/>',
        f'<path d="{path}" stroke="{_DOT}" stroke-width="3" stroke-linecap="round" stroke-opacity="0.5"/>',
        f'<text x="{left}" y="{bottom + 12}">{low:g}</text>',
        f'<text x="{right}" y="{bottom + 12}" text-anchor="end">measured, {high:g} ms</text>',
        f'<text x="{left - 4}" y="{bottom}" text-anchor="end">{low:g}</text>',
        f'<text x="{left - 4}" y="{top + 9}" text-anchor="end">{high:g}</text>',
    ]
