"""The model of queues: the vectors of the spec, and its equations written down plainly."""

import itertools
import math
from dataclasses import astuple, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.fleet.levels import LatencyTargets
from components.performance.sizing.arrays.roots import Floats, Rows
from components.performance.sizing.arrays.states import Occupancy, States
from components.performance.sizing.cases import Case, Limit, Profile, Sized
from components.performance.sizing.queues import behaviour, behaviours, cheapest, size
from tests.bench import variants as bench
from tests.performance.sizing import plain
from tests.performance.sizing.vectors import DEGENERATE, INFEASIBLE, PREMIUM, VECTORS, Vector, printed
from tests.tries import tries


def only(case: Case) -> Sized:
    (sized,) = size([case])
    return sized


@pytest.mark.parametrize(
    "vector", VECTORS, ids=lambda vector: f"{vector.case.profile.alpha}-{vector.case.per_minute}"
)
class TestVectors:
    def test_the_digits_are_those_of_the_spec(self, vector: Vector) -> None:
        sized = only(vector.case)
        assert sized.behaviour is not None
        found = {name: getattr(sized, name, getattr(sized.behaviour, name, None)) for name in vector.figures}
        assert {name: printed(found[name] or 0.0, text) for name, text in vector.figures.items()} == vector.figures

    def test_the_replicas_are_those_of_the_spec(self, vector: Vector) -> None:
        sized = only(vector.case)
        assert (sized.replicas, sized.limit, sized.reason) == (vector.replicas, vector.limit, "")
        assert not sized.is_saturated


def test_the_plain_equations_have_the_digits_too() -> None:
    """They are what the vectorised model is compared with below."""
    for vector in VECTORS[:3]:
        itl, ttft, high = plain.most(vector.case)
        most = min(rate for rate in (itl, ttft, high) if rate is not None)
        assert printed(most, "25.31145") == "25.31145"


@pytest.mark.parametrize("case", INFEASIBLE, ids=lambda case: str(case.per_minute))
def test_a_promise_below_the_time_of_one_token_cannot_be_kept(case: Case) -> None:
    sized = only(case)
    assert not sized.is_feasible
    assert "a token takes 50.15 ms" in sized.reason
    assert "above the target of 24 ms" in sized.reason
    assert (sized.most_per_minute, sized.replicas, sized.behaviour, sized.cents_per_hour) == (0, 0, None, 0)


@pytest.mark.parametrize(("case", "cause"), DEGENERATE)
def test_rounding_never_decides(case: Case, cause: str) -> None:
    """Where a token takes the same time under any load, upstream compares two equal numbers."""
    sized = only(case)
    assert not sized.is_feasible
    assert cause in sized.reason
    assert f"{case.profile.alpha + case.profile.beta:g} ms at any load" in sized.reason
    without = only(replace(case, targets=LatencyTargets(0, PREMIUM[1])))
    assert without.is_feasible
    assert without.limit is Limit.TTFT
    below = only(replace(case, targets=LatencyTargets(20, 0)))
    assert f"a token takes {case.profile.alpha + case.profile.beta:.4g} ms" in below.reason


PROFILES = st.builds(
    lambda profile, prefill: replace(profile, gamma=prefill[0], delta=prefill[1]),
    st.builds(
        Profile,
        st.just("A"),
        st.integers(1, 8),
        st.floats(0.5, 200),
        st.floats(0.001, 20),
        st.integers(2, 24),
    ),
    # Not measured, or measured.
    st.just((0.0, 0.0)) | st.tuples(st.floats(0, 500), st.floats(1e-4, 0.5)),
)
CASES = st.builds(
    Case,
    PROFILES,
    st.builds(LatencyTargets, st.integers(0, 300), st.integers(0, 5000)),
    st.floats(0.01, 1e5),
    st.floats(1, 3000),
    st.floats(0, 500),
    st.integers(0, 3),
    st.just(0.0) | st.floats(0, 4000),
)


@settings(max_examples=tries(150))
@given(CASES)
def test_it_is_what_the_equations_say(case: Case) -> None:
    sized, (itl, ttft, high) = only(case), plain.most(case)
    assert sized.capacity_per_minute == pytest.approx(high, rel=1e-12)
    found = {"itl": sized.itl_per_minute, "ttft": sized.ttft_per_minute}
    assert found == {"itl": itl and pytest.approx(itl, rel=1e-6), "ttft": ttft and pytest.approx(ttft, rel=1e-6)}
    if sized.behaviour is None:
        assert 0.0 in (itl, ttft)
        return
    expected = plain.behaviour(case, case.per_minute / sized.replicas)
    # The plain form has the wait as a difference of two large numbers.
    slack = 1e-9 * expected.response_ms
    assert astuple(sized.behaviour) == pytest.approx(astuple(expected), rel=1e-9, abs=slack)


