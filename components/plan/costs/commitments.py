"""What nodes that never scale down would cost under a commitment. A comparison, and no part of any sum."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.prices import Buying
from .bill import HOURS_PER_MONTH, CostItem, CostKind, cents

_SOURCE = "Reserved Instances without upfront payment"


@dataclass(frozen=True, slots=True)
class Commitment:
    """Nodes of one kind that are there all the time, and are paid for on demand.

    Attributes:
        name: The line of the bill, such as ``node group g6-2xlarge``.
        nodes: How many there are at least.
        usd_per_hour: US dollars an hour of all of them, on demand.
        one_year: Likewise under a commitment of one year without upfront payment; None where no source says it.
        three_years: Likewise of three years.
        date: The day of these two prices; empty without any.
    """

    name: str
    nodes: Decimal
    usd_per_hour: Decimal
    one_year: Decimal | None
    three_years: Decimal | None
    date: str = ""


def commitments(items: Iterable[CostItem]) -> tuple[Commitment, ...]:
    """Return what could be committed to: the least number of nodes of each line that is paid for on demand."""
    return tuple(_commitments(items))


def _commitments(items: Iterable[CostItem]) -> Iterator[Commitment]:
    for item in items:
        price, nodes = item.price, item.counts.least
        if item.kind != CostKind.NODES or price is None or price.bought != Buying.ON_DEMAND or not nodes:
            continue
        year, years = price.committed, price.committed_3y
        yield Commitment(
            item.name,
            nodes,
            nodes * price.usd,
            None if year is None else nodes * year,
            None if years is None else nodes * years,
            price.committed_on,
        )


def compared(items: Iterable[CostItem]) -> Iterator[str]:
    """Yield the comparison in words, one sentence for all nodes of which the same is known."""
    found = commitments(items)
    for has_year, has_years in ((True, True), (False, True), (True, False), (False, False)):
        alike = [
            each
            for each in found
            if (each.one_year is not None, each.three_years is not None) == (has_year, has_years)
        ]
        if alike:
            names = ", ".join(each.name for each in alike)
            yield f"Nodes that never scale down ({names}): {_prices(alike, one=has_year, three=has_years)}."


def _prices(alike: Sequence[Commitment], *, one: bool, three: bool) -> str:
    """Say what nodes cost of which the same is known."""
    on_demand = f"{_month(sum(each.usd_per_hour for each in alike))} a month on demand"
    if not one and not three:
        return f"{on_demand}; under a commitment not known"
    year = _month(sum(each.one_year or 0 for each in alike)) if one else "not known"
    years = _month(sum(each.three_years or 0 for each in alike)) if three else "not known"
    dates = sorted({each.date for each in alike})
    of = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    return (
        f"{on_demand}; under a commitment {year} for one year, {years} for three years ({_SOURCE}, prices of {of}; a "
        "comparison, in no sum)"
    )


def _month(usd_per_hour: Decimal | int) -> str:
    return f"${cents(Decimal(usd_per_hour) * HOURS_PER_MONTH):,.2f}"
