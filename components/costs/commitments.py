"""What nodes that never scale down would cost under a commitment. A comparison, and no part of any sum."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from .bill import HOURS_PER_MONTH, CostItem, CostKind, cents
from .tables import Buying

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
    """Yield the comparison in words: first what is known, then what is not."""
    found = commitments(items)
    known = [each for each in found if each.one_year is not None and each.three_years is not None]
    unknown = [each for each in found if each not in known]
    if known:
        on_demand = sum((each.usd_per_hour for each in known), Decimal(0))
        year = sum((each.one_year or Decimal(0) for each in known), Decimal(0))
        years = sum((each.three_years or Decimal(0) for each in known), Decimal(0))
        dates = sorted({each.date for each in known})
        yield (
            f"Nodes that never scale down, on demand: {_month(on_demand)} a month. Under a commitment of one year "
            f"they would cost {_month(year)}, of three years {_month(years)} ({_SOURCE}, prices of "
            f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}; a comparison, in no sum)."
        )
    if unknown:
        on_demand = sum((each.usd_per_hour for each in unknown), Decimal(0))
        more = "more of them" if known else "nodes that never scale down"
        yield (
            f"What {more} would cost under a commitment is not known: {', '.join(each.name for each in unknown)}, "
            f"{_month(on_demand)} a month on demand; no price list of commitments has them at that price."
        )


def _month(usd_per_hour: Decimal) -> str:
    return f"${cents(usd_per_hour * HOURS_PER_MONTH):,.2f}"
