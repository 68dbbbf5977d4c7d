"""What holds for every policy, binding and load, with the defects fixed."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.families.kthena.autoscaling.effective import Pace, Panic
from components.families.kthena.simulation.autoscaler import blocks, distribution
from components.families.kthena.simulation.settings import Bound, ScaledTarget, ScalingPolicy
from components.performance.simulation.runs import Pass, ScalingRun
from components.performance.simulation.trace import Moment, TargetReading
from tests.families.kthena.simulation.support import TICK, run
from tests.tries import tries

RUNS = tries(5_000)
"""Random runs that are asked for."""
TICKS = 30
SPANS = st.sampled_from([0, 15_000, 30_000, 45_000, 60_000, 100_000, 300_000])
PACES = st.builds(
    Pace,
    st.integers(0, 6),
    st.sampled_from([0, 1, 10, 33, 50, 100, 200, 1000]),
    SPANS,
    st.booleans(),
    SPANS,
)
PANICS = st.builds(Panic, st.sampled_from([0, 50, 100, 1000]), SPANS, st.integers(110, 400), SPANS)
POLICIES = st.builds(
    ScalingPolicy,
    st.sampled_from([0, 5, 10, 10, 25, 100]),
    st.just((("load", Fraction(10)),)),
    PACES,
    PACES,
    st.none() | PANICS,
)
TOTALS = st.lists(st.sampled_from([0, 3, 10, 12, 25, 40, 95, 200, 777]), min_size=TICKS, max_size=TICKS)


class Case(NamedTuple):
    """A binding of one target with a start within its bounds, or out of them."""

    minimum: int
    maximum: int
    start: int

    @property
    def bound(self) -> Bound:
        return Bound((ScaledTarget("a", self.minimum, self.maximum),))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    minimum = draw(st.integers(0, 4))
    maximum = draw(st.integers(max(minimum, 1), 40))
    return Case(minimum, maximum, draw(st.integers(minimum, maximum) | st.integers(0, 60)))


def simulated(policy: ScalingPolicy, case: Case, totals: list[int]) -> ScalingRun:
    moments = [
        Moment(number * TICK, {"a": TargetReading({"load": Fraction(total)})}) for number, total in enumerate(totals)
    ]
    return run(policy, case.bound, {"a": case.start}, moments)


@given(POLICIES, cases(), TOTALS)
@settings(max_examples=RUNS, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_run(policy: ScalingPolicy, case: Case, totals: list[int]) -> None:
    made = simulated(policy, case, totals)
    before = [case.start, *(each.total for each in made.passes)]
    for number, each in enumerate(made.passes):
        assert case.minimum <= each.total <= case.maximum
        if before[number] == 0 and case.minimum == 0:
            assert (each.total, each.wanted) == (0, None)  # without pods there are no metrics
        elif case.minimum <= before[number] <= case.maximum:
            within_tolerance(policy, before[number], totals[number], each, case)
            in_steps(policy, made.passes, before, number)
            stabilized(policy, made.passes, before[number], number)


def within_tolerance(policy: ScalingPolicy, current: int, total: int, each: Pass, case: Case) -> None:
    """What is wanted differs only where the load is off by more than a share of the replicas that there are."""
    exact = -(-total // 10)
    near = abs(exact - current) * 100 < current * policy.tolerance
    assert each.wanted == min(max(current if near else exact, case.minimum), case.maximum)
    assert (each.total - current) * (each.wanted - current) >= 0 or each.note == "panic"


def in_steps(policy: ScalingPolicy, passes: Sequence[Pass], before: list[int], number: int) -> None:
    """In a period replicas change by no more than the limits say, counted from what there was in it.

    What a pass replaced at the very beginning of the period counts; what the first pass found is not remembered.
    """
    each, current = passes[number], before[number]

    def known(period: int) -> list[int]:
        return [current, *(before[later] for later in range(1, number) if (number - later) * TICK <= period)]

    if each.note != "panic" and each.total < current and policy.down.period:
        most = max(known(policy.down.period))
        assert each.total >= most - allowed(policy.down, most)
    if each.note != "panic" and each.total > current and policy.up.period:
        least = min(known(policy.up.period))
        assert each.total <= max(least + allowed(policy.up, least), current)


def allowed(pace: Pace, before: int) -> int:
    change = pace.instances, before * pace.percent // 100
    return max(change) if pace.fastest else min(change)


def stabilized(policy: ScalingPolicy, passes: Sequence[Pass], current: int, number: int) -> None:
    """Replicas do not fall below what was wanted within one window, nor rise above it within the other."""
    each = passes[number]

    def wanted(window: int) -> list[int]:
        near = [p.wanted for p in passes[: number + 1] if p.time + window >= each.time]
        return [value for value in near if value is not None]

    if each.note == "panic":
        assert each.total >= current
    elif each.total < current and policy.down.window:
        assert each.total >= min(max(wanted(policy.down.window)), current)
    elif each.total > current and policy.up.window:
        assert each.total <= max(min(wanted(policy.up.window)), current)


@given(POLICIES, cases(), st.integers(0, 500))
@settings(max_examples=tries(1_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_constant_load_does_not_oscillate(policy: ScalingPolicy, case: Case, total: int) -> None:
    """Replicas go in one direction, and not back."""
    made = simulated(policy, case, [total] * TICKS)
    series = [case.start, *(each.total for each in made.passes)]
    assert goes_one_way(series)


def goes_one_way(series: Sequence[int]) -> bool:
    return list(series) in (sorted(series), sorted(series, reverse=True))


@st.composite
def optimizers(draw: st.DrawFn) -> Bound:
    targets = []
    for name in "abcd"[: draw(st.integers(1, 4))]:
        minimum = draw(st.integers(0, 5))
        maximum = minimum + draw(st.integers(0, 20))
        targets.append(ScaledTarget(name, minimum, maximum, draw(st.sampled_from([0, 1, 10, 25, 400]))))
    return Bound(tuple(targets), draw(st.sampled_from([0, 50, 100, 110, 150, 200, 300, 5000])))


@given(optimizers(), st.integers(0, 120))
@settings(max_examples=tries(2_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_optimizer_fills_minima_first_and_releases_the_dearest_first(bound: Bound, total: int) -> None:
    replicas = distribution(bound, total)
    assert sum(replicas) == min(max(total, bound.minimum), bound.maximum)
    for target, each in zip(bound.targets, replicas, strict=True):
        assert target.minimum <= each <= target.maximum
    if bound.minimum < total <= bound.maximum:
        fewer = distribution(bound, total - 1)
        change = [after - before for before, after in zip(fewer, replicas, strict=True)]
        assert sorted(change) == [0] * (len(change) - 1) + [1]
        # What is released is of the dearest block that is in use.
        filled, left = blocks(bound), total - bound.minimum
        used = [block for block, start in zip(filled, starts(bound), strict=True) if start < left]
        assert change.index(1) == used[-1].target
        assert used[-1].cost == max(block.cost for block in used)


def starts(bound: Bound) -> list[int]:
    return [0, *itertools.accumulate(block.size for block in blocks(bound))][:-1]


@given(optimizers(), POLICIES, TOTALS)
@settings(max_examples=tries(1_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_optimizer_keeps_the_bounds_of_each_target(bound: Bound, policy: ScalingPolicy, totals: list[int]) -> None:
    """The load of a target without replicas is not lost: it goes to the others."""
    moments = [
        Moment(number * TICK, {t.name: TargetReading({"load": Fraction(total, 2)}) for t in bound.targets})
        for number, total in enumerate(totals)
    ]
    made = run(policy, bound, {target.name: target.minimum for target in bound.targets}, moments)
    for each in made.passes:
        assert tuple(each.replicas.values()) == distribution(bound, each.total)


@given(optimizers(), POLICIES, st.integers(0, 80), st.lists(st.integers(0, 120), min_size=4, max_size=4))
@settings(max_examples=tries(1_000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_constant_load_of_an_optimizer_does_not_oscillate(
    bound: Bound, policy: ScalingPolicy, start: int, totals: list[int]
) -> None:
    readings = {t.name: TargetReading({"load": Fraction(n)}) for t, n in zip(bound.targets, totals, strict=False)}
    moments = [Moment(number * TICK, readings) for number in range(TICKS)]
    before = dict(zip((target.name for target in bound.targets), distribution(bound, start), strict=True))
    made = run(policy, bound, before, moments)
    assert goes_one_way([sum(before.values()), *(each.total for each in made.passes)])
