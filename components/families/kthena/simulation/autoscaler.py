"""The autoscaler of one binding, pass by pass (Kthena spec 4.1 to 4.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....performance.simulation.runs import Pass, ScalingRun
from ....performance.simulation.trace import Moment
from .correction import Corrector, Situation
from .recommendation import Observation, recommended
from .settings import FIXED, Bound, Defects, Number, ScaledTarget, ScalingPolicy

SCALER = "Kthena"
_CRASH = "the controller crashes: panicPolicy is not set"
_ONE_BLOCK = 100
"""Expansion rate at which all replicas of a target are one block, as they are with any lower rate."""


def simulate(
    policy: ScalingPolicy,
    bound: Bound,
    moments: Sequence[Moment],
    start: Mapping[str, int],
    defects: Defects = FIXED,
) -> ScalingRun:
    """Run the autoscaler on a trace.

    Args:
        policy: The metrics and the limits.
        bound: The targets and their bounds.
        moments: The metrics at each pass.
        start: The replicas before the first pass, by target.
        defects: The defects of the controller to simulate.
    """
    autoscaler = BindingScaler(policy, bound, defects)
    replicas, passes = dict(start), []
    for moment in moments:
        passes.append(autoscaler.step(moment, replicas))
        replicas = dict(passes[-1].replicas)
    return ScalingRun(SCALER, dict(start), tuple(passes))


@dataclass(frozen=True, slots=True)
class _State:
    """What the controller reads of one target."""

    target: str
    values: Mapping[str, Number] | None
    unready: int = 0
    note: str = ""


class BindingScaler:
    """The state that the controller keeps for one binding."""

    def __init__(self, policy: ScalingPolicy, bound: Bound, defects: Defects = FIXED) -> None:
        # The controller does not pass the metrics of the policy on to an optimizer (D-18).
        self._has_no_metrics = defects.optimizer_without_targets and bound.expansion is not None
        self._policy = replace(policy, metrics=()) if self._has_no_metrics else policy
        self._bound, self._defects = bound, defects
        self._corrector = Corrector(policy, (bound.minimum, bound.maximum), defects)
        self._crashed = False

    def step(self, moment: Moment, replicas: Mapping[str, int]) -> Pass:
        """Run one pass, given the current replicas by target."""
        targets = self._bound.targets
        current = sum(replicas[target.name] for target in targets)
        moment = _redirect_load(moment, replicas)
        states = [self._state(target, moment, replicas[target.name]) for target in targets]
        observed = Observation([state.values for state in states], sum(state.unready for state in states))
        bounds = self._bound.minimum, self._bound.maximum
        recommendation = recommended(self._policy, bounds, current, observed, self._defects)
        if len(states) == 1:
            note = states[0].note
        else:
            note = ", ".join(f"{state.target}: {state.note}" for state in states if state.note)
        if recommendation is None:
            if self._has_no_metrics:
                note = "the optimizer has no metric targets"
            return Pass(moment.time, dict(replicas), None, _CRASH if self._crashed else note)
        if self._has_no_metrics and self._policy.crashes:
            self._crashed = True
        if self._crashed:
            return Pass(moment.time, dict(replicas), recommendation, _CRASH)
        corrected, panic = self._corrector.correct(Situation(moment.time, current, recommendation))
        if self._bound.expansion is None:
            distributed = {targets[0].name: corrected}
        else:
            names = (target.name for target in targets)
            distributed = dict(zip(names, distribution(self._bound, corrected), strict=True))
        return Pass(moment.time, distributed, recommendation, "panic" if panic else note)

    def _state(self, scaled: ScaledTarget, moment: Moment, replicas: int) -> _State:
        """Return the metrics that the controller reads of a target: none if any pod has failed or is not ready."""
        target = scaled.name
        reading = moment.readings.get(target)
        if reading is None:
            return _State(target, None, note="has not reported yet")
        pods = reading.pods(replicas)
        if pods.failed:
            return _State(target, None, note="a pod has failed")
        if pods.starting:
            return _State(target, None, unready=1, note="a pod is starting")
        if not pods.ready:
            return _State(target, None, note="has no pods")
        if self._defects.absent_endpoint and not scaled.has_endpoint:
            return _State(
                target, {}, note="no pod answers: metricEndpoint is not set, and the controller asks at port 0"
            )
        values: Mapping[str, Number] = reading.values
        if self._defects.tolerance_of_one:
            values = {metric: float(value) for metric, value in reading.values.items()}
        return _State(target, values, note="" if reading.values else "no pod answers")


def _redirect_load(moment: Moment, replicas: Mapping[str, int]) -> Moment:
    """Add the load of targets without replicas in this run to another target.

    Requests go to the existing pods; a trace only contains which pods got them when it was recorded.
    """
    readings = dict(moment.readings)
    empty = [
        name for name, reading in readings.items() if reading.ready is None and not reading.pods(replicas[name]).count
    ]
    recipient = next((name for name, reading in readings.items() if name not in empty and reading.values), None)
    if recipient is None or not empty:
        return moment
    total = {
        metric: value + sum(readings[name].values.get(metric, 0) for name in empty)
        for metric, value in readings[recipient].values.items()
    }
    readings[recipient] = replace(readings[recipient], values=total)
    return Moment(moment.time, readings)


class Block(NamedTuple):
    """Replicas that a target gets before more expensive ones; sorted by cost, then by position of the target."""

    cost: int
    target: int
    size: int


def distribution(bound: Bound, total: int) -> tuple[int, ...]:
    """Distribute replicas over the targets of an optimizer: minima first, then the cheapest blocks (spec 4.5)."""
    replicas = [target.minimum for target in bound.targets]
    remaining = min(max(total, bound.minimum), bound.maximum) - bound.minimum
    for block in blocks(bound):
        added = min(remaining, block.size)
        replicas[block.target] += added
        remaining -= added
    return tuple(replicas)


def blocks(bound: Bound) -> list[Block]:
    """Return the blocks of all targets above their minima, the cheapest first."""
    rate = _ONE_BLOCK if bound.expansion is None else bound.expansion
    result = []
    for index, target in enumerate(bound.targets):
        remaining = target.maximum - target.minimum
        if rate <= _ONE_BLOCK and remaining > 0:
            result.append(Block(target.cost, index, remaining))
            continue
        # The length grows as float64, as in the controller.
        length = 1.0
        while remaining > 0:
            size = min(remaining, max(int(length), 1))
            result.append(Block(target.cost * size, index, size))
            remaining -= size
            length = length * float(rate) / 100
    return sorted(result)
