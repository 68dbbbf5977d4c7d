"""Durations as text, in the same format in every report."""

_EXACT = 120
"""Estimates from this many seconds on are in whole minutes, because they are not more precise."""


def span(seconds: int) -> str:
    """Format a duration: ``45 s``, ``4 min 30 s``, ``2 h 5 min``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    units = [(hours, "h"), (minutes, "min"), (rest if not hours else 0, "s")]
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"


def estimated(seconds: int) -> str:
    """Format an estimated duration, such as that of a start: ``95 s``, ``13 min``, ``2 h 5 min``."""
    return f"{seconds} s" if seconds < _EXACT else span((seconds + 30) // 60 * 60)


def about(seconds: int) -> str:
    """Format an estimated duration in a sentence: ``about 13 min``."""
    return f"about {estimated(seconds)}"
