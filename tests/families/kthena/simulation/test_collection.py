"""Which numbers the autoscaler reads (spec 4.2)."""

from decimal import Decimal
from fractions import Fraction

import pytest

from components.families.kthena.simulation.collection import moments, percentile_of_difference
from components.families.kthena.simulation.settings import FIXED, LITERAL, Defects
from components.performance.simulation.trace import Histogram, Reported, Sample, Trace

BOUNDS = (Decimal(1), Decimal(2), Decimal(4), Decimal("Infinity"))


def histogram(*counts: int) -> Histogram:
    return Histogram(BOUNDS, counts)


@pytest.mark.parametrize(
    ("now", "past", "expected"),
    [
        # 100 observations in the second bucket: rank 95 of 100, linear from 1 to 2.
        ((0, 100, 100, 100), None, Fraction("1.95")),
        ((100, 200, 200, 200), (100, 100, 100, 100), Fraction("1.95")),
        # 10 observations: rank ceil(9.5) = 10, the last of the third bucket.
        ((5, 8, 10, 10), None, Fraction(4)),
        # Above all bounds: up to twice the last one.
        ((0, 0, 0, 1), None, Fraction(8)),
        ((0, 0, 0, 4), None, Fraction(8)),
        ((0, 0, 0, 100), None, Fraction("7.8")),
        # Nothing counted since then.
        ((3, 4, 5, 6), (3, 4, 5, 6), Fraction(0)),
        ((0, 0, 0, 0), None, Fraction(0)),
        # Counts that sank: no number.
        ((0, 0, 0, 0), (0, 0, 0, 1), None),
        ((3, 3, 10, 10), (0, 2, 2, 2), None),
    ],
)
def test_percentile(now: tuple[int, ...], past: tuple[int, ...] | None, expected: Fraction | None) -> None:
    before = histogram(*past) if past else None
    assert percentile_of_difference(histogram(*now), before, float64=False) == expected
    literal = percentile_of_difference(histogram(*now), before, float64=True)
    assert literal == (None if expected is None else pytest.approx(float(expected)))


def test_other_buckets_are_no_difference() -> None:
    other = Histogram((Decimal(1), Decimal("Infinity")), (1, 2))
    assert percentile_of_difference(histogram(1, 2, 3, 4), other, float64=False) is None


Metrics = dict[str, dict[str, Reported]]


def read(*samples: tuple[int, Metrics], defects: Defects = FIXED, **counts: int) -> list[dict[str, float]]:
    series = [(time * 1000, Sample(metrics, **counts)) for time, metrics in samples]
    found = moments(Trace({"a": series}), ["h", "q"], defects)
    return [{name: float(value) for name, value in each.readings["a"].values.items()} for each in found]


def h(*counts: int, pod: str = "p", started: str = "") -> Metrics:
    return {"h": {pod: Reported(histogram(*counts), started)}}


def test_the_past_is_the_newest_snapshot_older_than_a_minute() -> None:
    """At 61 s the snapshot of 0 s counts, at 60 s none is old enough: all since the start of the process count."""
    late = read((0, h(100, 100, 100, 100)), (61, h(100, 200, 200, 200)))
    assert late[1]["h"] == pytest.approx(1.95)
    assert read((0, h(100, 100, 100, 100)), (60, h(100, 200, 200, 200)))[1]["h"] == pytest.approx(1.9)


def test_the_past_is_kept_for_300_seconds() -> None:
    assert read((0, h(100, 100, 100, 100)), (300, h(100, 200, 200, 200)))[1]["h"] == pytest.approx(1.95)
    assert read((0, h(100, 100, 100, 100)), (301, h(100, 200, 200, 200)))[1]["h"] == pytest.approx(1.9)


def test_another_start_of_a_pod_begins_anew() -> None:
    first, second = h(100, 100, 100, 100, started="1"), h(100, 200, 200, 200, started="2")
    assert read((0, first), (75, second))[1]["h"] == pytest.approx(1.9)


@pytest.mark.parametrize("counts", [{"failed": 1}, {"starting": 1}, {"ready": 0}])
def test_no_snapshot_while_pods_are_not_ready(counts: dict[str, int]) -> None:
    found = read((0, h(100, 100, 100, 100)), (75, h(100, 200, 200, 200)), defects=FIXED, **counts)
    assert found[1]["h"] == pytest.approx(1.9)


def test_values_are_summed_over_pods() -> None:
    pods = {"q": {"p": Reported(Decimal("1.5")), "r": Reported(Decimal(2))}, "h": {**h(0, 100, 100, 100)["h"]}}
    assert read((0, pods)) == [{"h": pytest.approx(1.95), "q": 3.5}]
    both = {"h": {**h(0, 100, 100, 100)["h"], **h(0, 100, 100, 100, pod="r")["h"]}}
    assert read((0, both)) == [{"h": pytest.approx(3.9), "q": 0}]


def test_what_pods_that_answer_do_not_report_is_zero() -> None:
    assert read((0, {"q": {"": Reported(Decimal(7))}})) == [{"h": 0, "q": 7}]
    assert read((0, {"h": {"p": Reported(histogram(1, 1, 1, 0))}})) == [{"h": 0, "q": 0}]
    assert read((0, {})) == [{}]


def test_metrics_that_nobody_watches_are_left_out() -> None:
    assert read((0, {"q": {"": Reported(Decimal(7))}, "x": {"": Reported(Decimal(9))}})) == [{"h": 0, "q": 7}]
    assert read((0, {"x": {"": Reported(Decimal(9))}})) == [{}]


def test_float64_adds_as_the_controller_does() -> None:
    tenths = {"q": {str(number): Reported(Decimal("0.1")) for number in range(3)}}
    assert read((0, tenths)) == [{"h": 0, "q": 0.3}]
    assert read((0, tenths), defects=LITERAL) == [{"h": 0, "q": 0.1 + 0.1 + 0.1}]
