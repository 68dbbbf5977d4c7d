"""Stabilization and scaling policies of the HorizontalPodAutoscaler controller (horizontal.go, v1.36.3)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt

from ..runs import Pass, ScalingRun
from ..trace import Moment, TargetReading
from .proposals import proposed
from .spec import HpaSpec, RatePolicy, Rules

_Memory = list[tuple[int, int]]
"""Times with numbers of replicas."""
_FACTOR = 2
_AT_LEAST = 4
"""Without a ``behavior``, a pass at most doubles the replicas, but may always scale up to 4."""


@dataclass(frozen=True, slots=True)
class Rescaling:
    """The result of one pass for a target.

    Attributes:
        proposed: Replicas that the metrics require; None if they were not evaluated or unknown.
    """

    replicas: int
    proposed: int | None
    note: str = ""


class HpaController:
    """The controller of one HorizontalPodAutoscaler, with its history."""

    def __init__(self, spec: HpaSpec) -> None:
        self._spec = spec
        self._known = False
        self._recommendations: _Memory = []
        self._added: _Memory = []
        self._removed: _Memory = []

    def step(self, now: int, replicas: int, reading: TargetReading) -> Rescaling:
        """Return the result of a pass for the current replicas and readings (reconcileAutoscaler)."""
        if not self._known:
            self._known = True
            self._recommendations.append((now, replicas))
        # Recommendations older than both windows no longer count.
        oldest = now - max(self._spec.up.window, self._spec.down.window)
        while self._recommendations and self._recommendations[0][0] < oldest:
            del self._recommendations[0]
        result = self._rescaling(now, replicas, reading)
        if self._spec.rated and result.replicas > replicas:
            _store(self._added, (now, result.replicas - replicas), self._spec.up)
        elif self._spec.rated and result.replicas < replicas:
            _store(self._removed, (now, replicas - result.replicas), self._spec.down)
        return result

    def _rescaling(self, now: int, replicas: int, reading: TargetReading) -> Rescaling:
        spec = self._spec
        if not replicas:
            return Rescaling(0, None, "disabled: there are no replicas")
        if replicas > spec.maximum or replicas < spec.minimum:
            return Rescaling(min(max(replicas, spec.minimum), spec.maximum), None, "out of bounds")
        proposal = proposed(spec, replicas, reading)
        if proposal is None:
            return Rescaling(replicas, None, "no metrics")
        if spec.rated:
            return Rescaling(self._rated(now, replicas, self._stabilized(now, replicas, proposal)), proposal)
        # Without a behavior, the window includes its oldest moment (ge); with one it does not (gt), like upstream.
        highest = max([proposal, *self._recent(now, spec.down.window, ge)])
        self._recommendations.append((now, proposal))
        limit = min(spec.maximum, max(_FACTOR * replicas, _AT_LEAST))
        return Rescaling(min(max(highest, spec.minimum), limit), proposal)

    def _stabilized(self, now: int, replicas: int, proposal: int) -> int:
        """Clamp the replicas to the recommendations of both windows (stabilizeRecommendationWithBehaviors)."""
        lowest = min([proposal, *self._recent(now, self._spec.up.window, gt)])
        highest = max([proposal, *self._recent(now, self._spec.down.window, gt)])
        self._recommendations.append((now, proposal))
        return min(max(replicas, lowest), highest)

    def _recent(self, now: int, window: int, newer: Callable[[int, int], bool]) -> list[int]:
        return [value for time, value in self._recommendations if newer(time, now - window)]

    def _rated(self, now: int, replicas: int, wanted: int) -> int:
        """Apply the scaling policies (convertDesiredReplicasWithBehaviorRate)."""
        if wanted > replicas:
            limit = max(self._limit(now, replicas, self._spec.up, _more), replicas)
            return min(wanted, limit, self._spec.maximum)
        if wanted < replicas:
            limit = min(self._limit(now, replicas, self._spec.down, _fewer), replicas)
            return max(wanted, limit, self._spec.minimum)
        return wanted

    def _limit(self, now: int, replicas: int, rules: Rules, moved: Callable[[RatePolicy, int], int]) -> int:
        if rules.select is None:
            return replicas
        limits = []
        for policy in rules.policies:
            # A policy limits the change from the replicas at the start of its period.
            added = sum(change for time, change in self._added if time > now - policy.span)
            removed = sum(change for time, change in self._removed if time > now - policy.span)
            limits.append(moved(policy, replicas - added + removed))
        return rules.select(limits)


def _store(events: _Memory, event: tuple[int, int], rules: Rules) -> None:
    """Record a change of replicas, replacing an outdated one (storeScaleEvent).

    An event is outdated if no policy of its own direction covers it, even if one of the other direction still does.
    """
    oldest = event[0] - max((policy.span for policy in rules.policies), default=0)
    outdated = [place for place, (time, _) in enumerate(events) if time < oldest]
    if outdated:
        events[outdated[-1]] = event
    else:
        events.append(event)


def _more(policy: RatePolicy, replicas: int) -> int:
    """Return the upper limit of a policy. Float64 rounding is intended: 10 percent above 10 is 12."""
    if policy.percent:
        return math.ceil(float(replicas) * (1 + policy.value / 100))
    return replicas + policy.value


def _fewer(policy: RatePolicy, replicas: int) -> int:
    if policy.percent:
        return math.trunc(float(replicas) * (1 - policy.value / 100))
    return replicas - policy.value


def simulate_hpas(
    specs: Mapping[str, HpaSpec], moments: Sequence[Moment], start: Mapping[str, int], scaler: str
) -> ScalingRun:
    """Simulate one autoscaler per target."""
    controllers = {target: HpaController(spec) for target, spec in specs.items()}
    replicas, passes = dict(start), []
    for moment in moments:
        steps = {
            target: controller.step(moment.time, replicas[target], moment.reading(target))
            for target, controller in controllers.items()
        }
        replicas = {target: step.replicas for target, step in steps.items()}
        proposals = [step.proposed for step in steps.values() if step.proposed is not None]
        total = sum(proposals) if len(proposals) == len(steps) else None
        if len(steps) == 1:
            note = next(step.note for step in steps.values())
        else:
            note = ", ".join(f"{target}: {step.note}" for target, step in steps.items() if step.note)
        passes.append(Pass(moment.time, dict(replicas), total, note))
    return ScalingRun(scaler, dict(start), tuple(passes))
