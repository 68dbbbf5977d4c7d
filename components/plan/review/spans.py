"""Durations as text, in the same format in every report."""

_EXACT = 120
"""Estimates above this many seconds are rounded to whole minutes, because they are not more precise."""


def span(seconds: int) -> str:
    """Format a duration: ``45 s``, ``4 min 30 s``, ``2 h 5 min``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    units = [(hours, "h"), (minutes, "min"), (rest if not hours else 0, "s")]
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"


def about(seconds: int) -> str:
    """Format an estimated duration."""
    return f"about {span(seconds if seconds < _EXACT else -(-seconds // 60) * 60)}"
