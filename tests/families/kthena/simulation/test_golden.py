"""The golden vectors of spec 4.4 and 4.5, to the digit, as the controller has them."""

import pytest

from components.families.kthena.simulation.autoscaler import distribution
from components.families.kthena.simulation.settings import LITERAL, Bound, ScaledTarget, ScalingPolicy
from tests.families.kthena.simulation.support import (
    CRD,
    CRD_PACE,
    NO_PANIC,
    TARGET,
    WEBHOOK,
    one,
    pace,
    replicas,
)

ONE_A_MINUTE = ScalingPolicy(
    10,
    TARGET,
    pace(1, 0, 60_000, fastest=False),
    pace(1, 100, 60_000, fastest=False),
    NO_PANIC,
)
LATCHING = ScalingPolicy(10, TARGET, pace(1, 100, 15_000, window=60_000), CRD_PACE, NO_PANIC)


@pytest.mark.parametrize(
    ("policy", "start", "bounds", "totals", "expected"),
    [
        (CRD, 1, (1, 10), [35, 12, 12, 12, 12, 12, 12, 5, 0], [4, 4, 4, 4, 4, 2, 2, 1, 1]),
        (WEBHOOK, 1, (1, 20), [95] * 7 + [25] * 24, [5] + [10] * 30),
        (ONE_A_MINUTE, 8, (1, 10), [25] * 6, [7, 6, 5, 4, 3, 3]),
        (CRD, 5, (1, 10), ["10.5"], [5]),
        (WEBHOOK, 5, (1, 10), ["10.5"], [5]),
        (ONE_A_MINUTE, 5, (1, 10), ["10.5"], [5]),
        (LATCHING, 1, (1, 10), [25, *[95] * 9], [2] * 10),
    ],
    ids=["crd", "webhook", "minute", "tolerance", "tolerance webhook", "tolerance minute", "latched"],
)
def test_replicas(
    policy: ScalingPolicy, start: int, bounds: tuple[int, int], totals: list[object], expected: list[int]
) -> None:
    assert replicas(policy, one(*bounds), start, totals, LITERAL) == expected


@pytest.mark.parametrize(("total", "moves"), [("9", False), ("11", True), ("8.99", True), ("10.99", False)])
def test_float64_decides_at_the_border_of_the_tolerance(total: str, moves: bool) -> None:
    """Spec 4.3: in float64 exactly 1.1 already moves, exactly 0.9 does not."""
    assert (replicas(CRD, one(1, 10), 5, [total], LITERAL) != [5]) is moves


PAIR = (ScaledTarget("A", 1, 5, cost=30), ScaledTarget("B", 0, 4, cost=20))


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (200, [(1, 0), (1, 1), (1, 2), (2, 2), (3, 2), (3, 3), (3, 4), (4, 4), (5, 4)]),
        (100, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (4, 4), (5, 4)]),
    ],
)
def test_distribution(rate: int, expected: list[tuple[int, int]]) -> None:
    assert [distribution(Bound(PAIR, rate), total) for total in range(1, 10)] == expected


def test_totals_out_of_bounds_are_cut() -> None:
    assert distribution(Bound(PAIR, 200), 0) == (1, 0)
    assert distribution(Bound(PAIR, 200), 10) == (5, 4)
