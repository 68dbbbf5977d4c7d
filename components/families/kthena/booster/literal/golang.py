"""Formats values as Go does: config and durations, as Kthena's controllers write them."""

import math
from decimal import Decimal

from .....contract.base import Json
from .....contract.texts.go_durations import nanoseconds_of

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
    number = float(value)
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    # Like Go's shortest format, repr writes the fewest digits that identify the number.
    is_negative, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    sign, text = "-" * is_negative, "".join(map(str, digits))
    integer_digits = len(text) + int(exponent)
    if -4 < integer_digits <= 0:
        return f"{sign}0.{'0' * -integer_digits}{text}"
    if 0 < integer_digits <= _DIGITS:
        integer, fraction = text[:integer_digits].ljust(integer_digits, "0"), text[integer_digits:]
        return f"{sign}{integer}.{fraction}" if fraction else f"{sign}{integer}"
    power = integer_digits - 1
    fraction = f".{text[1:]}" if text[1:] else ""
    return f"{sign}{text[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"


def format_duration(text: str) -> str:
    """Format a duration like Go: ``60s`` as ``1m0s``."""
    nanoseconds = nanoseconds_of(text)
    sign, amount = "-" * (nanoseconds < 0), Decimal(abs(nanoseconds))
    if amount == 0:
        return "0s"
    if amount < _SECOND:
        unit, size = next((unit, size) for unit, size in _SMALL if amount >= size)
        return f"{sign}{_decimal(amount / size)}{unit}"
    total_minutes, amount = divmod(amount, 60 * _SECOND)
    hours, minutes = divmod(int(total_minutes), 60)
    seconds = f"{_decimal(amount / _SECOND)}s"
    return sign + "".join((f"{hours}h" if hours else "", f"{minutes}m" if hours or minutes else "", seconds))


def _decimal(value: Decimal) -> str:
    return f"{value.normalize():f}"
