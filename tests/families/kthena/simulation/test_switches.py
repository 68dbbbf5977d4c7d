"""Each defect is simulated only where that is asked for, and each on its own."""

from fractions import Fraction

import pytest

from components.families.kthena.simulation.settings import (
    DEFECTS,
    FIXED,
    LITERAL,
    Bound,
    Defects,
    ScaledTarget,
    ScalingPolicy,
)
from components.performance.simulation.trace import Moment, TargetReading
from tests.families.kthena.simulation.support import (
    CRD,
    CRD_PACE,
    NO_PANIC,
    TARGET,
    TICK,
    WEBHOOK,
    loads,
    one,
    pace,
    replicas,
    run,
)

PAIR = Bound((ScaledTarget("a", 1, 5, cost=30), ScaledTarget("b", 0, 4, cost=20)), 200)
UP_WINDOW = ScalingPolicy(10, TARGET, pace(1, 100, 15_000, window=60_000), CRD_PACE, NO_PANIC)
SLOW_DOWN = ScalingPolicy(10, TARGET, CRD_PACE, pace(1, 0, 60_000), NO_PANIC)


Passes = list[tuple[tuple[int, ...], str]]


def defects(*names: str) -> Defects:
    return Defects.of(names)


def test_all_of_them_are_the_controller() -> None:
    assert Defects.of(DEFECTS) == LITERAL
    assert Defects.of(()) == FIXED
    assert len({Defects.of([name]) for name in DEFECTS}) == len(DEFECTS)


class TestD15:
    """The tolerance is a share of the replicas: 10 % of 20 are 2."""

    @pytest.mark.parametrize(
        ("total", "expected"),
        [("200", 20), ("201", 20), ("210", 20), ("210.1", 22), ("181", 20), ("190", 20), ("180", 18), ("179.9", 18)],
    )
    def test_fixed(self, total: str, expected: int) -> None:
        assert replicas(CRD, one(1, 30), 20, [total]) == [expected]

    def test_few_replicas_are_exact(self) -> None:
        """Of 5 replicas 10 % are half a one: every change is larger."""
        assert replicas(CRD, one(1, 10), 5, ["10.5"]) == [2]
        assert replicas(CRD, one(1, 10), 5, ["10.5"], defects("D-15")) == [5]

    def test_numbers_are_exact(self) -> None:
        """In float64 2.1 / 0.3 is a little more than 7."""
        policy = ScalingPolicy(0, (("load", Fraction("0.3")),), CRD_PACE, CRD_PACE)
        assert replicas(policy, one(1, 30), 5, ["2.1"]) == [7]
        assert replicas(policy, one(1, 30), 5, ["2.1"], defects("D-15")) == [8]


class TestD16:
    """At most one replica goes in a minute, and its border belongs to the minute."""

    TOTALS = (80, *[25] * 12)

    def test_fixed(self) -> None:
        assert replicas(SLOW_DOWN, one(1, 10), 8, self.TOTALS) == [8, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 5, 5]

    def test_literal(self) -> None:
        assert replicas(SLOW_DOWN, one(1, 10), 8, self.TOTALS, defects("D-16")) == [8, 7, 6, 5, 4] + [3] * 8


class TestD17:
    """Windows hold recommendations: a jump that lasts passes them, and a fall too."""

    def test_scaling_up(self) -> None:
        totals = [25, *[95] * 8]
        assert replicas(UP_WINDOW, one(1, 10), 1, totals) == [2, 3, 3, 3, 3, 6, 6, 10, 10]
        assert replicas(UP_WINDOW, one(1, 10), 1, totals, defects("D-17")) == [2] * 9

    def test_scaling_down(self) -> None:
        """The last 95 leaves the window of 300 s, and its border, 21 passes after it."""
        totals = [95] * 7 + [25] * 24
        assert replicas(WEBHOOK, one(1, 20), 1, totals)[-6:] == [10, 10, 3, 3, 3, 3]
        assert replicas(WEBHOOK, one(1, 20), 1, totals, defects("D-17"))[-6:] == [10] * 6


class TestD18:
    def both(
        self, a: int, b: int, *names: str, start: tuple[int, int] = (1, 0), policy: ScalingPolicy = CRD
    ) -> Passes:
        readings = {"a": TargetReading({"load": TARGET[0][1] * a}), "b": TargetReading({"load": TARGET[0][1] * b})}
        moments = [Moment(number * TICK, readings) for number in range(4)]
        made = run(policy, PAIR, dict(zip("ab", start, strict=True)), moments, defects(*names))
        return [(tuple(each.replicas.values()), each.note) for each in made.passes]

    def test_fixed(self) -> None:
        assert self.both(6, 0, start=(1, 1))[-1] == ((3, 3), "panic")

    def test_literal_enforces_the_bounds_alone(self) -> None:
        assert {found[0] for found in self.both(6, 0, "D-18", start=(1, 1))} == {(1, 1)}
        assert self.both(0, 0, "D-18", start=(5, 9))[-1] == ((5, 4), "the optimizer has no metric targets")

    def test_without_panic_policy_nothing_crashes(self) -> None:
        calm = ScalingPolicy(10, TARGET, CRD_PACE, CRD_PACE, crashes=True)
        assert self.both(0, 0, start=(5, 9), policy=calm)[0] != ((5, 9), "")
        crashed = self.both(0, 0, "D-18", start=(5, 9), policy=calm)
        assert crashed == [((5, 9), "the controller crashes: panicPolicy is not set")] * 4

    def test_a_binding_of_one_target_has_none_of_it(self) -> None:
        calm = ScalingPolicy(10, TARGET, CRD_PACE, CRD_PACE, crashes=True)
        made = run(calm, one(1, 9), {"a": 1}, loads([20]), defects("D-18"))
        assert [each.total for each in made.passes] == [2]


class TestD19:
    """Without ``metricEndpoint`` the port is 0: every scrape fails, and such a pod contributes nothing."""

    ABSENT = Bound((ScaledTarget("a", 1, 10, has_endpoint=False),))

    def test_fixed(self) -> None:
        assert replicas(CRD, self.ABSENT, 3, ["85"]) == [9]

    def test_literal_changes_nothing(self) -> None:
        made = run(CRD, self.ABSENT, {"a": 3}, loads([85, 85]), defects("D-19"))
        assert [each.total for each in made.passes] == [3, 3]
        assert {each.note for each in made.passes} == {
            "no pod answers: metricEndpoint is not set, and the controller asks at port 0"
        }

    def test_literal_still_enforces_the_bounds(self) -> None:
        assert replicas(CRD, self.ABSENT, 12, ["85"], defects("D-19")) == [10]

    def test_an_endpoint_that_is_set_is_asked(self) -> None:
        assert replicas(CRD, one(1, 10), 3, ["85"], defects("D-19")) == [9]

    def test_other_targets_of_an_optimizer_still_answer(self) -> None:
        both = Bound((ScaledTarget("a", 1, 5, cost=30, has_endpoint=False), ScaledTarget("b", 0, 4, cost=20)), 200)
        readings = {name: TargetReading({"load": TARGET[0][1] * 4}) for name in "ab"}
        made = run(CRD, both, {"a": 1, "b": 1}, [Moment(0, readings)], defects("D-19"))
        # b alone reports 40 for two targets, of which the other is missing: 40 / 10 are 4.
        assert made.passes[0].wanted == 4
