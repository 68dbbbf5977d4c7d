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
        self._forget(now)
        found = self._rescaling(now, replicas, reading)
        if self._spec.rated and found.replicas > replicas:
            _store(self._added, (now, found.replicas - replicas), self._spec.up)
        elif self._spec.rated and found.replicas < replicas:
            _store(self._removed, (now, replicas - found.replicas), self._spec.down)
        return found

    def _forget(self, now: int) -> None:
        """Drop recommendations that are older than both windows."""
        oldest = now - max(self._spec.up.window, self._spec.down.window)
        while self._recommendations and self._recommendations[0][0] < oldest:
            del self._recommendations[0]

    def _rescaling(self, now: int, replicas: int, reading: TargetReading) -> Rescaling:
        spec = self._spec
        if not replicas:
            return Rescaling(0, None, "disabled: there are no replicas")
        if replicas > spec.maximum or replicas < spec.minimum:
            return Rescaling(min(max(replicas, spec.minimum), spec.maximum), None, "out of bounds")
        proposal = proposed(spec, replicas, reading)
        if proposal is None:
            return Rescaling(replicas, None, "no metrics")
        return Rescaling(self._normalized(now, replicas, proposal), proposal)

    def _normalized(self, now: int, replicas: int, proposal: int) -> int:
        if not self._spec.rated:
            highest = max([proposal, *self._recent(now, self._spec.down.window, ge)])
            self._recommendations.append((now, proposal))
            limit = min(self._spec.maximum, max(_FACTOR * replicas, _AT_LEAST))
            return min(max(highest, self._spec.minimum), limit)
        return self._rated(now, replicas, self._stabilized(now, replicas, proposal))

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
        limits = [moved(policy, self._at_start(now, replicas, policy.span)) for policy in rules.policies]
        return rules.select(limits)

    def _at_start(self, now: int, replicas: int, span: int) -> int:
        """Return the replicas at the start of a policy's period."""
        added = sum(change for time, change in self._added if time > now - span)
        removed = sum(change for time, change in self._removed if time > now - span)
        return replicas - added + removed


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
        passes.append(Pass(moment.time, dict(replicas), _wanted(steps), _note(steps)))
    return ScalingRun(scaler, dict(start), tuple(passes))


def _wanted(steps: Mapping[str, Rescaling]) -> int | None:
    known = [step.proposed for step in steps.values() if step.proposed is not None]
    return sum(known) if len(known) == len(steps) else None


def _note(steps: Mapping[str, Rescaling]) -> str:
    if len(steps) == 1:
        return next(step.note for step in steps.values())
    return ", ".join(f"{target}: {step.note}" for target, step in steps.items() if step.note)
