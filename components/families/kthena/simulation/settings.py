"""What the algorithm is told: a policy and a binding, with periods in milliseconds."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Self

DEFECTS = {
    "D-15": "the tolerance is tested against one replica instead of the current replicas",
    "D-16": "the rate of scaling down is limited per pass instead of per period",
    "D-17": "stabilization windows remember what was set instead of what was recommended",
    "D-18": "a binding with an optimizer has no metric targets, and without panicPolicy it crashes",
}
"""Where the controller does not do what the fields promise (Kthena spec 10)."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Which defects to simulate as they are; none by default."""

    tolerance_of_one: bool = False
    least_of_period: bool = False
    windows_of_corrected: bool = False
    optimizer_without_targets: bool = False

    @classmethod
    def of(cls, defects: Iterable[str]) -> Self:
        """Return the switches for some of the defects, by their numbers."""
        chosen = set(defects)
        return cls(*(number in chosen for number in DEFECTS))

    @property
    def defects(self) -> tuple[str, ...]:
        """Numbers of the defects that are simulated."""
        return tuple(number for number, field in zip(DEFECTS, fields(self), strict=True) if getattr(self, field.name))


FIXED = Literal()
LITERAL = Literal.of(DEFECTS)

Number = Fraction | float
"""Exact, or float64 as the controller computes."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast replicas may change in one direction.

    Attributes:
        either: Whether the looser of the two limits holds (``Or``), instead of the tighter one (``And``).
        period: The time that both limits are for; 0 for no limit.
        window: The stabilization window; 0 for none.
    """

    instances: int
    percent: int
    period: int
    either: bool = True
    window: int = 0


@dataclass(frozen=True, slots=True)
class Panic:
    """When to scale up without stabilization, how fast and for how long."""

    percent: int
    period: int
    threshold: int
    hold: int


UNLIMITED = Rate(instances=0, percent=0, period=0)


@dataclass(frozen=True, slots=True)
class ScalingPolicy:
    """What an AutoscalingPolicy says.

    Attributes:
        tolerance: Percent of the replicas by which they may be wrong.
        metrics: By metric, its value for one replica.
        panic: None where the policy has no panicPolicy.
    """

    tolerance: int
    metrics: tuple[tuple[str, Fraction], ...]
    up: Rate = UNLIMITED
    down: Rate = UNLIMITED
    panic: Panic | None = None


@dataclass(frozen=True, slots=True)
class ScaledTarget:
    """What a binding scales, and between which bounds.

    Attributes:
        cost: Its cost in an optimizer; 0 elsewhere.
    """

    name: str
    minimum: int
    maximum: int
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """What an AutoscalingPolicyBinding says.

    Attributes:
        expansion: costExpansionRatePercent of an optimizer; None for a binding that scales one target.
    """

    targets: tuple[ScaledTarget, ...]
    expansion: int | None = None

    @property
    def minimum(self) -> int:
        """Replicas that all targets have together at least."""
        return sum(target.minimum for target in self.targets)

    @property
    def maximum(self) -> int:
        """Replicas that all targets have together at most."""
        return sum(target.maximum for target in self.targets)
