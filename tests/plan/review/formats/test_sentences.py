"""The verdict in one sentence."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.checks.memory.cases import Fit
from components.plan.costs.bill import Amounts, Bill, CostItem, CostKind
from components.plan.review.review import ChangeKind, ModelChange, ResourceChange, Review
from components.plan.review.snapshot import FindingState, Snapshot
from tests.plan.review.formats.samples import (
    ALONE,
    HEAD,
    NOTHING,
    SETTLED,
    SOUND,
    WHOLE,
    bill,
    finding,
    model,
    verdict,
)
from workbench.planning.wording.headline import headline
from workbench.planning.wording.sentences import footnotes
from workbench.planning.wording.sentences import verdict as sentence


def changed(*kinds: ChangeKind) -> Review:
    changes = tuple(
        ResourceChange(kind, f"Service models/{place}", "t:i:Service") for place, kind in enumerate(kinds)
    )
    return replace(NOTHING, changes=changes)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("chat",), "Playground/chat is removed; "),
        (("chat", "code"), "Playground/chat and Playground/code are removed; "),
        (("a", "b", "c", "d", "e"), "Playground/a, Playground/b, Playground/c and 2 more models are removed; "),
    ],
)
def test_models_that_are_removed_are_named(names: tuple[str, ...], text: str) -> None:
    gone = tuple(ModelChange(model(name, None), None) for name in names)
    assert f"; {text}" in sentence(replace(changed(ChangeKind.DELETED), models=gone))
    # An error keeps a resource from being rendered: then it is missing in the plan, and not removed.
    wrong = replace(HEAD, findings=(finding("contract", "error", "wrong"),))
    assert "removed" not in sentence(replace(changed(ChangeKind.DELETED), models=gone, head=wrong))


def test_models_that_stay_or_move_are_not_removed() -> None:
    moved = (ModelChange(model("chat", None), model("talk", None)), ModelChange(None, model("new", None)))
    assert "removed" not in sentence(replace(changed(ChangeKind.UPDATED), models=moved))


def fitting(*fits: Fit) -> Review:
    models = tuple(model(f"m{place}", verdict(fit, 20)) for place, fit in enumerate(fits))
    return replace(ALONE, head=replace(HEAD, models=models))


@pytest.mark.parametrize(
    ("review", "text"),
    [
        (changed(ChangeKind.CREATED), "1 resource is created; "),
        (changed(ChangeKind.UPDATED, ChangeKind.UPDATED), "2 resources are updated; "),
        (changed(ChangeKind.DELETED, ChangeKind.UPDATED), "2 resources change (1 updated, 1 deleted); "),
        (fitting(Fit.FITS), "; the model fits its GPUs; "),
        (fitting(Fit.TIGHT), "; the model fits its GPUs tightly; "),
        (fitting(Fit.FITS, Fit.FITS), "; all 2 models fit their GPUs; "),
        (fitting(Fit.FITS, Fit.TIGHT), "; all 2 models fit their GPUs, 1 of them tightly; "),
        (fitting(Fit.FITS, Fit.UNKNOWN), "; of 2 models 1 fits and 1 is not checked; "),
        (fitting(Fit.EXCEEDED, Fit.TIGHT), "; of 2 models Playground/m0 does not fit and 1 fits tightly; "),
        (
            fitting(*[Fit.EXCEEDED] * 5),
            "; of 5 models Playground/m0, Playground/m1, Playground/m2 and 2 more do not fit; ",
        ),
        (
            SOUND,
            "$2,920.00 a month, $1,460.00 more than before (at most $4,380.00, $2,920.00 more; without file",
        ),
        (WHOLE, "; 2 replicas restart; "),
        (WHOLE, "; 1 new error, 1 existing warning and 1 error fixed."),
        (ALONE, "; 1 error and 1 warning."),
        (replace(ALONE, head=SETTLED), "0 resources planned; "),
        (replace(SOUND, head=replace(SETTLED, bill=bill("1", "1"))), "$730.00 a month, $730.00 less than before ("),
        (
            replace(ALONE, head=Snapshot("dev", failed="settings cannot be read")),
            "Planning failed: settings cannot",
        ),
        (
            replace(ALONE, head=Snapshot("dev", failed="a: unknown key\n  b: unknown key\n")),
            "Planning failed: a: unknown key; b: unknown key",
        ),
        (replace(WHOLE, head=SETTLED), "No comparison, because the base has errors; "),
        (
            replace(WHOLE, head=SETTLED, base=Snapshot("dev", failed="x")),
            "No comparison, because the base could not be pl",
        ),
        (replace(WHOLE, head=SETTLED, base=Snapshot("dev", absent=True)), "A new environment of 0 resources; "),
    ],
)
def test_a_verdict_says(review: Review, text: str) -> None:
    assert text in sentence(review), sentence(review)


def test_nothing_is_said_in_two_words() -> None:
    assert sentence(NOTHING) == "Nothing changes."


def test_figures_are_said_to_be_estimates_with_region_date_and_kind() -> None:
    text = " ".join(footnotes(WHOLE))
    for part in ("estimate", "us-east-1", "2026-08-01", "730 hours", "spot", "file system (no price in this region)"):
        assert part in text


def test_an_environment_that_is_not_paid_for_has_no_costs() -> None:
    free = replace(WHOLE, head=replace(HEAD, bill=None), base=replace(SETTLED, bill=None))
    assert "month" not in sentence(free)
    assert not any("price" in note for note in footnotes(free))


def unknown_flags(*names: str, severity: str = "warning", ignored: str = "") -> Review:
    findings = tuple(
        FindingState("flags-unknown", severity, "m.yaml", place, "Playground", name, "spec.args[0]", "x", ignored)
        for place, name in enumerate(names)
    )
    return replace(ALONE, head=replace(HEAD, findings=findings))


@pytest.mark.parametrize(
    ("review", "text"),
    [
        (unknown_flags("a"), "; Playground/a may not start, because of an unknown flag; "),
        (unknown_flags("a", "a"), "; Playground/a may not start, because of unknown flags; "),
        (unknown_flags("a", "b"), "; Playground/a and Playground/b may not start, because of unknown flags; "),
        (unknown_flags(*"abcde"), "Playground/a, Playground/b, Playground/c and 2 more may not start, because of"),
    ],
)
def test_a_flag_that_may_stop_an_engine_is_in_the_verdict(review: Review, text: str) -> None:
    assert text in sentence(review), sentence(review)


@pytest.mark.parametrize("review", [unknown_flags("a", severity="error"), unknown_flags("a", ignored="our image")])
def test_an_error_and_what_is_ignored_are_not_doubtful(review: Review) -> None:
    assert "may not start" not in sentence(review)


def bill_without(*names: str, now: str = "1") -> Bill:
    """Return a bill with nodes of one dollar an hour, and items without a price."""
    priced = bill(now, now)
    nodes = priced.items[0]
    counts = Amounts(Decimal(1), Decimal(1), Decimal(1))
    items = (CostItem(name, CostKind.NODES, counts, None, "no dated price in us-east-1") for name in names)
    return replace(priced, items=(nodes, *items))


@pytest.mark.parametrize(
    ("before", "after", "shown", "hidden"),
    [
        # Nodes with a price give way to a Capacity Block without one.
        (bill_without(now="3"), bill_without("block"), "the difference is unknown", "less"),
        (bill_without(now="3"), bill_without("block"), "without block (price unknown)", "less"),
        (bill_without("block"), bill_without(now="3"), "the difference is unknown", "more than before"),
        (bill_without("block"), bill_without(), "the difference is unknown", "unchanged"),
        # What has no price before and after is no part of the difference.
        (bill_without("NAT gateways", now="3"), bill_without("NAT gateways"), "less", "the difference is unknown"),
        (bill_without("a"), bill_without("a", "b"), "without a and b (prices unknown)", "unchanged"),
        (bill_without("a"), bill_without(*"abcd"), "without a, b and 2 more (prices unknown)", "unchanged"),
        (bill_without(now="3"), bill_without(), "less", "unknown)"),
    ],
)
def test_a_difference_leaves_out_no_unknown_price(before: Bill, after: Bill, shown: str, hidden: str) -> None:
    compared = replace(SOUND, head=replace(SETTLED, bill=after), base=replace(SETTLED, bill=before))
    for line in (sentence(compared), headline(compared)):
        assert shown in line
        assert hidden not in line
