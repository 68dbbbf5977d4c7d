"""The time of a plan, against which dates are compared. No other module reads the clock for it."""

import calendar
import datetime

OLD_AFTER_MONTHS = 6
"""Age from which a plan reports a pinned release."""

HOURS_PER_MONTH = 730
"""A twelfth of the 8,760 hours of a year, as in the AWS Pricing Calculator."""


def now() -> datetime.datetime:
    """Return the current time in UTC."""
    return datetime.datetime.now(datetime.UTC)


def today() -> datetime.date:
    """Return the current date in UTC."""
    return now().date()


def months_before(day: datetime.date, months: int) -> datetime.date:
    """Return the same day of an earlier month, or the last day of that month if it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(day.day, last))
