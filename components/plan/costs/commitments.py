"""Costs of permanent nodes with a commitment, for comparison; not part of any total."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.prices import Buying
from .bill import HOURS_PER_MONTH, CostItem, CostKind, cents

_SOURCE = "Reserved Instances without upfront payment"


@dataclass(frozen=True, slots=True)
class Commitment:
    """Permanent on-demand nodes of one kind.

    Attributes:
        name: Name of the cost item, such as ``node group g6-2xlarge``.
        nodes: Minimum number of nodes.
        usd_per_hour: US dollars per hour of all of them, on demand.
        one_year: The same with a one-year commitment without upfront payment; None if unknown.
        three_years: The same with a three-year commitment.
        date: Date of these two prices; empty without any.
    """

    name: str
    nodes: Decimal
    usd_per_hour: Decimal
    one_year: Decimal | None
    three_years: Decimal | None
    date: str = ""


def commitments(items: Iterable[CostItem]) -> tuple[Commitment, ...]:
    """Return the possible commitments: the minimum number of nodes of each on-demand item."""
    possible = []
    for item in items:
        price, nodes = item.price, item.counts.least
        if item.kind != CostKind.NODES or price is None or price.bought != Buying.ON_DEMAND or not nodes:
            continue
        year, years = price.committed, price.committed_3y
        possible.append(
            Commitment(
                name=item.name,
                nodes=nodes,
                usd_per_hour=nodes * price.usd,
                one_year=None if year is None else nodes * year,
                three_years=None if years is None else nodes * years,
                date=price.committed_on,
            )
        )
    return tuple(possible)


def compared(items: Iterable[CostItem]) -> Iterator[str]:
    """Describe the comparison, in one sentence per combination of known prices."""
    candidates = commitments(items)
    for has_year, has_years in ((True, True), (False, True), (True, False), (False, False)):
        alike = [
            commitment
            for commitment in candidates
            if (commitment.one_year is not None, commitment.three_years is not None) == (has_year, has_years)
        ]
        if alike:
            names = ", ".join(commitment.name for commitment in alike)
            yield f"Nodes that never scale down ({names}): {_prices(alike, one=has_year, three=has_years)}."


def _prices(alike: Sequence[Commitment], *, one: bool, three: bool) -> str:
    on_demand = f"{_month(sum(commitment.usd_per_hour for commitment in alike))} a month on demand"
    if not one and not three:
        return f"{on_demand}; with a commitment: unknown"
    year = _month(sum(commitment.one_year or 0 for commitment in alike)) if one else "unknown"
    years = _month(sum(commitment.three_years or 0 for commitment in alike)) if three else "unknown"
    dates = sorted({commitment.date for commitment in alike})
    of = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    return (
        f"{on_demand}; with a commitment {year} for one year, {years} for three years ({_SOURCE}, prices of {of}; "
        "for comparison, not part of any total)"
    )


def _month(usd_per_hour: Decimal | int) -> str:
    return f"${cents(Decimal(usd_per_hour) * HOURS_PER_MONTH):,.2f}"
