"""Numbers at the ends of what numbers can be: every answer is finite, and a refusal names what was found."""

import math
import subprocess
import sys
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.fleet.levels import LatencyTargets
from components.performance.sizing.cases import Case, Limit, Profile, Sized
from components.performance.sizing.literal.allocation import size_literally
from components.performance.sizing.queues import behaviour, behaviours, size
from components.performance.sizing.refusals import unusable
from tests.performance.sizing.plain import case
from tests.tries import tries

ROOT = Path(__file__).parents[3]
USUAL = case(20.58, 0.41, 4, 178, (24, 500), 40, cents=40)
ANY = st.one_of(
    st.floats(0, 1e4),
    st.floats(),
    st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 1e12, 1e199, 1e300, math.inf, math.nan]),
)
WHOLE = st.one_of(st.integers(-2, 600), st.sampled_from([65_536, 65_537, 2**31 - 1, 2**31, 2**63, 10**400]))
ANYTHING = st.builds(
    Case,
    st.builds(Profile, st.just("A"), WHOLE, ANY, ANY, st.one_of(st.integers(1, 80), WHOLE)),
    st.builds(LatencyTargets, WHOLE, WHOLE),
    ANY,
    ANY,
    ANY,
    WHOLE,
)
MAGNITUDES = st.floats(-200, 200).map(lambda power: 10.0**power)
FAR = st.builds(
    Case,
    st.builds(Profile, st.just("A"), st.integers(1, 2**31 - 1), MAGNITUDES, MAGNITUDES, st.integers(1, 80)),
    st.builds(LatencyTargets, st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)),
    MAGNITUDES,
    MAGNITUDES,
    MAGNITUDES,
    st.integers(0, 2**31 - 1),
)
"""Usable ones, far out."""


def numbers_of(sized: Sized) -> list[float]:
    figures = [*astuple(sized)[2:8], sized.cents_per_hour, sized.slowest_per_minute]
    figures += [*(astuple(sized.behaviour) if sized.behaviour else ()), sized.service_limit_ms, sized.wait_limit_ms]
    return [figure for figure in figures if isinstance(figure, float | int)]


@settings(max_examples=tries(300))
@given(st.one_of(ANYTHING, FAR))
@example(replace(USUAL, per_minute=5e-324))
@example(replace(USUAL, targets=LatencyTargets(0, 0), per_minute=1e-300))
@pytest.mark.parametrize("model", [size, size_literally])
def test_every_figure_is_a_number(model: Any, anything: Case) -> None:
    (sized,) = model([anything])
    assert [figure for figure in numbers_of(sized) if not 0 <= figure < math.inf] == []
    assert sized.is_feasible == (sized.behaviour is not None)
    assert sized.is_feasible or (sized.replicas, sized.cents_per_hour) == (0, 0)
    assert len(sized.reason) < 400
    assert "nan requests" not in sized.reason


@settings(max_examples=tries(300))
@given(st.one_of(ANYTHING, FAR), st.one_of(ANY, MAGNITUDES))
@example(USUAL, 1e200)
@example(USUAL, 5e-324)
@example(USUAL, 0.0)
def test_every_figure_of_a_replica_is_a_number(anything: Case, rate: float) -> None:
    try:
        found = behaviour(anything, rate)
    except ValueError:
        assert unusable(anything) or anything.output_tokens < 1 or not 0 <= rate <= 1e200
        return
    assert [figure for figure in astuple(found) if not 0 <= figure < math.inf] == []
    assert found.throughput <= found.per_minute
    assert found.utilisation <= 1


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("alpha", math.nan, "alpha must be between 0 and 1e+200, found nan"),
        ("alpha", -1.0, "alpha must be between 0 and 1e+200, found -1.0"),
        ("beta", math.inf, "beta must be between 0 and 1e+200, found inf"),
        ("batch", 0, "the maximum batch size must be between 1 and 65536, found 0"),
        ("batch", 2**31 - 1, "the maximum batch size must be between 1 and 65536, found 2147483647"),
        ("count", 0, "the number of accelerators of a replica must be between 1 and 2147483647, found 0"),
        ("per_minute", math.nan, "the request rate must be between 0 and 1e+200, found nan"),
        ("per_minute", -0.5, "the request rate must be between 0 and 1e+200, found -0.5"),
        ("output_tokens", math.inf, "the mean output tokens of a request must be between 0 and 1e+200, found inf"),
        ("cents_per_hour", -1.0, "the price of an accelerator must be between 0 and 1e+200, found -1.0"),
        ("least", -1, "the minimum number of replicas must be between 0 and 2147483647, found -1"),
        ("itl_ms", -24, "the inter-token latency target must be between 0 and 2147483647, found -24"),
        (
            "ttft_ms",
            10**400,
            "the time-to-first-token target must be between 0 and 2147483647, found more than",
        ),
    ],
)
def test_what_is_no_such_number_is_named(field: str, value: float, message: str) -> None:
    change: dict[str, Any] = {field: value}
    if hasattr(USUAL.profile, field):
        wrong = replace(USUAL, profile=replace(USUAL.profile, **change))
    elif hasattr(USUAL.targets, field):
        wrong = replace(USUAL, targets=replace(USUAL.targets, **change))
    else:
        wrong = replace(USUAL, **change)
    (sized,) = size([wrong])
    assert sized.reason.startswith(message)
    assert not sized.is_feasible
    with pytest.raises(ValueError, match=r"must be between"):
        behaviour(wrong, 10)


