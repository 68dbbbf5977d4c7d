"""The inputs of the algorithm: a policy and a binding, with periods in milliseconds, and the defects to simulate."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from ..autoscaling.effective import Pace, Panic

DEFECTS = {
    "D-15": "the tolerance is tested against one replica instead of the current replicas",
    "D-16": "the rate of scaling down is limited per pass instead of per period",
    "D-17": "stabilization windows remember what was set instead of what was recommended",
    "D-18": "a binding with an optimizer has no metric targets, and without panicPolicy it crashes",
    "D-19": "without metricEndpoint the port is 0, so that no pod answers",
    "M2": "nothing fills in what is left out: absent sections of the policy set no limit, a cost is 0",
}
"""Where the controller does not behave as its fields are documented (Kthena spec 1.4 and 10)."""


@dataclass(frozen=True, slots=True)
class Defects:
    """The defects to simulate, in the order of ``DEFECTS``; none by default."""

    tolerance_of_one: bool = False
    least_of_period: bool = False
    windows_of_corrected: bool = False
    optimizer_without_targets: bool = False
    absent_endpoint: bool = False
    absent_stays: bool = False

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Return the switches for defects by name."""
        chosen = set(names)
        return cls(*(name in chosen for name in DEFECTS))


FIXED = Defects()
LITERAL = Defects.of(DEFECTS)

Number = Fraction | float
"""Exact, or float64 like in the controller."""


UNLIMITED = Pace(instances=0, percent=0, period=0, fastest=True, window=0)
"""The limits that the controller applies without a section: none."""


@dataclass(frozen=True, slots=True)
class ScalingPolicy:
    """An AutoscalingPolicy.

    Attributes:
        tolerance: Percent of the replicas by which a recommendation may differ without effect.
        metrics: Each metric with its target for one replica.
        crashes: Whether the controller crashes when an optimizer changes replicas: it does without a panicPolicy.
    """

    tolerance: int
    metrics: tuple[tuple[str, Fraction], ...]
    up: Pace = UNLIMITED
    down: Pace = UNLIMITED
    panic: Panic | None = None
    crashes: bool = False


@dataclass(frozen=True, slots=True)
class ScaledTarget:
    """A target of a binding, with its bounds.

    Attributes:
        cost: Its cost in an optimizer; 0 elsewhere.
        has_endpoint: Whether ``metricEndpoint`` is set, even if it is empty.
    """

    name: str
    minimum: int
    maximum: int
    cost: int = 0
    has_endpoint: bool = True


@dataclass(frozen=True, slots=True)
class Bound:
    """An AutoscalingPolicyBinding.

    Attributes:
        expansion: costExpansionRatePercent of an optimizer; None for a binding that scales one target.
    """

    targets: tuple[ScaledTarget, ...]
    expansion: int | None = None

    @property
    def minimum(self) -> int:
        """The lower bound of all targets together."""
        return sum(target.minimum for target in self.targets)

    @property
    def maximum(self) -> int:
        """The upper bound of all targets together."""
        return sum(target.maximum for target in self.targets)
