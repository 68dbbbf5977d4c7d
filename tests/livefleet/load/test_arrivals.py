"""When requests are sent: against the mathematics of point processes."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet.load.arrivals import Arrivals, Lengths, Range, planned, reached

FIXED = Lengths(Range(200, 200), Range(100, 100))


def times(
    rate: Range, seconds: float, arrivals: Arrivals = Arrivals.POISSON, *, burst: int = 1, seed: int = 0
) -> list[float]:
    return [each.at for each in planned(rate, seconds, arrivals, burst, FIXED, seed)]


def expected(rate: Range, seconds: float, until: float) -> float:
    """Integral of a rate that goes evenly from one to the other."""
    return rate.first * until + (rate.last - rate.first) / seconds * until**2 / 2


rates = st.floats(0.01, 1e4)


@given(rates, rates, st.floats(1, 1e4), st.floats(0.001, 0.999))
def test_so_many_are_expected_until_then(first: float, last: float, seconds: float, part: float) -> None:
    rate = Range(first, last)
    at = part * seconds
    found = reached(rate, seconds, expected(rate, seconds, at))
    assert found == pytest.approx(at, rel=1e-6)


def test_a_rate_that_falls_to_nothing_ends() -> None:
    # 10 a second down to 0 in 4 s: 20 in all.
    assert reached(Range(10, 0), 4, 20.001) is None
    assert reached(Range(10, 0), 4, 20) == pytest.approx(4)
    assert reached(Range(0, 0), 4, 1) is None
    assert len(times(Range(10, 0), 4, Arrivals.EVEN)) == 20


def test_even_requests_are_evenly_apart() -> None:
    found = times(Range(4, 4), 10, Arrivals.EVEN)
    assert len(found) == 40
    assert [b - a for a, b in itertools.pairwise(found)] == pytest.approx([0.25] * 39)


@pytest.mark.parametrize("seed", range(5))
def test_poisson(seed: int) -> None:
    """Count within five standard deviations; distances whose mean is their standard deviation."""
    found = times(Range(50, 50), 200, seed=seed)
    assert abs(len(found) - 10_000) < 5 * math.sqrt(10_000)
    gaps = [b - a for a, b in itertools.pairwise(found)]
    mean = sum(gaps) / len(gaps)
    deviation = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    assert deviation / mean == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_a_rising_rate_has_its_requests_late(seed: int) -> None:
    # 0 to 100 a second in 100 s: 1,250 in the first half, 3,750 in the second.
    found = times(Range(0, 100), 100, seed=seed)
    early = sum(at < 50 for at in found)
    assert abs(early - 1250) < 5 * math.sqrt(1250)
    assert abs(len(found) - early - 3750) < 5 * math.sqrt(3750)


def test_bursts_come_together_and_keep_the_rate() -> None:
    found = times(Range(50, 50), 200, burst=10)
    groups = [len(list(group)) for _, group in itertools.groupby(found)]
    assert set(groups) == {10}
    assert abs(len(groups) - 1000) < 5 * math.sqrt(1000)


@given(st.integers(0, 2**32), st.sampled_from(list(Arrivals)))
def test_a_seed_is_a_load(seed: int, arrivals: Arrivals) -> None:
    lengths = Lengths(Range(10, 30), Range(5, 1))

    def drawn() -> list[object]:
        return list(planned(Range(20, 40), 2, arrivals, 3, lengths, seed))

    assert drawn() == drawn()


def test_another_seed_is_another_load() -> None:
    assert times(Range(5, 5), 10, seed=1) != times(Range(5, 5), 10, seed=2)


def test_lengths_are_within_their_span() -> None:
    found = list(planned(Range(100, 100), 20, Arrivals.EVEN, 1, Lengths(Range(10, 12), Range(7, 5)), 0))
    assert {each.input_tokens for each in found} == {10, 11, 12}
    assert {each.output_tokens for each in found} == {5, 6, 7}
