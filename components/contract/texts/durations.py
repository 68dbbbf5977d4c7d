"""Durations as the Gateway API takes them (GEP-2257), such as ``90s``, ``10m`` or ``1h30m``."""

import re

from .go_durations import nanoseconds_of

DURATION = r"([0-9]{1,5}(h|m|s|ms)){1,4}"
_DURATION = re.compile(rf"{DURATION}\Z", re.ASCII)


def is_duration(text: str) -> bool:
    """Tell whether a text is a positive duration."""
    return bool(_DURATION.match(text) and re.search("[1-9]", text))


def seconds(duration: str) -> int:
    """Convert a duration to seconds, rounded up."""
    return -(-nanoseconds_of(duration) // 10**9)


def duration_text(count: int) -> str:
    """Format seconds as a duration, which allows at most five digits per unit."""
    parts = ((count // 3600, "h"), (count // 60 % 60, "m"), (count % 60, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
