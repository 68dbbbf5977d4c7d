"""Durations as the Gateway API takes them (GEP-2257), such as ``90s``, ``10m`` or ``1h30m``."""

import math
import re

DURATION = r"([0-9]{1,5}(h|m|s|ms)){1,4}"
_DURATION = re.compile(rf"{DURATION}\Z", re.ASCII)
_PART = re.compile(r"([0-9]+)(h|ms|m|s)", re.ASCII)
_MILLISECONDS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


def is_duration(text: str) -> bool:
    """Tell whether a text is a positive duration."""
    return bool(_DURATION.match(text) and re.search("[1-9]", text))


def seconds(duration: str) -> int:
    """Convert a duration to seconds, rounded up."""
    return math.ceil(sum(int(count) * _MILLISECONDS[unit] for count, unit in _PART.findall(duration)) / 1000)


def duration_text(count: int) -> str:
    """Format seconds as a duration, which allows at most five digits per unit."""
    parts = ((count // 3600, "h"), (count // 60 % 60, "m"), (count % 60, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
