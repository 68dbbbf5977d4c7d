"""What measurements cannot tell is refused with what is missing, and what they tell badly is said."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fitting.test_line import measured
from workbench.errors import WorkbenchError
from workbench.fitting.checks import check_enough, check_fit, straight_up_to, usable, warnings
from workbench.fitting.entry import batch_of, option_of, profile_of
from workbench.fitting.line import fit
from workbench.fitting.plot import text_plot
from workbench.fitting.report import as_dict

Points = Sequence[tuple[float, float]]
STRAIGHT: Points = [(n, 7 + 0.03 * n) for n in (1, 8, 16, 32, 64)]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], "no measurements; run the benchmark at concurrency 1 and at the largest batch"),
        ([(1, 7)], "all at 1: a line needs two that are far apart; also run the benchmark at the largest batch"),
        (
            [(64, 7), (64, 7.1), (64, 7.2)],
            "all at 64: a line needs two that are far apart; also run the benchmark at 1",
        ),
        ([(63.9, 8.7), (64.1, 8.8)], "from 63.9 to 64.1"),
        ([(1, 7), (1.9, 8)], "from 1 to 1.9"),
    ],
)
def test_too_few_are_refused(points: Points, expected: str) -> None:
    with pytest.raises(WorkbenchError, match=expected) as caught:
        check_enough(measured(points), 0)
    assert caught.value.exit_code == 1


def test_what_is_left_out_is_said_where_too_few_are_left() -> None:
    with pytest.raises(WorkbenchError, match=r"all at 1 \(2 above --up-to or --batch left out\)"):
        check_enough(measured([(1, 7)]), 2)


def test_far_too_many_are_refused() -> None:
    with pytest.raises(WorkbenchError, match="10001 measurements exceed the limit of 10000"):
        check_enough(measured([(1 + number, 7) for number in range(10_001)]), 0)


def test_errors_that_let_one_count_alone_are_refused() -> None:
    with pytest.raises(WorkbenchError, match=r"standard errors .* from 0.0001 to 0.2 ms"):
        check_enough(measured(STRAIGHT, (0.1, 0.2, 0.0001, 0.1, 0.1)), 0)


@pytest.mark.parametrize("points", [[(1, 7), (2, 8)], [(1, 7), (64, 8.7)], STRAIGHT])
def test_enough_are_not(points: Points) -> None:
    check_enough(measured(points), 0)
    check_fit(fit(measured(points)))


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1, 8.7), (64, 7)], r"beta is -0.02698 ms, and must be above 0: .* measure at higher concurrencies"),
        ([(1, 7), (64, 7)], r"beta is 0 ms, and must be above 0"),
        (
            [(1, 7), (8, 7.5), (64, 7.3)],
            r"beta is 0\.\d+ ms, with a 95 % confidence interval from -0\.\d+ to 0\.\d+, which .* from 0",
        ),
        ([(8, 4), (16, 40)], r"alpha is -32 ms, and must be above 0: .* --up-to"),
        ([(1, 5), (2, 10)], r"alpha is 0 ms, and must be above 0"),
    ],
)
def test_what_is_no_profile_is_refused(points: Points, expected: str) -> None:
    with pytest.raises(WorkbenchError, match=expected) as caught:
        check_fit(fit(measured(points)))
    assert caught.value.exit_code == 1


def warned(points: Points, batch: int = 64, errors: tuple[float, ...] = ()) -> list[str]:
    return list(warnings(fit(measured(points, errors)), batch))


def test_a_good_fit_is_without_a_warning() -> None:
    assert warned(STRAIGHT) == []
    assert warned([(1, 7.031), (8, 7.24), (16, 7.478), (32, 7.962), (64, 8.92)], 80) == []


@pytest.mark.parametrize(
    ("points", "batch", "expected"),
    [
        ([(1, 7), (64, 8.7)], 64, "only two measurements: the line goes through both"),
        ([(1, 7), (1, 7.1), (64, 8.7)], 64, "only two concurrencies: whether a line fits in between is unknown"),
        ([(16, 1.2), (32, 1.8), (48, 2.9), (64, 3.3)], 64, "the confidence interval of alpha, -"),
        (STRAIGHT, 128, "the batch of 128 is above the highest measured concurrency of 64"),
        ([(1, 7), (8, 7.2), (16, 7.0), (64, 8.9)], 64, "latency falls by 3% from concurrency 8 to 16"),
        ([*STRAIGHT, (8, 7.24)], 64, "row 1 and row 5 are equal; if one is a copy, remove it"),
        (
            [(1, 7), (8, 9.5), (16, 8), (24, 10.4), (32, 8.6), (40, 11), (48, 8.9), (56, 11.7), (64, 10.2)],
            64,
            "off at a concurrency of 24; measure each concurrency for longer",
        ),
    ],
)
def test_what_is_told_badly_is_said(points: Points, batch: int, expected: str) -> None:
    assert any(expected in warning for warning in warned(points, batch))


def test_of_many_that_are_equal_one_is_named() -> None:
    (warning,) = warned([*STRAIGHT, *STRAIGHT])
    assert "row 0 and row 5 are equal, and 4 more;" in warning


ANY = st.tuples(st.floats(1, 1e6), st.floats(1e-6, 1e7), st.none() | st.floats(1e-6, 1e7))


@given(st.lists(ANY, max_size=12), st.sampled_from([None, 2, 64, 1_000_000]))
def test_whatever_was_measured_is_figures_or_a_message(
    runs: list[tuple[float, float, float | None]], batch: int | None
) -> None:
    found = measured([(n, ms) for n, ms, _ in runs], [error for *_, error in runs])
    try:
        used = usable(found, up_to=None, batch=batch)
        check_enough(used, len(found) - len(used))
        line = fit(used)
        check_fit(line)
    except WorkbenchError as error:
        message = str(error)
    else:
        profile = profile_of(line, "H100", 1, batch or batch_of(line))
        message = json.dumps(as_dict(line, profile, list(warnings(line, profile.batch))), allow_nan=False)
        assert profile.alpha > 0
        assert profile.beta > 0
        assert "e" not in option_of(profile)
        assert list(text_plot(line, 80, plain=False))
    assert message


def test_a_stddev_in_some_rows_alone_is_said() -> None:
    assert "some rows have no stddev, so all rows have the same weight" in warned(STRAIGHT, errors=(0.1, 0.1))
    assert warned(STRAIGHT, errors=(0.1,) * 5) == []


SATURATED: Points = [(n, 7 + 0.03 * min(n, 64)) for n in (1, 8, 16, 32, 64, 128, 256)]


class TestSaturation:
    """An engine works on so many requests at once, and others wait: latency grows no more."""

    def test_the_range_without_it_is_suggested(self) -> None:
        assert straight_up_to(measured(SATURATED)) == 64
        (warning,) = warned(SATURATED, 256)
        assert "grows more slowly at the end" in warning
        assert "try --up-to 64" in warning

    def test_in_that_range_all_is_well(self) -> None:
        used = usable(measured(SATURATED), up_to=64, batch=None)
        assert list(warnings(fit(used), 64)) == []
        assert fit(used).beta.value == pytest.approx(0.03)

    @pytest.mark.parametrize("end", [[(128, 8.93), (256, 8.95)], [(128, 7.2), (256, 4.0)]])
    def test_it_is_suggested_as_well_where_there_is_no_profile(self, end: Points) -> None:
        with pytest.raises(WorkbenchError, match=r"beta is .* saturated above 64: try --up-to 64"):
            check_fit(fit(measured([(1, 7.03), (32, 7.96), (64, 8.92), *end])))

    def test_preemption_makes_it_grow_faster(self) -> None:
        points = [(n, 7 + 0.03 * n + 0.0005 * n * n) for n in (1, 8, 16, 32, 64)]
        (warning,) = warned(points)
        assert "grows faster at the end" in warning

    def test_where_not_even_the_first_are_on_a_line(self) -> None:
        points = [(n, 2.0 * n**0.5) for n in (1, 4, 16, 64, 256)]
        assert straight_up_to(measured(points)) is None
        assert any("off at a concurrency of 1;" in warning for warning in warned(points, 256))

    def test_a_part_where_latency_falls_is_not_suggested(self) -> None:
        assert straight_up_to(measured([(1, 7.2), (8, 7.18), (16, 7.15), (32, 7.1), (64, 9), (128, 14)])) is None

    def test_all_that_was_measured_is_no_range_to_try(self) -> None:
        with pytest.raises(WorkbenchError, match="is not distinguishable from 0; measure at more and higher"):
            check_fit(fit(measured([(1, 7), (8, 7.05), (64, 7.06)])))

    def test_a_clear_curve_without_a_straight_part(self) -> None:
        points = [(n, 2.0 * n**0.8) for n in (1, 32, 64, 96, 128, 160, 192, 224, 256)]
        assert any("measure at lower concurrencies" in warning for warning in warned(points, 256))


@pytest.mark.parametrize(
    ("up_to", "batch", "expected"),
    [
        (None, None, [1, 8, 63.9, 67, 128]),
        (64, None, [1, 8, 63.9]),
        (None, 64, [1, 8, 63.9, 67]),  # the mean of a run is not exact
        (8, 64, [1, 8]),
    ],
)
def test_what_is_above_the_batch_is_left_out(up_to: float | None, batch: int | None, expected: list[float]) -> None:
    found = usable(measured([(n, 7) for n in (1, 8, 63.9, 67, 128)]), up_to=up_to, batch=batch)
    assert [each.concurrency for each in found] == expected
