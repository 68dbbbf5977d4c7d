"""Series as blocks of text, for a terminal."""

import itertools
from collections.abc import Sequence
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


def _columns(values: Sequence[Fraction], width: int) -> list[Fraction]:
    if len(values) <= width:
        return list(values)
    borders = [len(values) * number // width for number in range(width + 1)]
    return [max(values[first:last]) for first, last in itertools.pairwise(borders)]
