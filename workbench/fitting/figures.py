"""One number of a benchmark."""

import math
import re

from components.performance.simulation.trace_reader import excerpt

MOST_AT_ONCE = 1_000_000.0
MOST_MS = 1e7
LEAST_MS = 1e-6
_NUMBER = re.compile(r"\+?([0-9]{1,30}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?\Z", re.ASCII)


class FigureError(ValueError):
    """A number that no benchmark can have measured; the text says what is allowed and what was found."""


def latency(value: object) -> float:
    """Return milliseconds.

    Raises:
        FigureError: they are none that anybody measures.
    """
    return figure(value, LEAST_MS, MOST_MS)


def figure(value: object, least: float, most: float) -> float:
    """Return a number as what it is: from JSON, or as somebody wrote it.

    Raises:
        FigureError: it is none, not finite, too small or too large.
    """
    found = _float(value)
    # The comparison is false for what is not a number, too.
    if found is None or not least <= found <= most:
        raise FigureError(f"must be a number from {least:g} to {most:g}, found {excerpt(value)}")
    return found


def possible(value: object) -> float | None:
    """Return a number above 0 if there is a usable one; files leave out what they do not know."""
    found = _float(value)
    return found if found is not None and 0 < found < math.inf else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str):
        return float(value.strip()) if _NUMBER.match(value.strip()) else None
    try:
        return float(value)
    except OverflowError:
        return None
