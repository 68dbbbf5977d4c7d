"""Durations as Go reads and counts them (``time.ParseDuration``), such as ``30s``, ``1h30m`` or ``100ms``."""

import functools
import re
from collections.abc import Mapping

from ...contract.base import INT64_MAX

PATTERN = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
"""The grammar as RE2."""
GRAMMAR = PATTERN.removeprefix("^").removesuffix("$") + r"\Z"
"""The grammar for Python."""
MAX_LENGTH = 64
"""Far above any use. The API server allows a rule over a duration only where it can bound its cost."""

_UNITS: Mapping[str, int] = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9
}  # fmt: skip
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def nanoseconds_of(duration: str) -> int:
    """Return the nanoseconds of a duration that has been checked: each part is rounded down."""
    total = sum(_whole(number, _UNITS[unit]) for number, unit in _PART.findall(duration))
    return -total if duration.startswith("-") else total


def _whole(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    scale: int = 10 ** len(fraction)
    return int(whole or 0) * unit + int(fraction or 0) * unit // scale


def milliseconds_of(duration: str) -> int:
    """Return the whole milliseconds of a duration that has been checked, cut towards zero."""
    nanoseconds = nanoseconds_of(duration)
    return nanoseconds // 10**6 if nanoseconds >= 0 else -(-nanoseconds // 10**6)


def seconds_of(duration: str) -> float:
    """Return the seconds of a duration that has been checked."""
    return nanoseconds_of(duration) / 10**9


@functools.lru_cache(maxsize=1024)
def fits(duration: str) -> bool:
    """Tell whether Go can hold a duration: about 292 years."""
    return abs(nanoseconds_of(duration)) <= INT64_MAX
