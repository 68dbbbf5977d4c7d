"""What keeps a variant from being sized natively, each with what to do about it."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.fleet.levels import Load, ServiceLevels
from tests.families.llmd import support
from tests.families.llmd.support import Object, bounds, fleet, levels, per_minute, profile, told, variant
from tests.fleets import errors
from tests.seen import texts


class TestMissing:
    """Everything that is missing is told at once, each with what to add."""

    def test_all_of_it(self) -> None:
        problems = told(variant(accelerator=None), levels=ServiceLevels())
        assert sorted(path for _, path, _ in problems) == [
            "metadata.labels",
            "metadata.name",
            "metadata.name",
            "spec.modelID",
        ]

    def test_a_load(self) -> None:
        nothing = ServiceLevels(levels().classes)
        ((_, path, reason),) = told(*support.of_llmkube(), variant(), levels=nothing)
        assert path == "metadata.name"
        assert "set serviceLevels.loads: {ns/chat: {requestsPerMinute: 120, outputTokens: 200}}" in reason


class TestRefused:
    def test_a_promise_that_cannot_be_kept(self) -> None:
        """A token of a request that is alone takes less than the 24 ms promised, and just not under any load."""
        ((_, path, reason),) = told(*support.of_llmkube(), variant("chat", profile(alpha="23", beta="0.9999")))
        assert path == "spec.modelProfile.accelerators[0]"
        assert reason.startswith("cannot be sized for serviceLevels.loads[chat] and class 'Premium' on 'L4': a token")
        assert "above the target of 24 ms" in reason

    @pytest.mark.parametrize(
        ("load", "reason"),
        [
            (per_minute(0), "the peak load must be above 0 requests a minute, found 0"),
            (per_minute(10, output=0.9), "answers must have at least one token, found 0.9"),
            (
                per_minute(10, 20),
                "the minimum load must be between 0 and the peak load, found 20 of 10 requests a minute",
            ),
        ],
    )
    def test_a_load_of_nothing(self, load: Load, reason: str) -> None:
        ((_, path, found),) = told(*support.of_llmkube(), variant(), levels=levels(load))
        assert (path, found) == (
            "metadata.name",
            f"{reason} in serviceLevels.loads[chat]; correct it, or set serviceLevels.loads",
        )

    def test_more_replicas_than_there_can_be(self) -> None:
        ((_, path, reason),) = told(*support.of_llmkube(), variant(), levels=levels(per_minute(1e15)))
        assert path == "spec.modelProfile.accelerators[0]"
        assert "2147483647 replicas" in reason


def observed(rate: str, length: str) -> Object:
    return {
        "currentAlloc": {
            "accelerator": "L4",
            "numReplicas": 1,
            "maxBatch": 256,
            "variantCost": "80.48",
            "itlAverage": "21.00",
            "waitAverage": "10.00",
            "load": {"arrivalRate": rate, "avgLength": length},
        }
    }


@given(
    rate=texts(8) | st.decimals().map(str) | st.just("9" * 400),
    length=texts(8) | st.decimals().map(str) | st.just("9" * 400),
)
def test_whatever_a_status_says_is_used_or_refused(rate: str, length: str) -> None:
    """Status texts have no rule: nothing of them ends in a traceback, or in bounds that make no sense."""
    document = variant(status=observed(rate, length))
    found = fleet(*support.of_llmkube(), document, levels=ServiceLevels(levels().classes))
    if not errors(found):
        least, most = bounds(found)
        assert 1 <= least <= most < 2**31


@given(rate=st.decimals(), length=st.decimals(), least=st.decimals())
@example(rate=Decimal(1), length=Decimal(1), least=Decimal(-1))
def test_whatever_is_asked_is_planned_or_refused(rate: Decimal, length: Decimal, least: Decimal) -> None:
    """Programs hand over what settings would not take."""
    load = Load(rate, length, least_per_minute=least)
    found = fleet(*support.of_llmkube(), variant(), levels=levels(load))
    if not errors(found):
        low, high = bounds(found)
        assert 1 <= low <= high < 2**31


class TestObserved:
    """Where settings say nothing, what the controller observed once is what is asked."""

    def test_counts(self) -> None:
        document = variant(status=observed("200.00", "178.00"))
        found = fleet(*support.of_llmkube(), document, levels=ServiceLevels(levels().classes))
        assert bounds(found) == (1, 8)

    def test_settings_go_first(self) -> None:
        found = fleet(*support.of_llmkube(), variant(status=observed("200.00", "178.00")))
        assert bounds(found) == (1, 2)

    @pytest.mark.parametrize(
        ("rate", "length", "path"),
        [
            ("0.00", "178.00", "status.currentAlloc.load"),
            ("200.00", "0.00", "status.currentAlloc.load"),
            ("many", "178.00", "status.currentAlloc.load.arrivalRate"),
            ("NaN", "178.00", "status.currentAlloc.load.arrivalRate"),
            ("inf", "178.00", "status.currentAlloc.load.arrivalRate"),
            ("200.00", "", "status.currentAlloc.load.avgLength"),
            ("200.00", "${X}", "status.currentAlloc.load.avgLength"),
            ("200.00\n", "178.00", "status.currentAlloc.load.arrivalRate"),
            ("1_000", "178.00", "status.currentAlloc.load.arrivalRate"),
            ("-5", "178.00", "status.currentAlloc.load.arrivalRate"),
        ],
    )
    def test_nonsense_is_refused(self, rate: str, length: str, path: str) -> None:
        document = variant(status=observed(rate, length))
        problems = told(*support.of_llmkube(), document, levels=ServiceLevels(levels().classes))
        assert [found for _, found, _ in problems] == [path]
