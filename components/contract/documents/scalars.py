"""Plain YAML scalars as Kubernetes parses them (go-yaml v2): YAML 1.1 booleans, no base 60, no dates."""

import re
from collections.abc import Callable

BOOLS = {
    word: truth
    for truth, words in ((True, "y yes true on"), (False, "n no false off"))
    for lower in words.split()
    for word in (lower, lower.capitalize(), lower.upper())
}
NULLS = {"", "~", "null", "Null", "NULL"}
_NOT_FINITE = {sign + dot + word for sign in ("", "+", "-") for dot in (".",) for word in ("inf", "Inf", "INF")}
_NOT_FINITE |= {".nan", ".NaN", ".NAN"}

_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z", re.ASCII)
_INTS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"[-+]?0[xX][0-9a-fA-F]+\Z", re.ASCII), 16),
    (re.compile(r"[-+]?0[bB][01]+\Z", re.ASCII), 2),
    (re.compile(r"[-+]?0[oO][0-7]+\Z", re.ASCII), 8),
    (re.compile(r"[-+]?0[0-7]*\Z", re.ASCII), 8),
    (re.compile(r"[-+]?[1-9][0-9]*\Z", re.ASCII), 10),
)
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1

Scalar = str | int | float | bool | None
_MOST_DIGITS = 1000


class UnusableScalar(ValueError):  # noqa: N818
    """A YAML value that JSON cannot represent."""


def parse_plain(text: str) -> Scalar:
    """Return the value of a plain (unquoted) scalar.

    Raises:
        UnusableScalar: The value is NaN or infinite, which JSON cannot represent.
    """
    if text in NULLS:
        return None
    if text in BOOLS:
        return BOOLS[text]
    if text[0] not in "+-.0123456789":
        return text
    if text in _NOT_FINITE:
        raise UnusableScalar(f"{text} is not a number that JSON can represent")
    return _number(text)


def _number(text: str) -> Scalar:
    bare = text.replace("_", "")
    for grammar, base in _INTS:
        if grammar.match(bare):
            # Python limits the digits that it converts (4,300); no 64-bit integer has as many as the limit here.
            if len(bare) <= _MOST_DIGITS:
                number = int(bare.lower().replace("o", ""), 8) if base == 8 else int(bare, base)
                if _SMALLEST <= number <= _LARGEST:
                    return number
            return _finite(float(bare), text) if base == 10 else text
    # go-yaml removes underscores except after a leading dot.
    candidate = text if text[0] == "." else bare
    return _finite(float(candidate), text) if _FLOAT.match(candidate) else text


def _finite(number: float, text: str = "") -> float | str:
    """Return a float, or the text if it is out of range, as when Go's ParseFloat fails."""
    return text if number in (float("inf"), float("-inf")) else number


def _bool(text: str) -> bool:
    if text not in BOOLS:
        raise UnusableScalar(f"{text!r} is not a boolean")
    return BOOLS[text]


def _int(text: str) -> int:
    value = parse_plain(text)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnusableScalar(f"{text!r} is not an integer")
    return value


def _float(text: str) -> float:
    value = parse_plain(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnusableScalar(f"{text!r} is not a number")
    return float(value)


def _null(text: str) -> None:
    if text not in NULLS:
        raise UnusableScalar(f"{text!r} is not null")


TAGGED: dict[str, Callable[[str], Scalar]] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:bool": _bool,
    "tag:yaml.org,2002:int": _int,
    "tag:yaml.org,2002:float": _float,
    "tag:yaml.org,2002:null": _null,
    "tag:yaml.org,2002:timestamp": str,
}
"""Parsers of scalars with an explicit tag."""
