"""Check the monthly cost of a stack."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .nodes import machine_types
from .values import UNKNOWN, GuardedResource, Violation

STACK = "pulumi:pulumi:Stack"
FLEET = "inference-platform:index:ModelFleet"
_NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
_HOURS = 730
"""Hours of a month, as in AWS's own estimates."""
_COUNTS = {"now": "desiredSize", "min": "minSize", "max": "maxSize"}


def over_budget(
    subjects: Sequence[GuardedResource], most: float, when: str, prices: Mapping[str, float]
) -> Iterator[Violation]:
    """Report a stack that exceeds its budget, or whose cost is unknown.

    The cost is the output ``cost`` of the stack or of its fleets; without one, the node groups alone are counted, at
    the given prices. A stack with neither fleet nor node groups passes.

    Args:
        subjects: All resources of the stack.
        most: Maximum in US dollars per month.
        when: Number of replicas: ``now``, ``min`` or ``max``.
        prices: US dollars per hour by instance type.
    """
    outputs = _cost_outputs(subjects)
    if outputs:
        yield from _outputs_over_budget(outputs, most, when)
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
        message = _over_budget_message(total, most, when)
        yield Violation("", f"{message}: nodes alone, by the prices of the policy's usdPerHour")


def _cost_outputs(subjects: Sequence[GuardedResource]) -> list[tuple[GuardedResource, Mapping[str, Any]]]:
    """Return the output ``cost`` of the stack; without one, those of its fleets."""
    for kind in (STACK, FLEET):
        outputs = [(subject, subject.at("cost")) for subject in subjects if subject.type == kind]
        costs = [(subject, cost) for subject, cost in outputs if isinstance(cost, Mapping) and "usdPerMonth" in cost]
        if costs:
            return costs
    return []


def _outputs_over_budget(
    outputs: Sequence[tuple[GuardedResource, Mapping[str, Any]]], most: float, when: str
) -> Iterator[Violation]:
    costs = [cost["usdPerMonth"] for _, cost in outputs]
    values = [cost.get(when) for cost in costs if isinstance(cost, Mapping)]
    amounts = [float(value) for value in values if isinstance(value, (int, float))]
    if len(amounts) < len(outputs):
        return  # unknown in a preview; the deployment runs the check again
    total = sum(amounts)
    unpriced = [str(name) for _, cost in outputs for name in cost.get("unpriced") or () if name is not UNKNOWN]
    if total > most:
        without = f", and without a price: {', '.join(unpriced)}" if unpriced else ""
        yield Violation(outputs[0][0].urn, f"{_over_budget_message(total, most, when)}{without}")


def _over_budget_message(total: float, most: float, when: str) -> str:
    return (
        f"cost.usdPerMonth.{when} is {total:,.2f} USD; allowed: {most:,.2f} USD a month; choose smaller instance "
        "types, fewer replicas or spot capacity, or raise maxUsdPerMonth"
    )


def _count(group: GuardedResource, when: str) -> float | None:
    count = group.at(f"scalingConfig.{_COUNTS[when]}")
    return count if isinstance(count, (int, float)) else None


def _price(group: GuardedResource, prices: Mapping[str, float]) -> float | None:
    """Return the price of a group's most expensive instance type; None if the price of any type is unknown."""
    hourly = [prices.get(name) for _, name in machine_types(group)]
    return max(price for price in hourly if price is not None) if hourly and None not in hourly else None
