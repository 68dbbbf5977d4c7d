"""Series as blocks of text, for a terminal."""

import itertools
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_PLAIN = " #"


def chart(
    values: Sequence[Fraction | int], width: int, height: int, *, top: Fraction | int = 0, plain: bool = False
) -> list[str]:
    """Return lines of blocks, the highest value first; each column shows the largest value of its part.

    Args:
        values: At even distances.
        width: Columns at most.
        height: Lines.
        top: The value of a whole column, where that is more than the largest value.
        plain: Whether to use only characters that every terminal has.
    """
    marks = _PLAIN if plain else _EIGHTHS
    steps = len(marks) - 1
    columns = _columns([Fraction(value) for value in values], width)
    top = max(top, *columns, 0)
    # What is above nothing shows, however little it is.
    levels = [0 if not column or not top else max(round(column * height * steps / top), 1) for column in columns]
    return [
        "".join(marks[min(max(level - row * steps, 0), steps)] for level in levels).rstrip()
        for row in reversed(range(height))
    ]


def framed(lines: Sequence[str], top: str, *, plain: bool = False) -> Iterator[str]:
    """Yield the lines of a chart with an axis, which starts at 0.

    Args:
        lines: The chart, the highest line first.
        top: What the highest line stands for.
        plain: Whether to use only characters that every terminal has.
    """
    for row, line in enumerate(lines):
        label = top if row == 0 else "0" if row == len(lines) - 1 else ""
        yield f"{label:>{len(top)}} {'|' if plain else '│'}{line}"


def is_plain() -> bool:
    """Tell whether what is printed must do without blocks."""
    return (sys.stdout.encoding or "").lower().replace("-", "") not in ("utf8", "utf16", "utf32")


def _columns(values: Sequence[Fraction], width: int) -> list[Fraction]:
    if len(values) <= width:
        return list(values)
    borders = [len(values) * number // width for number in range(width + 1)]
    return [max(values[first:last]) for first, last in itertools.pairwise(borders)]
