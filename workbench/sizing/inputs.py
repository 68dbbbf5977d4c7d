"""Numbers and prices on the command line of ``workbench size``."""

import re
from collections.abc import Sequence
from decimal import Decimal

from ..errors import WorkbenchError

_MOST = Decimal(1_000_000_000)
_MOST_MS = 10_000_000
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?\Z", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,9}\Z", re.ASCII)


def amount(text: str, option: str, what: str, *, least: Decimal = Decimal(0)) -> Decimal:
    """Read a number.

    Args:
        text: What was given.
        option: For which option.
        what: What it is, with an example.
        least: The least that it may be.

    Raises:
        WorkbenchError: it is none, or too large or small.
    """
    found = decimal_in(text)
    if found is None or found < least:
        raise WorkbenchError(f"{option}: must be {what}, from {least:f} to {_MOST:f}, found {text!r}", 2)
    return found


def decimal_in(text: str) -> Decimal | None:
    """Return a number without sign and exponent; None for any other text, and for one that is too large."""
    if not _DECIMAL.match(text):
        return None
    found = Decimal(text)
    return found if found <= _MOST else None


def plain_number(value: Decimal) -> str:
    """Write a number without exponent and trailing zeros."""
    return f"{value.normalize():f}"


def milliseconds_in(text: str, option: str) -> int:
    """Read whole milliseconds: promises have no fractions.

    Raises:
        WorkbenchError: it is something else.
    """
    if not _WHOLE.match(text) or int(text) > _MOST_MS:
        raise WorkbenchError(f"{option}: must be whole milliseconds from 0 to {_MOST_MS}, found {text!r}", 2)
    return int(text)


def cents_given(texts: Sequence[str] | None) -> dict[str, Decimal]:
    """Read prices that are given as ``ACC=CENTS``.

    Raises:
        WorkbenchError: one is something else, or an accelerator has two.
    """
    found: dict[str, Decimal] = {}
    for text in texts or ():
        accelerator, equals, value = text.rpartition("=")
        if not equals or not accelerator.strip():
            raise WorkbenchError(f"--price: must be ACC=CENTS such as A100=40, found {text!r}", 2)
        name = accelerator.strip()
        if name in found:
            raise WorkbenchError(f"--price: {name!r} has two prices; pass one", 2)
        found[name] = amount(value, f"--price {name}", "US cents per hour of one accelerator such as 40")
    return found
