"""Logs in CloudWatch: for how long they can be kept."""

from collections.abc import Iterator

DEFAULT_DAYS = 30
RETENTION_DAYS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""Retention periods that CloudWatch Logs supports (its API Reference, PutRetentionPolicy)."""


def retention_problems(key: str, days: int) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a period, an argument of any name."""
    if days not in RETENTION_DAYS:
        yield key, f"must be one of {', '.join(map(str, RETENTION_DAYS))}, found {days!r}"
