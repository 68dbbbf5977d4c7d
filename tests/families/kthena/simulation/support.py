"""Traces and settings for the tests of the simulation."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from components.families.kthena.autoscaling.effective import Pace, Panic
from components.families.kthena.simulation.autoscaler import simulate
from components.families.kthena.simulation.settings import FIXED, Bound, Defects, ScaledTarget, ScalingPolicy
from components.performance.simulation.runs import ScalingRun
from components.performance.simulation.trace import Moment, TargetReading

TICK = 15_000
TARGET = (("load", Fraction(10)),)


def pace(instances: int, percent: int, period: int, *, fastest: bool = True, window: int = 0) -> Pace:
    """How fast; by default the looser limit holds, without stabilization."""
    return Pace(instances, percent, period, fastest, window)


CRD_PACE = pace(1, 100, 15_000)
CRD_PANIC = Panic(percent=1000, period=0, threshold=200, hold=60_000)
NO_PANIC = Panic(percent=1000, period=0, threshold=200, hold=0)
CRD = ScalingPolicy(10, TARGET, CRD_PACE, CRD_PACE, CRD_PANIC)
"""The defaults of the CustomResourceDefinition, for objects that the controller wrote (spec 2.8)."""
WEBHOOK = ScalingPolicy(
    10,
    TARGET,
    pace(4, 100, 60_000),
    pace(0, 100, 60_000, window=300_000),
    Panic(percent=0, period=0, threshold=200, hold=0),
)
"""The defaults of the webhook (spec 1.4, M2)."""


def one(minimum: int, maximum: int) -> Bound:
    return Bound((ScaledTarget("a", minimum, maximum),))


def loads(totals: Iterable[object], target: str = "a") -> list[Moment]:
    """A tick of 15 s for each total of the metric."""
    return [
        Moment(number * TICK, {target: TargetReading({"load": Fraction(str(total))})})
        for number, total in enumerate(totals)
    ]


def replicas(
    policy: ScalingPolicy, bound: Bound, start: int, totals: Sequence[object], defects: Defects = FIXED
) -> list[int]:
    return [each.total for each in run(policy, bound, {"a": start}, loads(totals), defects).passes]


def run(
    policy: ScalingPolicy,
    bound: Bound,
    start: Mapping[str, int],
    moments: Sequence[Moment],
    defects: Defects = FIXED,
) -> ScalingRun:
    return simulate(policy, bound, moments, start, defects)