@settings(max_examples=tries(100))
@given(CASES, st.floats(0.01, 20))
def test_one_replica_does_what_the_equations_say_also_when_overloaded(case: Case, share: float) -> None:
    rate = share * only(case).capacity_per_minute
    expected = plain.behaviour(case, rate)
    found, slack = behaviour(case, rate), 1e-9 * expected.response_ms
    assert astuple(found) == pytest.approx(astuple(expected), rel=1e-9, abs=slack)
    assert found.waiting == pytest.approx(
        expected.in_system - expected.in_service, rel=1e-9, abs=1e-9 * expected.in_system
    )


@settings(max_examples=40)
@given(st.lists(st.tuples(CASES, st.sampled_from([2, 3, 24, 300])), min_size=2, max_size=40))
def test_no_case_depends_on_its_neighbours(drawn: list[tuple[Case, int]]) -> None:
    """Not by one bit: an edit of one model must not change the replicas of another."""
    cases = [replace(case, profile=replace(case.profile, batch=batch)) for case, batch in drawn]
    assert size(cases) == tuple(only(case) for case in cases)
    assert size(cases[::-1])[::-1] == size(cases)


def test_many_of_one_batch_are_sized_as_one_is() -> None:
    """More than are computed together."""
    cases = [plain.case(7 + n / 100, 0.04, 512, 512, (60, 1000), 10.0 * n) for n in range(1, 300)]
    assert size(cases) == tuple(only(case) for case in cases)


@settings(max_examples=tries(100))
@given(CASES)
def test_the_promises_are_kept_and_nearly_used(case: Case) -> None:
    sized = only(case)
    if not sized.is_feasible:
        return
    at_most = behaviour(case, sized.most_per_minute)
    itl, ttft = case.targets.itl_ms, case.targets.ttft_ms
    assert not itl or at_most.itl_ms <= itl * (1 + 1e-9)
    assert not ttft or at_most.first_token_p95_ms <= ttft * (1 + 1e-9)
    used = {Limit.ITL: (at_most.itl_ms, itl), Limit.TTFT: (at_most.first_token_p95_ms, ttft)}
    if sized.limit is Limit.CAPACITY:
        assert sized.most_per_minute == sized.capacity_per_minute
    else:
        figure, limit = used[sized.limit]
        assert figure == pytest.approx(limit, rel=1e-9)
    assert sized.behaviour
    assert not itl or sized.behaviour.itl_ms <= itl * (1 + 1e-9)
    assert not ttft or sized.behaviour.first_token_p95_ms <= ttft * (1 + 1e-9)


@settings(max_examples=tries(100))
@given(CASES)
def test_it_is_infeasible_where_a_promise_is_broken_under_the_least_load(case: Case) -> None:
    sized = only(case)
    least = behaviour(case, sized.slowest_per_minute)
    broken = [
        bool(case.targets.itl_ms) and least.itl_ms > case.targets.itl_ms,
        bool(case.targets.ttft_ms) and least.first_token_p95_ms > case.targets.ttft_ms,
    ]
    assert sized.is_feasible == (not any(broken))
    assert sized.reason.count("above the target of") == sum(broken)
    assert ("a token takes" in sized.reason, "requests wait longer" in sized.reason) == tuple(broken)


@settings(max_examples=60)
@given(CASES, st.floats(1, 10))
def test_more_load_never_needs_less(case: Case, more: float) -> None:
    less, greater = size([case, replace(case, per_minute=case.per_minute * more)])
    assert less.is_feasible == greater.is_feasible
    assert less.most_per_minute == greater.most_per_minute
    assert less.replicas <= greater.replicas
    assert less.cents_per_hour <= greater.cents_per_hour
    rates = [less.capacity_per_minute * share for share in (0.1, 0.3, 0.6, 0.9, 0.99, 1.5, 3.0)]
    for one, next_one in itertools.pairwise(behaviours(case, rates)):
        for name in ("throughput", "in_system", "in_service", "utilisation", "wait_ms", "itl_ms", "prefill_ms"):
            assert getattr(one, name) <= getattr(next_one, name) * (1 + 1e-12), name


@settings(max_examples=60)
@given(CASES, st.integers(1, 9))
def test_the_price_grows_with_accelerators_and_replicas(case: Case, count: int) -> None:
    one, several = size([replace(case, profile=replace(case.profile, count=n)) for n in (1, count)])
    assert several.cents_per_hour == pytest.approx(count * one.cents_per_hour)
    assert several.replicas == one.replicas
    assert one.cents_per_hour == pytest.approx(case.cents_per_hour * one.replicas)
    assert several.accelerators == count * one.replicas


@settings(max_examples=60)
@given(CASES, st.integers(1, 50))
def test_as_many_as_replicas_can_take_need_no_further_one(case: Case, replicas: int) -> None:
    most = only(case).most_per_minute
    exact, above = size([replace(case, per_minute=replicas * most * by, least=0) for by in (1, 1 + 1e-9)])
    if most:
        assert exact.replicas == replicas
        assert above.replicas == replicas + 1


