"""Parses the values of numeric flags as engines do."""

import re
from decimal import Decimal, InvalidOperation

_HUMAN = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
"""Small letters are decimal (vllm/engine/arg_utils.py: human_readable_int)."""
_MOST = Decimal(2**63)


def parse_int(text: str) -> int | None:
    """Parse a whole number, which may have a suffix as in ``32k``; None for anything else."""
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        return int(text)
    match = _HUMAN.fullmatch(text)
    if not match:
        return None
    number = Decimal(match[1]) * _UNITS[match[2]]
    return int(number) if number < _MOST else None


def parse_decimal(text: str) -> Decimal | None:
    """Parse a finite number; None for anything else."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < _MOST else None
