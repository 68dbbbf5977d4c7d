"""Kubernetes quantities (``k8s.io/apimachinery/pkg/api/resource``, ``ParseQuantity``)."""

import functools
import re
from decimal import ROUND_UP, Context, Decimal

PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,9})?$"
"""The grammar as RE2: sign, digits, then a binary, a decimal or an exponent suffix."""

GIB = 2**30
"""Bytes of a GiB, Kubernetes' Gi, in which accelerators and nodes have their memory."""
MAX_LENGTH = 64
"""Limit for our own fields; without one, the API server rejects CEL rules over quantities as too expensive."""

_GRAMMAR = re.compile(PATTERN.removesuffix("$") + r"\Z", re.ASCII)
_SUFFIX = {
    "": Decimal(1),
    **{
        unit: Decimal(10) ** power for unit, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
    },
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)},
}
_LARGEST = Decimal(2**63 - 1)
_NANO = Decimal("1e-9")
_EXACT = Context(prec=4000, Emax=10**9 + 5000, Emin=-(10**9) - 5000)


def parse_quantity(value: str | int | float | Decimal) -> Decimal:
    """Parse a quantity as Kubernetes does.

    Kubernetes rounds away from zero to a billionth and caps at 2^63 - 1.

    Raises:
        ValueError: The text is not a quantity.
    """
    return _parsed(format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value))


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Decimal:
    match = _GRAMMAR.match(text)
    if match is None:
        raise ValueError(f"must be a quantity such as 500m, 2 or 8Gi, found {text!r}{_hint(text)}")
    suffix = match.group(3) or ""
    digits = Decimal(text[: len(text) - len(suffix)])
    if suffix[:1] in ("e", "E") and len(suffix) > 1 and suffix != "Ei":
        return _bounded(digits, int(suffix[1:]))
    return _rounded(_EXACT.multiply(digits, _SUFFIX[suffix]))


def quantity_hint(text: str) -> str:
    """Return the end of a message about a text that is no quantity: what to write; empty if that is unknown."""
    return _hint(text)


def is_quantity(value: object) -> bool:
    """Return whether Kubernetes accepts a value as a quantity."""
    if isinstance(value, str):
        return len(value) <= MAX_LENGTH and _GRAMMAR.match(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def format_quantity(number: Decimal) -> str:
    """Format a number in the largest of units, milli, micro, and nano in which it is whole."""
    for unit in ("", "m", "u", "n"):
        scaled = _EXACT.divide(number, _SUFFIX[unit])
        if scaled == scaled.to_integral_value() or unit == "n":
            return f"{int(scaled)}{unit}"
    raise AssertionError(number)


def _bounded(digits: Decimal, exponent: int) -> Decimal:
    """Apply a decimal exponent, which may have nine digits, without expanding the number."""
    if not digits:
        return Decimal(0)
    magnitude = digits.adjusted() + exponent
    if magnitude > 20:
        return _LARGEST.copy_sign(digits)
    if magnitude < -20:
        return _NANO.copy_sign(digits)
    return _rounded(_EXACT.scaleb(digits, exponent))


def _rounded(number: Decimal) -> Decimal:
    if abs(number) > _LARGEST:
        return _LARGEST.copy_sign(number)
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -9:
        number = number.quantize(_NANO, rounding=ROUND_UP, context=_EXACT)
    return number


def _hint(text: str) -> str:
    stripped = text.replace(" ", "")
    for wrong, right in (("GB", "G"), ("MB", "M"), ("GiB", "Gi"), ("MiB", "Mi"), ("K", "k"), ("g", "G")):
        if stripped.endswith(wrong) and _GRAMMAR.match(fixed := stripped.removesuffix(wrong) + right):
            return f"; write {fixed!r}"
    return f"; write {stripped!r}" if stripped != text and _GRAMMAR.match(stripped) else ""
