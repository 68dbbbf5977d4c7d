"""The moment at which a plan is made: what dates are held against. Only this module asks the clock for it."""

import calendar
import datetime

OLD_AFTER_MONTHS = 6
"""Age from which a plan reports a pinned release."""

HOURS_PER_MONTH = 730
"""Of 8,760 hours of a year, as AWS's price calculator counts."""


def now() -> datetime.datetime:
    """Return the moment, in UTC."""
    return datetime.datetime.now(datetime.UTC)


def today() -> datetime.date:
    """Return the day, in UTC."""
    return now().date()


def months_before(day: datetime.date, months: int) -> datetime.date:
    """Return the same day of an earlier month, or that month's last."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(day.day, last))
