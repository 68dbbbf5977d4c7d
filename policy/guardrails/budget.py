"""What a stack may cost a month."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .nodes import machine_types
from .values import UNKNOWN, GuardedResource, Violation

STACK = "pulumi:pulumi:Stack"
FLEET = "inference-platform:index:ModelFleet"
_NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
_HOURS = 730
"""Of a month, as in AWS's own estimates."""
_COUNTS = {"now": "desiredSize", "min": "minSize", "max": "maxSize"}


def over_budget(
    subjects: Sequence[GuardedResource], most: float, when: str, prices: Mapping[str, float]
) -> Iterator[Violation]:
    """Yield that a stack costs too much, or that nobody knows what it costs.

    What it costs is the stack's output ``cost``, or that of its fleets; where there is none, its node groups alone
    are counted, with the given prices. A budget that cannot be checked is not kept; a stack with neither fleet nor
    node groups needs none.

    Args:
        subjects: All resources of the stack.
        most: US dollars a month.
        when: ``now``, ``min`` or ``max``: with which number of replicas.
        prices: US dollars an hour by instance type.
    """
    stated = _stated(subjects)
    if stated:
        yield from _compared(stated, most, when)
        return
    groups = [subject for subject in subjects if subject.type == _NODE_GROUP]
    counted = [(group, _count(group, when), _price(group, prices)) for group in groups]
    unknown = [group.name for group, count, price in counted if count is None or price is None]
    fleets = any(subject.type == FLEET for subject in subjects)
    if unknown or (fleets and not groups):
        reason = f"no price of {', '.join(unknown)}" if unknown else "no node groups either"
        step = "export the output `cost` of ModelFleet as `cost`, or give usdPerHour for the instance types"
        yield Violation(
            "", f"cost cannot be compared with {most:,.2f} USD a month: no output `cost`, and {reason}; {step}"
        )
        return
    total = sum((count or 0) * (price or 0) for _, count, price in counted) * _HOURS
    if total > most:
        text = _too_much(total, most, when)
        yield Violation("", f"{text}: nodes alone, by the prices of the policy's usdPerHour")


def _stated(subjects: Sequence[GuardedResource]) -> list[tuple[GuardedResource, Mapping[str, Any]]]:
    """Return the costs that the stack says; those of its fleets where it does not."""
    for kind in (STACK, FLEET):
        found = [(each, each.at("cost")) for each in subjects if each.type == kind]
        costs = [(each, cost) for each, cost in found if isinstance(cost, Mapping) and "usdPerMonth" in cost]
        if costs:
            return costs
    return []


def _compared(
    stated: Sequence[tuple[GuardedResource, Mapping[str, Any]]], most: float, when: str
) -> Iterator[Violation]:
    months = [cost["usdPerMonth"] for _, cost in stated]
    found = [month.get(when) for month in months if isinstance(month, Mapping)]
    amounts = [float(each) for each in found if isinstance(each, (int, float))]
    if len(amounts) < len(stated):
        return  # not known before the deployment, which looks again
    total = sum(amounts)
    missing = [str(name) for _, cost in stated for name in cost.get("unpriced") or () if name is not UNKNOWN]
    if total > most:
        without = f", and without a price: {', '.join(missing)}" if missing else ""
        yield Violation(stated[0][0].urn, f"{_too_much(total, most, when)}{without}")


def _too_much(total: float, most: float, when: str) -> str:
    return (
        f"cost.usdPerMonth.{when} is {total:,.2f} USD; allowed: {most:,.2f} USD a month; choose smaller instance "
        "types, fewer replicas or spot capacity, or raise maxUsdPerMonth"
    )


def _count(group: GuardedResource, when: str) -> float | None:
    found = group.at(f"scalingConfig.{_COUNTS[when]}")
    return found if isinstance(found, (int, float)) else None


def _price(group: GuardedResource, prices: Mapping[str, float]) -> float | None:
    """Return the price of the dearest type that a group may start."""
    found = [prices.get(name) for _, name in machine_types(group)]
    return max(price for price in found if price is not None) if found and None not in found else None
