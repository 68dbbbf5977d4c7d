"""The controller with its defects, against a second formulation of the same text."""

from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.families.kthena.simulation.autoscaler import BindingScaler, distribution
from components.families.kthena.simulation.settings import Bound, Defects, ScaledTarget, ScalingPolicy
from components.performance.simulation.trace import Moment, TargetReading
from tests.families.kthena.simulation.formulation import Plain
from tests.families.kthena.simulation.test_invariants import POLICIES, optimizers
from tests.tries import tries

LITERAL = Defects.of(["D-15", "D-16", "D-17"])
STATES = st.sampled_from(["ready", "ready", "ready", "ready", "failed", "starting", "none"])
SAMPLES = st.lists(st.tuples(STATES, st.sampled_from([0, 3, 9, 10, 11, 12, 25, 40, 95, 400])), min_size=4, max_size=4)
TRACES = st.lists(st.tuples(st.sampled_from([15_000, 15_000, 15_000, 7_000, 400_000]), SAMPLES), max_size=25)

Steps = list[tuple[int, list[tuple[str, int]]]]


def reading(state: str, value: int) -> TargetReading:
    values = {"load": Fraction(value)}
    return TargetReading(values, 0 if state == "none" else 1, int(state == "failed"), int(state == "starting"))


@given(POLICIES, optimizers(), st.lists(st.integers(0, 20), min_size=4, max_size=4), TRACES)
@settings(max_examples=tries(1_500), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_same_replicas(policy: ScalingPolicy, bound: Bound, start: list[int], trace: Steps) -> None:
    check(policy, bound, start, trace)


@given(POLICIES, st.integers(0, 5), st.integers(1, 30), st.lists(st.integers(0, 40), min_size=1, max_size=1), TRACES)
@settings(max_examples=tries(1_500), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_same_replicas_of_one_target(
    policy: ScalingPolicy, minimum: int, more: int, start: list[int], trace: Steps
) -> None:
    check(policy, Bound((ScaledTarget("a", minimum, minimum + more),)), start, trace)


def check(policy: ScalingPolicy, bound: Bound, start: list[int], trace: Steps) -> None:
    names = [target.name for target in bound.targets]
    scaler, plain = BindingScaler(policy, bound, LITERAL), Plain(policy, bound.minimum, bound.maximum)
    replicas, now = dict(zip(names, start, strict=False)), 0
    for gap, samples in trace:
        now += gap
        states = dict(zip(names, samples, strict=False))
        values = [float(value) if state == "ready" else None for state, value in states.values()]
        unready = sum(state == "starting" for state, _ in states.values())
        total = plain.step(now, sum(replicas.values()), values, unready)
        found = scaler.step(Moment(now, {name: reading(*each) for name, each in states.items()}), replicas)
        assert found.total == total
        if found.wanted is not None and bound.expansion is not None:
            assert tuple(found.replicas.values()) == distribution(bound, total)
        replicas = dict(found.replicas)
