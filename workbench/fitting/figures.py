"""Numbers in benchmark results."""

import math
import re

from components.performance.simulation.trace_reader import excerpt

MAX_CONCURRENCY = 1_000_000.0
MAX_MS = 1e7
MIN_MS = 1e-6
_NUMBER = re.compile(r"\+?([0-9]{1,30}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?\Z", re.ASCII)


class FigureError(ValueError):
    """An implausible number; the message says what is allowed and what was found."""


def latency(value: object) -> float:
    """Parse a latency in milliseconds.

    Raises:
        FigureError: the value is not a plausible latency.
    """
    return figure(value, MIN_MS, MAX_MS)


def figure(value: object, least: float, most: float) -> float:
    """Parse a number or numeric text.

    Raises:
        FigureError: the value is not a finite number in the range.
    """
    number = _float(value)
    # Comparisons with NaN are false.
    if number is None or not least <= number <= most:
        raise FigureError(f"must be a number from {least:g} to {most:g}, found {excerpt(value)}")
    return number


def positive(value: object) -> float | None:
    """Return a finite number above 0, or None: optional figures may be missing or zero."""
    number = _float(value)
    return number if number is not None and 0 < number < math.inf else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str):
        return float(value.strip()) if _NUMBER.match(value.strip()) else None
    try:
        return float(value)
    except OverflowError:
        return None
