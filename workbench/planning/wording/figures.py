"""Formatting of amounts, counts, shares and lists."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

from components.plan.costs.bill import HOURS_PER_MONTH, Amounts

_DIGITS = 60
"""Precision of formatting: more digits than any amount has, so that only cents are rounded."""


def usd(value: Decimal) -> str:
    """Format an amount: ``$1,234.56``."""
    amount = _rounded(abs(value), 2)
    return f"-${amount}" if value < 0 and amount.strip("0.,") else f"${amount}"


def whole_usd(value: Decimal) -> str:
    """Format an amount in whole dollars: ``$1,235``; less than a dollar is ``<$1``."""
    if 0 < abs(value) < 1:
        return "<$1"
    amount = _rounded(abs(value), 0)
    return f"-${amount}" if value < 0 else f"${amount}"


def cents(value: Decimal) -> str:
    """Format an amount for programs: ``1234.56``."""
    amount = _rounded(value, 2).replace(",", "")
    return amount if amount.strip("-0.") else "0.00"


def usd_difference(value: Decimal) -> str:
    """Format a difference of amounts: ``+$5.00``, ``-$5.00``."""
    amount = usd(value)
    return amount if amount.startswith("-") or not amount.strip("$0.,") else f"+{amount}"


def monthly(hourly: Amounts | None) -> Amounts | None:
    """Convert hourly to monthly amounts."""
    return None if hourly is None else hourly.times(Decimal(HOURS_PER_MONTH))


def integer(number: int) -> str:
    """Format an integer: ``131,072``."""
    return f"{number:,}"


def percentage(part: int, of: int) -> str:
    """Format a share in percent; ``0%`` of nothing."""
    return f"{_rounded(Decimal(100) * part / of, 0)}%" if of else "0%"


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """Format a count: ``1 model``, ``3,000 models``."""
    return f"{integer(number)} {singular if number == 1 else plural or f'{singular}s'}"


def join_words(words: list[str]) -> str:
    """Format a list: ``a, b and c``."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _rounded(value: Decimal, places: int) -> str:
    with localcontext(prec=_DIGITS, rounding=ROUND_HALF_UP):
        return f"{value:,.{places}f}"
