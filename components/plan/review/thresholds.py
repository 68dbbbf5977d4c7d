"""Reasons why a review fails: findings and thresholds."""

from collections.abc import Iterator
from decimal import Decimal

from ..costs.bill import HOURS_PER_MONTH
from .review import Thresholds
from .snapshot import FindingState, Snapshot

_COUNTED = {"error": ("error",), "warning": ("error", "warning")}


def failures(head: Snapshot, thresholds: Thresholds) -> tuple[str, ...]:
    """Return the reasons why a review fails; empty if it passes."""
    reasons = []
    if head.failed:
        reasons.append("no plan could be made")  # the verdict gives the reasons
    for severity in _COUNTED[thresholds.fail_on]:
        number = sum(finding.severity == severity for finding in counted(head))
        if number:
            reasons.append(f"{number} {severity}{'s' * (number > 1)}")
    if thresholds.max_monthly_usd is not None and not head.absent:
        reasons += _costs(head, thresholds.max_monthly_usd)
    if thresholds.max_gpus is not None and accelerators_at_most(head) > thresholds.max_gpus:
        reasons.append(
            f"{accelerators_at_most(head)} accelerators with all autoscalers at their maximum, more than "
            f"{thresholds.max_gpus} (--max-gpus)"
        )
    if thresholds.strict:
        reasons += dict.fromkeys(
            f"{model.title}: memory not checked: {verdict.reason} (--strict)"
            for model in head.models
            for verdict in model.verdicts.values()
            if verdict.is_missing
        )
    return tuple(reasons)


def counted(snapshot: Snapshot) -> Iterator[FindingState]:
    """Yield the findings that are not ignored."""
    return (finding for finding in snapshot.findings if not finding.ignored)


def accelerators_at_most(snapshot: Snapshot) -> int:
    """Count the accelerators with all autoscalers at their maximum."""
    return sum(workload.replicas[2] * workload.accelerators for workload in snapshot.workloads)


def _costs(head: Snapshot, most: Decimal) -> Iterator[str]:
    """Report costs above the limit, or unknown ones, which do not count as zero."""
    limit = f"${most:,.2f} (--max-monthly-usd)"
    # Without a region, the bill of a real cluster has no prices, as if it were free of charge.
    if head.bill is None or not (head.bill.region or head.simulated):
        yield f"the costs are unknown, so they cannot be compared with {limit}"
        return
    monthly = head.bill.usd_per_hour.most * HOURS_PER_MONTH
    if monthly > most:
        yield f"${monthly:,.2f} a month with all autoscalers at their maximum, more than {limit}"
    elif head.bill.unpriced:
        items = "; ".join(f"{item.name}: {item.unpriced or 'no price'}" for item in head.bill.unpriced)
        yield f"${monthly:,.2f} a month without the items that have no price, so it may exceed {limit}: {items}"
