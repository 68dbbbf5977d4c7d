"""Limits of figures under a trace of requests, and what a report says of them."""

from dataclasses import replace

import pytest

from components.plan.review.compare import review
from components.plan.review.review import Review, Thresholds
from components.plan.review.snapshot import Snapshot
from components.plan.review.traffic import (
    Figure,
    TrafficComparison,
    TrafficFigures,
    TrafficLimit,
    exceeded,
    parse_limit,
)
from tests.plan.review.formats.samples import TRAFFIC, WHOLE
from workbench.planning.formats import ReviewFormat, write
from workbench.planning.wording.traffic import traffic_lines, traffic_notes, traffic_summary

LIMITS = {
    "ttft-p99=2s": (Figure.TTFT_P99, 2.0, False, False),
    "ttft-p50=300ms": (Figure.TTFT_P50, 0.3, False, False),
    "itl-p99=+5ms": (Figure.ITL_P99, 0.005, True, False),
    "itl-p50=+20%": (Figure.ITL_P50, 20.0, True, True),
    "lost=0.1%": (Figure.LOST, 0.1, False, False),
    "lost=+1%": (Figure.LOST, 1.0, True, False),
    "usd-day=400": (Figure.USD_DAY, 400.0, False, False),
    "usd-day=+40.5": (Figure.USD_DAY, 40.5, True, False),
    "usd-day=+10%": (Figure.USD_DAY, 10.0, True, True),
}


@pytest.mark.parametrize("text", LIMITS)
def test_limits(text: str) -> None:
    assert parse_limit(text) == TrafficLimit(*LIMITS[text], text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("warn", "must be error, warning or a limit of ttft-p50, ttft-p99, itl-p50, itl-p99, lost, usd-day"),
        ("ttft-p98=2s", "must be error, warning or a limit of"),
        ("ttft-p99", "ttft-p99: must be seconds such as 2s, 300ms or +20%, found ''"),
        ("ttft-p99=2", "found '2'"),
        ("ttft-p99=-2s", "found '-2s'"),
        ("ttft-p99=20%", "found '20%'"),
        ("lost=5", "lost: must be percent of the requests such as 0%, 0.1% or +0.5%, found '5'"),
        ("usd-day=$4", "usd-day: must be US dollars such as 400, +40 or +10%, found '$4'"),
    ],
)
def test_what_is_no_limit(text: str, told: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        parse_limit(text)
    assert told in str(refused.value)


# TTFT p99 0.9 -> 3.1 s, ITL p99 30 -> 40 ms, lost 0 -> 0.5 %, 100 -> 140 USD a day.
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ttft-p99=3.1s", ""),
        ("ttft-p99=3s", "ttft-p99 is 3.1 s, 0.9 s before, more than 3 s (--fail-on ttft-p99=3s)"),
        ("ttft-p99=+245%", ""),
        ("ttft-p99=+100%", "ttft-p99 is 3.1 s, 0.9 s before, more than 1.8 s (--fail-on ttft-p99=+100%)"),
        ("ttft-p50=+0%", ""),
        ("itl-p99=+10ms", ""),
        ("itl-p99=+9ms", "itl-p99 is 40 ms, 30 ms before, more than 39 ms (--fail-on itl-p99=+9ms)"),
        ("lost=0.5%", ""),
        ("lost=0%", "lost is 0.5 %, 0 % before, more than 0 % (--fail-on lost=0%)"),
        ("lost=+0.4%", "lost is 0.5 %, 0 % before, more than 0.4 % (--fail-on lost=+0.4%)"),
        ("usd-day=+40", ""),
        ("usd-day=+39", "usd-day is $140.00, $100.00 before, more than $139.00 (--fail-on usd-day=+39)"),
        ("usd-day=+40%", ""),
    ],
)
def test_limits_that_are_exceeded(text: str, reason: str) -> None:
    assert list(exceeded(TRAFFIC, (parse_limit(text),))) == ([reason] if reason else [])


UNKNOWN = {
    "no figures": (
        replace(TRAFFIC, after=None, unavailable="its plan has errors"),
        "ttft-p99=2s",
        "of this revision",
    ),
    "no base": (replace(TRAFFIC, before=None), "ttft-p99=+1s", "of the base"),
    "no price": (
        replace(
            TRAFFIC, after=replace(TRAFFIC.after or TrafficFigures(0, 0, None, None, None, None, 0), usd_per_day=None)
        ),
        "usd-day=500",
        "of this revision",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_figure_exceeds_its_limit(name: str) -> None:
    """It does not count as zero."""
    traffic, text, which = UNKNOWN[name]
    (reason,) = exceeded(traffic, (parse_limit(text),))
    assert f"{which} is unknown, so its limit cannot be checked" in reason


def test_a_limit_of_the_figure_alone_needs_no_base() -> None:
    assert not [*exceeded(replace(TRAFFIC, before=None), (parse_limit("ttft-p99=4s"),))]


def test_a_review_fails_for_its_limits() -> None:
    limits = Thresholds(traffic=(parse_limit("ttft-p99=2s"), parse_limit("usd-day=500")))
    assert len(review(Snapshot("dev"), None, limits, TRAFFIC).failures) == 1
    assert not review(Snapshot("dev"), None, Thresholds(), TRAFFIC).failures
    assert not review(Snapshot("dev"), None, limits).failures


def test_the_change_in_one_sentence() -> None:
    assert traffic_summary(WHOLE) == (
        "p99 TTFT 0.9 s → 3.1 s, p99 ITL 30 ms → 40 ms, lost 0 % → 0.5 %, +$40.00 a day"
    )
    alone = replace(WHOLE, traffic=replace(TRAFFIC, before=None))
    assert traffic_summary(alone) == "p99 TTFT 3.1 s, p99 ITL 40 ms, lost 0.5 %, $140.00 a day"


def test_the_figures_of_each_model() -> None:
    lines = {line.name: line.cells for line in traffic_lines(WHOLE)}
    assert lines == {
        "all models": (
            "1,000", "0 % → 0.5 %", "0.2 s", "0.9 s → 3.1 s", "20 ms", "30 ms → 40 ms", "24.0 → 34.0",
            "$100.00 → $140.00",
        ),
        "chat": ("900", "0 % → 0.556 %", "0.2 s", "0.9 s → 3.1 s", "20 ms", "30 ms → 40 ms", "20.0 → 30.0", "-"),
        "embed": ("100", "0 %", "0.1 s", "0.2 s", "-", "-", "4.0", "-"),
    }  # fmt: skip
    assert list(traffic_notes(WHOLE)) == [
        "vectors is not simulated: it serves embeddings",
        "Prefix caches are not simulated.",
    ]


@pytest.mark.parametrize("form", [ReviewFormat.TEXT, ReviewFormat.MARKDOWN, ReviewFormat.HTML])
def test_every_format_has_them(form: ReviewFormat) -> None:
    text = write(WHOLE, form)
    assert "0.9 s → 3.1 s" in text
    assert "+$40.00 a day" in text.replace("\\", "")
    without = write(replace(WHOLE, traffic=None), form)
    assert "a day" not in without


def test_a_change_of_nothing_else_is_still_compared() -> None:
    nothing = Review(Snapshot("dev"), Snapshot("dev"), traffic=TrafficComparison(60.0, TRAFFIC.before, TRAFFIC.after))
    assert "0.9 s → 3.1 s" in write(nothing, ReviewFormat.TEXT)
    assert "0.9 s → 3.1 s" in write(nothing, ReviewFormat.MARKDOWN)
