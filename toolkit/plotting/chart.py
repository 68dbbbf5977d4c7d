"""Bar charts of block characters, for terminals."""

import itertools
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_PLAIN = " #"


def chart(
    values: Sequence[Fraction | int], width: int, height: int, *, top: Fraction | int = 0, plain: bool = False
) -> list[str]:
    """Return the lines of a chart from top to bottom; each column shows the maximum of its part of the values.

    Args:
        values: Equidistant values.
        width: Maximum number of columns.
        height: Number of lines.
        top: Value of a full column, if it is above the maximum.
        plain: Whether to use only ASCII.
    """
    marks = _PLAIN if plain else _EIGHTHS
    steps = len(marks) - 1
    columns = [Fraction(value) for value in values]
    if len(columns) > width:
        borders = [len(columns) * number // width for number in range(width + 1)]
        columns = [max(columns[first:last]) for first, last in itertools.pairwise(borders)]
    top = max(top, *columns, 0)
    # Every value above 0 is visible.
    levels = [0 if not column or not top else max(round(column * height * steps / top), 1) for column in columns]
    return [
        "".join(marks[min(max(level - row * steps, 0), steps)] for level in levels).rstrip()
        for row in reversed(range(height))
    ]


def framed(lines: Sequence[str], top: str, *, plain: bool = False) -> Iterator[str]:
    """Yield the lines of a chart with an axis from 0.

    Args:
        lines: The chart, from top to bottom.
        top: Label of the top line.
        plain: Whether to use only ASCII.
    """
    for row, line in enumerate(lines):
        label = top if row == 0 else "0" if row == len(lines) - 1 else ""
        yield f"{label:>{len(top)}} {'|' if plain else '│'}{line}"


def is_plain() -> bool:
    """Return whether the encoding of stdout lacks block characters."""
    return (sys.stdout.encoding or "").lower().replace("-", "") not in ("utf8", "utf16", "utf32")
