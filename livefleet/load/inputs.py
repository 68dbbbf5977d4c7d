"""Parse the option values of ``workbench live load``."""

import math
import os
import re
from urllib.parse import urlsplit

from toolkit.errors import UserError

from .arrivals import Range

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
_DURATION = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>ms|s|m|h|)", re.ASCII)
_NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)
_MAX_RATE = 100_000
_MAX_TOKENS = 10_000_000
_MAX_SECONDS = 7 * 24 * 3600.0


def duration(option: str, text: str) -> float:
    """Parse a duration such as ``90``, ``30s``, ``5m`` or ``1.5h`` into seconds.

    Raises:
        UserError: it is invalid, zero, or longer than a week.
    """
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match["number"]) * _UNITS[match["unit"]] if match else 0.0
    if not 0 < seconds <= _MAX_SECONDS:
        raise UserError(f"{option}: must be a duration of at most a week, such as 30s, 5m or 1.5h, found {text!r}", 2)
    return seconds


def rate(text: str) -> Range:
    """Parse a rate in requests per second, such as ``5`` or ``5..50``.

    Raises:
        UserError: it is invalid.
    """
    rates = _span(text)
    if rates is None or not 0 < rates.top <= _MAX_RATE:
        raise UserError(
            f"--rate: must be requests per second, such as 5, or a rate at the start and one at the end, such as "
            f"5..50, found {text!r}",
            2,
        )
    return rates


def tokens(option: str, text: str) -> Range:
    """Parse a length in tokens, such as ``200`` or ``100..300``.

    Raises:
        UserError: it is invalid.
    """
    lengths = _span(text)
    is_whole = lengths and lengths.first == int(lengths.first) and lengths.last == int(lengths.last)
    if lengths is None or not is_whole or min(lengths.first, lengths.last) < 1 or lengths.top > _MAX_TOKENS:
        raise UserError(f"{option}: must be tokens, such as 200, or a range, such as 100..300, found {text!r}", 2)
    return lengths


def _span(text: str) -> Range | None:
    first, dots, last = text.strip().partition("..")
    ends = [first, last] if dots else [first, first]
    if not all(_NUMBER.fullmatch(end) for end in ends):
        return None
    low, high = map(float, ends)
    return Range(low, high) if math.isfinite(low) and math.isfinite(high) else None


def base_url(text: str) -> str:
    """Return the base URL of an API, without the path of an endpoint.

    Raises:
        UserError: it is not a URL, or contains a password.
    """
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UserError(f"--url: must be an address such as http://127.0.0.1:8000/v1, found {text!r}", 2)
    if "@" in parts.netloc:
        raise UserError("--url: must not contain a user or password; pass a key with --key-env VARIABLE", 2)
    if parts.query or parts.fragment:
        raise UserError(f"--url: must end with a path such as /v1, found {text!r}", 2)
    return text.rstrip("/").removesuffix("/chat/completions").removesuffix("/completions")


def key_in(variable: str) -> str:
    """Return the API key in an environment variable; empty without a variable.

    Raises:
        UserError: the variable is not set, or its value is not valid in a header.
    """
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(f"--key-env: the variable {variable!r} is not set", 2)
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"--key-env: the value of {variable!r} cannot be sent in a header", 2)
    return key
