"""When a review ends with an exit code."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.checks.memory.cases import NO_ACCELERATOR, Fit, MemoryVerdict
from components.plan.costs.bill import Amounts, Bill, CostItem, CostKind, UnitPrice
from components.plan.review.review import Thresholds
from components.plan.review.snapshot import ServedModel, Snapshot
from components.plan.review.thresholds import failures
from tests.plan.review.revisions import deployment, finding, revision, workload

ONE = Decimal(1)
NODE = CostItem("nodes", CostKind.NODES, Amounts(ONE, ONE, Decimal(3)), UnitPrice(ONE, ONE, ONE, "a source"))
"""730 dollars a month now, and 2190 at most."""
UNPRICED = CostItem(
    "NAT gateways", CostKind.NETWORK, Amounts(ONE, ONE, ONE), None, unpriced="no price in mx-central-1"
)
GROUPS = revision(workload(deployment(), replicas=(1, 1, 4), accelerators=2))
"""2 accelerators now, 8 at most."""


def bill(*items: CostItem) -> Snapshot:
    return replace(GROUPS, bill=Bill("us-east-1", "2026-07-20", items))


CLUSTER = replace(GROUPS, bill=Bill("", ""))
"""A cluster that is there, which costs what nobody knows."""


@pytest.mark.parametrize(
    ("head", "thresholds", "expected"),
    [
        (GROUPS, Thresholds(), []),
        (replace(GROUPS, findings=(finding(), finding("x"))), Thresholds(), ["2 errors"]),
        (replace(GROUPS, findings=(replace(finding(), ignored="why"),)), Thresholds(), []),
        (replace(GROUPS, findings=(finding(severity="warning"),)), Thresholds(), []),
        (replace(GROUPS, findings=(finding(severity="warning"),)), Thresholds("warning"), ["1 warning"]),
        (replace(GROUPS, findings=(finding(severity="note"),)), Thresholds("warning"), []),
        (replace(GROUPS, failed="bad settings"), Thresholds(), ["no plan could be made"]),
        (GROUPS, Thresholds(max_gpus=8), []),
        (GROUPS, Thresholds(max_gpus=7), ["8 accelerators", "more than 7"]),
        (bill(NODE), Thresholds(max_monthly_usd=Decimal(2190)), []),
        (bill(NODE), Thresholds(max_monthly_usd=Decimal("2189.99")), ["$2,190.00 a month", "$2,189.99"]),
        (bill(NODE, UNPRICED), Thresholds(max_monthly_usd=Decimal(9999)), ["NAT gateways: no price in mx-central-1"]),
        (bill(NODE, UNPRICED), Thresholds(max_monthly_usd=Decimal(1)), ["more than $1.00"]),
        (GROUPS, Thresholds(max_monthly_usd=Decimal(9999)), ["unknown"]),
        (bill(), Thresholds(max_monthly_usd=Decimal(0)), []),
        (CLUSTER, Thresholds(max_monthly_usd=Decimal(9999)), ["unknown"]),
        (replace(CLUSTER, simulated=True), Thresholds(max_monthly_usd=Decimal(0)), []),
    ],
)
def test_what_ends_a_review(head: Snapshot, thresholds: Thresholds, expected: list[str]) -> None:
    found = failures(head, thresholds)
    assert len(found) == bool(expected)
    assert all(part in found[0] for part in expected)


@pytest.mark.parametrize(
    ("fit", "reason", "expected"),
    [
        (Fit.UNKNOWN, "unknown model x", ("Playground/p: memory not checked: unknown model x (--strict)",)),
        (Fit.UNKNOWN, NO_ACCELERATOR, ()),
        (Fit.FITS, "left", ()),
    ],
)
def test_models_that_are_not_checked(fit: Fit, reason: str, expected: tuple[str, ...]) -> None:
    verdicts = {"Deployment models/p": MemoryVerdict(fit, reason), "Deployment models/q": MemoryVerdict(fit, reason)}
    model = ServedModel("Playground/p", "models", "m", "", (), (1, 1, 1), (1, 1, 1), (), verdicts)
    head = replace(GROUPS, models=(model,))
    assert failures(head, Thresholds(strict=True)) == expected
    assert failures(head, Thresholds()) == ()


def test_why_there_is_no_plan_is_told_by_the_verdict_alone() -> None:
    assert failures(replace(GROUPS, failed="bad\nsettings"), Thresholds()) == ("no plan could be made",)


def test_each_reason_is_told() -> None:
    head = replace(bill(NODE), findings=(finding(), finding(severity="warning")))
    assert len(failures(head, Thresholds("warning", Decimal(1), 1))) == 4