def test_numbers_that_leave_no_rate_are_refused() -> None:
    nothing = replace(USUAL, profile=replace(USUAL.profile, alpha=0.0, beta=0.0))
    tiny = replace(USUAL, profile=replace(USUAL.profile, alpha=1e-300, beta=0.0))
    huge = replace(USUAL, profile=replace(USUAL.profile, alpha=1e200), output_tokens=1e200)
    reasons = [each.reason for each in size([nothing, tiny, huge])]
    assert reasons[0] == "alpha and beta are both 0, so a token would take no time"
    assert all("no rate can be computed" in reason for reason in reasons[1:])


def test_more_replicas_than_a_workload_can_have_are_refused() -> None:
    (sized,) = size([replace(USUAL, per_minute=1e12)])
    assert "1e+12 requests per minute, at 25.3115 per replica" in sized.reason
    assert "2147483647 replicas" in sized.reason
    assert sized.most_per_minute > 25  # what is known is told
    (most,) = size([replace(USUAL, per_minute=25.3 * (2**31 - 1))])
    assert most.is_feasible
    assert most.replicas <= 2**31 - 1


class TestZeroLoad:
    """WVA spec 8.6."""

    @pytest.mark.parametrize("least", [0, 1, 3])
    @pytest.mark.parametrize(("rate", "tokens"), [(0.0, 178.0), (40.0, 0.0), (40.0, 0.99), (0.0, 0.0), (0.0, 1e-300)])
    @pytest.mark.parametrize("model", [size, size_literally])
    def test_there_are_as_many_replicas_as_there_are_at_least(
        self, model: Any, rate: float, tokens: float, least: int
    ) -> None:
        asked = replace(USUAL, per_minute=rate, output_tokens=tokens, least=least)
        (sized,) = model([replace(asked, profile=replace(asked.profile, count=4))])
        assert sized.is_feasible
        assert (sized.replicas, sized.cents_per_hour) == (least, 40 * 4 * least)
        assert sized.behaviour is not None
        assert sized.behaviour.itl_ms == pytest.approx(20.99)
        assert (sized.behaviour.wait_ms, sized.behaviour.utilisation, sized.behaviour.throughput) == (0, 0, 0)

    def test_the_largest_rate_is_the_same_as_with_a_load(self) -> None:
        without, some = size([replace(USUAL, per_minute=rate) for rate in (0.0, 40.0)])
        assert without.most_per_minute == some.most_per_minute
        assert without.limit is Limit.TTFT

    def test_targets_that_cannot_be_met_do_not_matter_without_load(self) -> None:
        slow, fixed = replace(USUAL.profile, alpha=50.0), replace(USUAL.profile, beta=0.0)
        for sized in size([replace(USUAL, per_minute=0.0, profile=profile) for profile in (slow, fixed)]):
            assert (sized.reason, sized.replicas, sized.most_per_minute) == ("", 1, 0)

    def test_scaled_to_zero_a_little_load_needs_one(self) -> None:
        for tiny in (1e-300, 1e-6, 1.0):
            (sized,) = size([replace(USUAL, per_minute=tiny, least=0)])
            assert sized.replicas == 1


def test_rates_of_a_replica_are_checked() -> None:
    for rate in (-1.0, math.nan, math.inf, 1e201):
        with pytest.raises(ValueError, match="request rate must be between 0"):
            behaviours(USUAL, [1.0, rate])
    with pytest.raises(ValueError, match="a request has no whole output token"):
        behaviour(replace(USUAL, output_tokens=0.5), 1.0)


def test_an_overloaded_replica_completes_what_it_can() -> None:
    capacity = 60_000 * 4 / (178 * 22.22)
    for rate in (1e4, 1e9, 1e200):
        found = behaviour(USUAL, rate)
        assert found.throughput == pytest.approx(capacity)
        assert found.in_system == pytest.approx(40, rel=1e-2)
        assert found.utilisation == pytest.approx(1)


def test_both_missed_targets_are_reported() -> None:
    (sized,) = size([case(1000, 5, 1, 900, (500, 1), 1)])
    assert "a token takes 1005 ms even at" in sized.reason
    assert "of requests wait longer than" in sized.reason
    assert sized.reason.endswith("above the target of 1 ms")


def test_a_figure_just_above_the_target_shows_it() -> None:
    """No "takes 21 ms, above the target of 21 ms"."""
    (sized,) = size([case(20.58, 0.42, 4, 178, (21, 500), 5)])
    assert "a token takes 21.0004 ms" in sized.reason


@pytest.mark.parametrize(
    "module",
    ["fleet.levels", *(f"performance.sizing.{name}" for name in ("cases", "queues", "refusals", "reference"))],
)
def test_numpy_is_imported_only_to_size(module: str) -> None:
    script = f"import sys, components.{module}; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_one_replica_more_than_a_workload_can_have_is_refused() -> None:
    most = size([USUAL])[0].most_per_minute
    for replicas, feasible in ((2**31 - 1, True), (2**31 + 1, False)):
        (sized,) = size([replace(USUAL, per_minute=(replicas - 0.5) * most)])
        assert sized.is_feasible is feasible
        assert sized.replicas == (replicas if feasible else 0)