def test_a_prefill_is_part_of_the_service_and_of_the_first_token() -> None:
    """By hand, for a batch of 1: gamma + delta * prompt + (K - 1) * tau (pkg/analyzer/queueanalyzer.go at v0.4.2)."""
    case = plain.case(7.0, 0.5, 1, 100, (0, 5000), 1.0, gamma=5.2, delta=0.1, prompt=128.9)
    alone = behaviour(case, 1e-9)
    assert alone.prefill_ms == pytest.approx(5.2 + 0.1 * 128)
    assert alone.service_ms == pytest.approx(5.2 + 0.1 * 128 + 99 * 7.5)
    assert alone.itl_ms == pytest.approx(7.5)
    assert only(case).capacity_per_minute == pytest.approx(0.999 * 60_000 / (18.0 + 99 * 7.5))
    assert "of which the prefill takes 18 ms" in only(replace(case, targets=LatencyTargets(0, 15))).reason
    assert only(replace(case, targets=LatencyTargets(0, 0))).behaviour == only(case).behaviour


@pytest.mark.parametrize(("gamma", "delta", "prompt"), [(5.2, 0.1, 0.9), (0.0, 0.0, 128)])
def test_a_prefill_of_unknown_length_or_speed_is_not_counted(gamma: float, delta: float, prompt: float) -> None:
    case = plain.case(20.58, 0.41, 4, 178, PREMIUM, 40, gamma=gamma, delta=delta, prompt=prompt)
    without = replace(case, profile=replace(case.profile, gamma=0.0, delta=0.0), input_tokens=0.0)
    assert replace(only(case), case=without) == only(without)


def test_without_a_promise_capacity_is_the_limit() -> None:
    sized = only(plain.case(20.58, 0.41, 4, 178, (0, 0), 100))
    assert sized.limit is Limit.CAPACITY
    assert sized.itl_per_minute is sized.ttft_per_minute is sized.service_limit_ms is sized.wait_limit_ms is None
    assert printed(sized.most_per_minute, "60.6195") == "60.6195"
    assert sized.replicas == 2


def test_the_figures_between_are_those_of_the_spec() -> None:
    """8.4 and 8.5: K*T, F/q, lambda_min = 0.001 * mu(1), lambda_max = 0.999 * mu(N)."""
    sized = only(plain.case(20.58, 0.41, 4, 178.9, PREMIUM, 40))
    assert sized.service_limit_ms == 178 * 24
    assert sized.wait_limit_ms == pytest.approx(500 / 2.995732, rel=1e-6)
    assert sized.slowest_per_minute == pytest.approx(0.001 * 60_000 / (178 * 20.99))
    assert sized.capacity_per_minute == pytest.approx(0.999 * 60_000 * 4 / (178 * 22.22))


def test_the_cheapest_meets_the_promise() -> None:
    vectors = [(20.58, 0.41, 40), (7.77, 0.15, 65), (17.15, 0.34, 23), (50, 0.15, 1)]
    cases = [plain.case(alpha, beta, 4, 178, PREMIUM, 200, cents=cents) for alpha, beta, cents in vectors]
    sized = size(cases)
    assert [each.cents_per_hour for each in sized] == [320, 195, 161, 0]
    assert cheapest(sized) == sized[2]
    assert cheapest(sized[:2]) == sized[1]
    assert cheapest(sized[3:]) is None
    assert cheapest([]) is None


def test_of_equal_prices_the_order_does_not_decide() -> None:
    base = plain.case(20.58, 0.41, 4, 178, PREMIUM, 200)  # 8 replicas
    profiles = [Profile("B", 2, 20.58, 0.41, 4), Profile("B", 1, 20.58, 0.41, 4), Profile("A", 1, 20.58, 0.41, 4)]
    sized = size([replace(base, profile=profile) for profile in profiles])
    assert cheapest(sized) == cheapest(sized[::-1]) == sized[2]
    assert cheapest(sized[:2]) == sized[1]


def test_the_answers_are_in_the_order_of_the_questions() -> None:
    cases = [vector.case for vector in VECTORS]
    assert [each.case for each in size(cases)] == cases
    assert size([]) == ()


def test_a_wait_is_never_negative_or_lost() -> None:
    """The difference of two large numbers would be 0 here, or worse."""
    case = plain.case(20.58, 0.41, 4, 178, PREMIUM, 40)
    found = [behaviour(case, rate).wait_ms for rate in (1e-3, 1e-2, 1e-1)]
    # Four more in the system than arrive: the wait grows with the fourth power of the rate.
    assert [math.log10(later / earlier) for earlier, later in itertools.pairwise(found)] == pytest.approx(
        [4, 4], abs=0.02
    )


@pytest.mark.parametrize("variants", [50, 200])
def test_an_answer_costs_the_same_among_many(variants: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In evaluations of states, which is what takes the time; ``make bench`` measures seconds."""
    evaluated, at = [], States.at

    def counted(self: States, log_load: Floats, rows: Rows) -> Occupancy:
        evaluated.append(len(rows))
        return at(self, log_load, rows)

    monkeypatch.setattr(States, "at", counted)
    cases = bench.cases(variants)
    size(cases)
    assert 10 < sum(evaluated) / len(cases) < 25  # two searches of about ten steps each
