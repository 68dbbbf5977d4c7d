"""What a pass makes of pods that are not ready, of missing metrics, and of several ones (spec 4.2 to 4.4)."""

from fractions import Fraction

import pytest

from components.families.kthena.simulation.recommendation import Observation, recommended
from components.families.kthena.simulation.settings import FIXED, LITERAL, Bound, Defects, ScaledTarget, ScalingPolicy
from components.performance.simulation.trace import Moment, TargetReading
from tests.families.kthena.simulation.support import CRD, CRD_PACE, TICK, loads, one, pace, replicas, run

UNLIMITED = ScalingPolicy(10, CRD.metrics)
SEVERAL = ScalingPolicy(10, (("load", Fraction(10)), ("other", Fraction(1))))


@pytest.mark.parametrize(
    ("reading", "note"),
    [
        (TargetReading({"load": Fraction(90)}, failed=1), "a pod has failed"),
        (TargetReading({"load": Fraction(90)}, starting=1), "a pod is starting"),
        (TargetReading({"load": Fraction(90)}, ready=0), "has no pods"),
        (TargetReading({}), "no pod answers"),
    ],
)
def test_without_metrics_nothing_happens(reading: TargetReading, note: str) -> None:
    made = run(UNLIMITED, one(1, 10), {"a": 3}, [Moment(0, {"a": reading}), Moment(TICK, {})])
    assert [(each.total, each.wanted, each.note) for each in made.passes] == [
        (3, None, note),
        (3, None, "has not reported yet"),
    ]


def test_bounds_hold_without_metrics() -> None:
    nothing = [Moment(0, {"a": TargetReading({}, failed=1)})]
    assert run(UNLIMITED, one(4, 10), {"a": 3}, nothing).passes[0].total == 4
    assert run(UNLIMITED, one(1, 2), {"a": 3}, nothing).passes[0].total == 2


def test_bounds_are_approached_as_fast_as_everything_else() -> None:
    """Out of bounds the rates apply, but what they leave is cut to the bounds (spec 4.3, 4.4)."""
    slow = ScalingPolicy(10, CRD.metrics, pace(1, 0, 60_000), pace(1, 0, 60_000))
    assert replicas(slow, one(1, 10), 20, [200]) == [10]


@pytest.mark.parametrize("defects", [FIXED, LITERAL])
def test_from_zero_it_never_scales_up(defects: Defects) -> None:
    assert replicas(UNLIMITED, one(0, 10), 2, [20, 0, 90, 90], defects)[1:] == [0, 0, 0]


def test_the_largest_of_several_metrics_counts() -> None:
    def wanted(load: int, other: int) -> int | None:
        values = {"load": Fraction(load), "other": Fraction(other)}
        return recommended(SEVERAL, (1, 100), 20, Observation([values]), FIXED)

    assert wanted(500, 3) == 50
    assert wanted(30, 77) == 77
    assert wanted(30, 4) == 4


NAMES = ("a", "b", "c")
TABLE: list[tuple[list[int | None], int, int, int]] = [
    # values by target, unready, current, expected of the controller; one replica takes 10
    ([100, 100], 0, 5, 20),
    ([7, 8], 0, 5, 2),
    # One misses: scaling up it counts as idle, and as on target when the rest scales down.
    ([100, None], 0, 5, 10),
    ([100, None], 0, 12, 12),
    ([4, None], 0, 5, 2),
    ([4, None], 0, 1, 1),
    # Idle ones turn the direction: nothing happens.
    ([12, None, None], 0, 5, 5),
    # Within 10 percent of one replica for each target.
    ([21, None], 0, 5, 5),
    # Not ready: counts once more when scaling up.
    ([100, None], 1, 5, 10),
    ([25, None], 1, 5, 5),
    ([4, None], 1, 5, 2),
    ([None, None], 0, 5, 5),
]


@pytest.mark.parametrize(("values", "unready", "current", "expected"), TABLE)
def test_targets_without_metrics(values: list[int | None], unready: int, current: int, expected: int) -> None:
    observed = Observation([None if value is None else {"load": float(value)} for value in values], unready)
    wanted = recommended(CRD, (1, 100), current, observed, Defects.of(["D-15"]))
    assert (current if wanted is None else wanted) == expected


def test_panic_ends_when_it_was_held_long_enough() -> None:
    """A jump to the double or more is a panic for 60 s, whose border belongs to it (CRD defaults)."""
    made = run(CRD, one(1, 100), {"a": 4}, loads([80, *[40] * 6]))
    assert [each.note for each in made.passes] == ["panic"] * 5 + [""] * 2
    assert [each.total for each in made.passes] == [8] * 5 + [4] * 2


def test_panic_is_limited_too() -> None:
    from components.families.kthena.autoscaling.effective import Panic

    panic = Panic(percent=100, period=60_000, threshold=200, hold=60_000)
    policy = ScalingPolicy(10, CRD.metrics, CRD_PACE, CRD_PACE, panic)
    assert replicas(policy, one(1, 100), 2, [1000] * 3) == [4, 8, 8]


def test_load_of_a_target_without_replicas_goes_to_the_others() -> None:
    bound = Bound((ScaledTarget("a", 1, 9, 1), ScaledTarget("b", 0, 9, 50)), 200)
    moments = [
        Moment(number * TICK, {name: TargetReading({"load": Fraction(40)}) for name in "ab"}) for number in range(3)
    ]
    made = run(ScalingPolicy(0, CRD.metrics), bound, {"a": 1, "b": 0}, moments)
    assert [each.wanted for each in made.passes] == [8, 8, 8]
