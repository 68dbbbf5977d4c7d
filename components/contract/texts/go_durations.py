"""Durations in Go's format (``time.ParseDuration``), such as ``30s``, ``1h30m`` or ``100ms``."""

import re
from collections.abc import Mapping

PATTERN = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
"""The grammar as RE2."""
GRAMMAR = PATTERN.removeprefix("^").removesuffix("$") + r"\Z"
"""The grammar for Python."""
MAX_LENGTH = 64
"""Far above any use. The API server only accepts a CEL rule over a duration if it can bound the rule's cost."""

_UNITS: Mapping[str, int] = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9
}  # fmt: skip
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def nanoseconds_of(duration: str) -> int:
    """Return the nanoseconds of a valid duration; each part is rounded down, as in Go."""
    total = 0
    for number, unit in _PART.findall(duration):
        whole, _, fraction = number.partition(".")
        total += int(whole or 0) * _UNITS[unit] + int(fraction or 0) * _UNITS[unit] // 10 ** len(fraction)
    return -total if duration.startswith("-") else total


def milliseconds_of(duration: str) -> int:
    """Return the milliseconds of a valid duration, truncated toward zero."""
    nanoseconds = nanoseconds_of(duration)
    return nanoseconds // 10**6 if nanoseconds >= 0 else -(-nanoseconds // 10**6)


def seconds_of(duration: str) -> float:
    """Return the seconds of a valid duration."""
    return nanoseconds_of(duration) / 10**9
