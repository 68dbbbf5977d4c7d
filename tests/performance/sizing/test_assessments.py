"""Several accelerators side by side: costs of the vectors of WVA spec 8.10, order, uncertainty, prefill."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.fleet.levels import LatencyTargets, Load
from components.performance.sizing.accelerators import AcceleratorPrice
from components.performance.sizing.assessments import Assessment, Candidate, Question, assessed, reference_candidates
from components.performance.sizing.cases import Profile
from components.performance.sizing.reference import ReferenceProfile, ReferenceSource

SAMPLE = LatencyTargets(itl_ms=24, ttft_ms=500)


def candidate(name: str, alpha: float, beta: float, batch: int, cents: str | None, count: int = 1) -> Candidate:
    price = None if cents is None else AcceleratorPrice(Decimal(cents), "here")
    return Candidate(Profile(name, count, alpha, beta, batch), "here", batch, price=price)


A100 = candidate("A100", 20.58, 0.41, 4, "40")
MI300X = candidate("MI300X", 7.77, 0.15, 4, "65")
G2 = candidate("G2", 17.15, 0.34, 4, "23")
SLOW = candidate("SLOW", 50, 0.15, 4, "1")


def question(rate: str, tokens: str = "178", targets: LatencyTargets = SAMPLE, prefill_ms: int = 0) -> Question:
    return Question(targets, Load(Decimal(rate), Decimal(tokens)), prefill_ms)


def by_name(found: tuple[Assessment, ...]) -> dict[str, Assessment]:
    return {each.candidate.profile.accelerator: each for each in found}


# WVA spec 8.10, rows 1 to 5; costs in cents an hour with 40, 65 and 23 for each.
VECTORS = {
    "40": {"A100": (2, 80), "MI300X": (1, 65), "G2": (2, 46)},
    "100": {"A100": (4, 160), "MI300X": (2, 130), "G2": (4, 92)},
    "200": {"A100": (8, 320), "MI300X": (3, 195), "G2": (7, 161)},
}


@pytest.mark.parametrize("rate", VECTORS)
def test_replicas_and_costs_are_those_of_the_vectors(rate: str) -> None:
    found = assessed(question(rate), [A100, MI300X, G2, SLOW])
    feasible = {name: each for name, each in by_name(found).items() if each.sized.is_feasible}
    assert {name: (each.sized.replicas, each.cents_per_hour) for name, each in feasible.items()} == VECTORS[rate]
    assert [each.candidate.profile.accelerator for each in found if each.chosen] == ["G2"]


def test_accelerators_of_a_replica_cost_as_many_times() -> None:
    """WVA spec 8.10: 27.41/0.707 with a batch of 5, n 5, four accelerators at 40 cents: 800."""
    four = candidate("A100", 27.41, 0.707, 5, "40", count=4)
    (found,) = assessed(question("30", "512", LatencyTargets(80, 500)), [four])
    assert (found.sized.replicas, found.cents_per_hour) == (5, 800)


def test_months_and_tokens() -> None:
    """80 cents an hour are 584 USD for 730 hours; 40 answers a minute with 178 tokens are 427,200 an hour."""
    (found,) = assessed(question("40"), [A100])
    assert found.usd_per_month == pytest.approx(584)
    assert found.usd_per_million_tokens == pytest.approx(0.80 / 0.4272)


def test_the_order_is_that_of_costs_then_of_names() -> None:
    unknown = candidate("ZZ", 7.77, 0.15, 4, None)
    tie = candidate("B", 17.15, 0.34, 4, "23")
    twins = [SLOW, unknown, A100, candidate("FAST", 50, 0.15, 4, None), G2, tie, MI300X]
    names = ["B", "G2", "MI300X", "A100", "ZZ", "SLOW", "FAST"]
    for order in (twins, twins[::-1]):
        found = assessed(question("40"), order)
        assert [each.candidate.profile.accelerator for each in found[:5]] == names[:5]
        assert {each.candidate.profile.accelerator for each in found[5:]} == {"SLOW", "FAST"}
        assert [each.chosen for each in found] == [True] + [False] * 6


def test_without_a_price_nothing_is_the_cheapest() -> None:
    found = assessed(question("40"), [candidate("ZZ", 7.77, 0.15, 4, None), SLOW])
    assert [each.chosen for each in found] == [False, False]
    assert found[0].sized.is_feasible
    assert (found[0].usd_per_month, found[0].usd_per_million_tokens) == (None, None)


def test_what_keeps_no_promise_costs_nothing_that_could_be_named() -> None:
    (found,) = assessed(question("40"), [SLOW])
    assert not found.chosen
    assert (found.cents_per_hour, found.usd_per_month, found.usd_per_million_tokens) == (None, None, None)
    assert found.ttft_p95_ms is None
    assert "50.15 ms" in found.sized.reason


def test_without_load_there_is_no_price_per_token() -> None:
    (found,) = assessed(question("0"), [A100])
    assert (found.sized.replicas, found.cents_per_hour, found.usd_per_million_tokens) == (1, 40, None)


class TestPrefill:
    def test_it_takes_from_the_budget_and_is_part_of_what_is_predicted(self) -> None:
        (found,) = assessed(question("40", prefill_ms=100), [A100])
        (same,) = assessed(question("40", targets=LatencyTargets(24, 400)), [A100])
        assert found.sized == same.sized
        assert found.ttft_p95_ms == pytest.approx((same.ttft_p95_ms or 0) + 100)

    def test_that_of_the_profile_counts_with_the_prompts_of_the_load(self) -> None:
        profile = replace(A100.profile, gamma=50.0, delta=0.05)
        asked = question("40")
        asked = replace(asked, load=asked.load._replace(input_tokens=Decimal(512)), prefill_ms=None)
        (found,) = assessed(asked, [replace(A100, profile=profile)])
        behaviour = found.sized.behaviour
        assert behaviour
        assert found.has_prefill
        assert found.ttft_p95_ms == behaviour.wait_p95_ms + behaviour.prefill_ms > behaviour.wait_p95_ms + 50
        (given,) = assessed(replace(asked, prefill_ms=100), [replace(A100, profile=profile)])
        assert given.sized.behaviour
        assert given.sized.behaviour.prefill_ms == 0, "the measured time takes its place"
        (without,) = assessed(replace(question("40"), prefill_ms=None), [replace(A100, profile=profile)])
        assert not without.has_prefill

    def test_where_nothing_is_promised_it_takes_nothing(self) -> None:
        free = LatencyTargets(24, 0)
        (found,) = assessed(question("40", targets=free, prefill_ms=100), [A100])
        (same,) = assessed(question("40", targets=free), [A100])
        assert found.sized == same.sized


SOURCE = ReferenceSource("somewhere", "2025-07-29", measured=False, tokens=512, doubt="nobody knows")
PUBLISHED = Profile("A100", 1, 11.69, 0.63, 64)
REFERENCE = ReferenceProfile("llama-7b", PUBLISHED, replace(PUBLISHED, beta=0.063, batch=128), PUBLISHED, SOURCE)


class TestReference:
    @pytest.mark.parametrize(
        ("given", "answered", "batch", "fastest"),
        [
            ("256", "256", 64, 128),  # as published
            ("512", "512", 32, 64),
            ("1000", "500", 21, 43),  # 64 * 512 / 1500 = 21.8, 128 * 512 / 1500 = 43.7
            ("0", "128", 256, 512),
            ("100000", "1", 1, 1),  # never less than one
            ("0", "0", 64, 128),
        ],
    )
    def test_batches_are_those_for_the_requests(self, given: str, answered: str, batch: int, fastest: int) -> None:
        load = Load(Decimal(60), Decimal(answered), Decimal(given))
        (found,) = reference_candidates([REFERENCE], load)
        assert (found.profile.batch, found.batch, found.tokens) == (batch, 64, 512)
        assert found.is_scaled == (batch != 64)
        assert found.ends
        assert [each.batch for each in found.ends] == [fastest, batch]
        assert [each.beta for each in found.ends] == [0.063, 0.63]

    def test_where_nobody_says_for_which_requests_batches_stay(self) -> None:
        measured = replace(REFERENCE, source=replace(SOURCE, tokens=None))
        (found,) = reference_candidates([measured], Load(Decimal(60), Decimal(4000)))
        assert (found.profile.batch, found.is_scaled) == (64, False)

    def test_both_ends_are_sized(self) -> None:
        load = Load(Decimal(480), Decimal(512), Decimal(512))
        (candidate,) = reference_candidates([REFERENCE], load)
        priced = replace(candidate, price=AcceleratorPrice(Decimal(100), "here"))
        (found,) = assessed(Question(LatencyTargets(30, 1000), load), [priced])
        assert found.ends
        alone = [
            assessed(Question(LatencyTargets(30, 1000), load), [replace(priced, profile=end, ends=None)])[0]
            for end in candidate.ends or ()
        ]
        assert [each.sized for each in alone] == list(found.ends)
        assert [each.usd_per_month for each in alone] == list(found.usd_per_month_ends)
        low, high = found.ends
        assert low.replicas < high.replicas == found.sized.replicas

    def test_what_is_not_doubted_has_one_price(self) -> None:
        (found,) = assessed(question("40"), [A100])
        assert found.usd_per_month_ends == (found.usd_per_month, found.usd_per_month)

    @pytest.mark.parametrize(("itl_ms", "feasible"), [(13, True), (12, False), (0, True)])
    def test_one_at_once_is_as_fast_under_any_load(self, itl_ms: int, feasible: bool) -> None:
        """11.69 + 0.63 ms a token: requests of 100,000 tokens leave room for one."""
        load = Load(Decimal("0.1"), Decimal(100), Decimal(100_000))
        candidates = reference_candidates([REFERENCE], load)
        question = Question(LatencyTargets(itl_ms, 60_000), load)
        (found,) = assessed(question, candidates)
        assert found.candidate.profile.batch == 1
        assert found.sized.is_feasible == feasible
        if feasible:
            assert found.sized.behaviour
            assert found.sized.behaviour.itl_ms == pytest.approx(12.32)
        # Somebody who says so of all requests has not measured beta.
        own = replace(candidates[0], tokens=None, ends=None)
        assert assessed(question, [own])[0].sized.is_feasible == (itl_ms == 0)
