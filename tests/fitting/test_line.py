"""The line through measurements: the example of the WVA spec 8.11, and what others make of the same numbers."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workbench.fitting.line import FittedValue, fit
from workbench.fitting.measurements import Measurement


def measured(points: Sequence[tuple[float, float]], errors: Sequence[float | None] = ()) -> list[Measurement]:
    """Measurements of pairs of concurrency and latency."""
    given = [*errors, *[None] * (len(points) - len(errors))]
    return [
        Measurement(n, ms, f"row {row}", error_ms=error)
        for row, ((n, ms), error) in enumerate(zip(points, given, strict=True))
    ]


def test_the_example_of_the_spec() -> None:
    found = fit(measured([(1, 7.0), (64, 8.7)]))
    assert round(found.beta.value, 3) == 0.027
    assert round(found.alpha.value, 3) == 6.973
    assert found.beta.value == pytest.approx((8.7 - 7.0) / 63)
    assert found.alpha.value == pytest.approx(7.0 - (8.7 - 7.0) / 63)


def test_two_measurements_leave_no_way_to_tell_how_exact_the_line_is() -> None:
    found = fit(measured([(1, 7.0), (64, 8.7)]))
    assert (found.alpha.low, found.alpha.high, found.beta.low, found.beta.high) == (None,) * 4
    assert found.residual_ms is None
    assert found.value_at(64) == FittedValue(found.at(64))
    assert found.beta.is_above_zero


CONCURRENCIES = st.lists(st.integers(1, 512), min_size=3, max_size=12, unique=True)


@given(st.data(), CONCURRENCIES, st.floats(0.5, 300), st.floats(0.001, 50))
def test_a_line_is_found_as_other_programs_find_it(
    data: st.DataObject, concurrencies: list[int], alpha: float, beta: float
) -> None:
    noise = data.draw(st.lists(st.floats(-0.2, 0.2), min_size=len(concurrencies), max_size=len(concurrencies)))
    points = [(float(n), alpha + beta * n + e) for n, e in zip(concurrencies, noise, strict=True)]
    found = fit(measured(points))
    x, y = np.array(points).T
    expected = stats.linregress(x, y)
    quantile = stats.t.ppf(0.975, len(points) - 2)
    near = 1e-6 * (1 + max(y))
    assert found.beta.value == pytest.approx(expected.slope, rel=1e-6, abs=1e-9)
    assert found.alpha.value == pytest.approx(expected.intercept, rel=1e-6, abs=near)
    assert found.beta.high == pytest.approx(expected.slope + quantile * expected.stderr, rel=1e-5, abs=1e-6)
    assert found.beta.low == pytest.approx(expected.slope - quantile * expected.stderr, rel=1e-5, abs=1e-6)
    assert found.alpha.low == pytest.approx(
        expected.intercept - quantile * expected.intercept_stderr, rel=1e-5, abs=10 * near
    )
    assert found.r_squared == pytest.approx(expected.rvalue**2, abs=1e-6)
    (constant, slope), *_ = np.linalg.lstsq(np.column_stack([np.ones_like(x), x]), y, rcond=None)
    assert (found.alpha.value, found.beta.value) == pytest.approx((constant, slope), rel=1e-5, abs=near)


ERRORS = (0.02, 0.1, 0.05, 0.4, 0.3)
POINTS = ((1.0, 7.03), (8.0, 7.1), (16.0, 7.52), (32.0, 7.6), (64.0, 9.1))


def test_weights_are_those_of_other_programs() -> None:
    found = fit(measured(POINTS, ERRORS))
    x, y = np.array(POINTS).T
    (slope, constant), covariance = np.polyfit(x, y, 1, w=1 / np.array(ERRORS), cov=True)
    quantile = stats.t.ppf(0.975, 3)
    assert found.weighted
    assert (found.alpha.value, found.beta.value) == pytest.approx((constant, slope))
    assert found.beta.high == pytest.approx(slope + quantile * math.sqrt(covariance[0, 0]))
    assert found.alpha.low == pytest.approx(constant - quantile * math.sqrt(covariance[1, 1]))
    alike = fit(measured(POINTS))
    assert not alike.weighted
    assert alike.alpha.value != pytest.approx(found.alpha.value, abs=1e-3)


def test_errors_that_are_alike_change_nothing() -> None:
    alike, weighted = fit(measured(POINTS)), fit(measured(POINTS, [0.3] * 5))
    assert weighted.weighted
    assert (weighted.alpha, weighted.beta) == (alike.alpha, alike.beta)
    assert weighted.residual_ms == pytest.approx(alike.residual_ms)


def test_without_the_error_of_one_all_count_alike() -> None:
    found = fit(measured(POINTS, ERRORS[:4]))
    assert not found.weighted
    assert (found.alpha, found.beta) == (fit(measured(POINTS)).alpha, fit(measured(POINTS)).beta)


@pytest.mark.parametrize(
    ("concurrencies", "errors"),
    [
        ((1, 8, 64), (0.1, 0.1, 0.1)),
        ((1, 2, 4, 8, 16, 32, 64), (0.1,) * 7),
        ((1, 1, 1, 64, 64, 64), (0.2,) * 6),
        ((1, 16, 32, 64), (0.02, 0.1, 0.2, 0.4)),
    ],
    ids=["three", "seven", "repeated", "weighted"],
)
def test_the_truth_is_within_the_bounds_in_95_of_100_experiments(
    concurrencies: tuple[float, ...], errors: tuple[float, ...]
) -> None:
    chance, experiments = random.Random(14), 4000
    alpha, beta, at = 6.973, 0.027, 128
    within = {"alpha": 0, "beta": 0, "beyond": 0}
    for _ in range(experiments):
        points = [(n, alpha + beta * n + chance.gauss(0, e)) for n, e in zip(concurrencies, errors, strict=True)]
        found = fit(measured(points, errors if len(set(errors)) > 1 else ()))
        for name, value, truth in (
            ("alpha", found.alpha, alpha),
            ("beta", found.beta, beta),
            ("beyond", found.value_at(at), alpha + beta * at),
        ):
            assert value.low is not None
            assert value.high is not None
            within[name] += value.low <= truth <= value.high
    # Four standard errors of a share of 0.95 among 4,000.
    margin = 4 * math.sqrt(0.95 * 0.05 / experiments)
    assert {name: count / experiments for name, count in within.items()} == pytest.approx(
        dict.fromkeys(within, 0.95), abs=margin
    )


def test_a_curve_is_told_from_a_line() -> None:
    flattening = [(n, 7 + 0.03 * min(n, 64)) for n in (1, 8, 16, 32, 64, 128, 256)]
    assert fit(measured(flattening)).bend_ms < -0.1
    rising = [(n, 7 + 0.03 * n + 0.0005 * n * n) for n in (1, 8, 16, 32, 64)]
    found = fit(measured(rising))
    x, y = np.array(rising).T
    line = np.polyval(np.polyfit(x, y, 1), x)
    assert found.bend_ms == pytest.approx(max(abs(y - line)))


@given(CONCURRENCIES, st.integers(0, 2**32))
def test_noise_around_a_line_rarely_is_a_curve(concurrencies: list[int], seed: int) -> None:
    chance = random.Random(seed)
    points = [(n, 7 + 0.03 * n + chance.uniform(-1e-6, 1e-6)) for n in concurrencies]
    assert abs(fit(measured(points)).bend_ms) < 1e-5


@given(st.permutations(list(POINTS)))
def test_the_order_does_not_matter(points: list[tuple[float, float]]) -> None:
    found, expected = fit(measured(points)), fit(measured(POINTS))
    assert (found.alpha, found.beta, found.r_squared) == (expected.alpha, expected.beta, expected.r_squared)
