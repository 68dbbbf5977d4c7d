"""Formats values as Go does: config and durations, as Kthena's controllers write them."""

import math
from decimal import Decimal

from .....contract.base import Json
from ...durations import nanoseconds_of

_DIGITS = 6
"""Numbers with more digits before the point are written with an exponent."""
_SECOND = 10**9
_SMALL = (("ms", 10**6), ("µs", 10**3), ("ns", 1))
"""Units below a second, in nanoseconds."""


def format_value(value: Json) -> str:
    """Format a JSON value like Go's ``%v``: 1048576 as ``1.048576e+06``, a map as ``map[a:1]``."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case dict():
            return f"map[{' '.join(f'{key}:{format_value(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(format_value, value))}]"
    return _number(float(value))


def _number(value: float) -> str:
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    # Like Go's shortest format, repr writes the fewest digits that identify the number.
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    before = len(text) + int(exponent)
    lead = "-" * sign
    if -4 < before <= _DIGITS:
        if before <= 0:
            return f"{lead}0.{'0' * -before}{text}"
        whole, fraction = text[:before].ljust(before, "0"), text[before:]
        return f"{lead}{whole}.{fraction}" if fraction else f"{lead}{whole}"
    power = before - 1
    rest = f".{text[1:]}" if text[1:] else ""
    return f"{lead}{text[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02d}"


def format_duration(text: str) -> str:
    """Format a duration like Go: ``60s`` as ``1m0s``."""
    amount = nanoseconds_of(text)
    lead, rest = "-" * (amount < 0), Decimal(abs(amount))
    if rest == 0:
        return "0s"
    if rest < _SECOND:
        unit, size = next((unit, size) for unit, size in _SMALL if rest >= size)
        return f"{lead}{_decimal(rest / size)}{unit}"
    whole, rest = divmod(rest, 60 * _SECOND)
    hours, minutes = divmod(int(whole), 60)
    parts = [f"{hours}h" if hours else "", f"{minutes}m" if hours or minutes else "", f"{_decimal(rest / _SECOND)}s"]
    return lead + "".join(parts)


def _decimal(value: Decimal) -> str:
    return f"{value.normalize():f}"
