"""Recommends replicas from metrics (Kthena spec 4.3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .settings import Defects, Number, ScalingPolicy

_MAX_RECOMMENDATION = 1_000_000_000
"""The controller caps recommendations at this number before it applies the bounds."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The metrics of all targets of a binding at one time.

    Attributes:
        values: For each target, the sum of its pods by metric; None for a target without metrics.
        unready: How many targets have a pod that is not ready.
    """

    values: Sequence[Mapping[str, Number] | None]
    unready: int = 0


def recommended(
    policy: ScalingPolicy, bounds: tuple[int, int], current: int, observed: Observation, defects: Defects
) -> int | None:
    """Return the recommended replicas within the bounds; None if no metric is reported."""
    minimum, maximum = bounds
    if current < minimum:
        return minimum
    if current > maximum:
        return maximum
    recommendations = [
        desired
        for name, target in policy.metrics
        if (desired := _Metric(name, target, policy.tolerance, defects).desired(current, observed)) is not None
    ]
    return min(max(*recommendations, minimum), maximum) if recommendations else None


@dataclass(frozen=True, slots=True)
class _Metric:
    """One metric of a policy.

    Attributes:
        target: Its target for one replica.
        tolerance: In percent.
    """

    name: str
    target: Fraction
    tolerance: int
    defects: Defects

    def desired(self, current: int, observed: Observation) -> int | None:
        """Return the replicas that this metric recommends; None if no target reports it.

        The first ratio decides the direction, as if each target were one replica. When scaling down, targets without
        metrics count as on target; when scaling up, they count as idle, like those that are not ready.
        """
        reported = [values[self.name] for values in observed.values if values and self.name in values]
        if not reported:
            return None
        count, total, missing = len(reported), sum(reported), len(observed.values) - len(reported)
        # The controller compares in float64; its defect D-15 is simulated with that.
        target: Number = float(self.target) if self.defects.tolerance_of_one else self.target
        ratio = total / count / target
        upwards = ratio >= 1
        add_unready = observed.unready > 0 and upwards
        if not add_unready and not missing:
            return current if self._is_tolerable(ratio, count, current) else _ceiling(ratio * count)
        count += missing
        if not upwards:
            total += missing * target
        if add_unready:
            count += observed.unready
        ratio = total / count / target
        if self._is_tolerable(ratio, count, current) or (ratio >= 1) != upwards:
            return current
        desired = _ceiling(ratio * count)
        return current if (desired < current if upwards else desired > current) else desired

    def _is_tolerable(self, ratio: Number, count: int, current: int) -> bool:
        """Return whether a ratio is within the tolerance, which is documented as a share of the current replicas."""
        # The controller compares the ratio to 1, as if each target had exactly one replica (D-15).
        if self.defects.tolerance_of_one:
            return abs(ratio - 1.0) <= float(self.tolerance) * 0.01
        return abs(_ceiling(ratio * count) - current) * 100 < current * self.tolerance


def _ceiling(value: Number) -> int:
    return min(math.ceil(value), _MAX_RECOMMENDATION)
