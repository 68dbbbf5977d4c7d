"""The autoscaler of one binding, pass by pass (Kthena spec 4.1 to 4.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ....performance.simulation.runs import Pass, ScalingRun
from ....performance.simulation.trace import Moment, TargetReading
from .correction import Corrector, Situation
from .optimizer import distribution
from .recommendation import Observation, recommended
from .settings import FIXED, Bound, Defects, Number, ScaledTarget, ScalingPolicy

SCALER = "Kthena"


def simulate(
    policy: ScalingPolicy,
    bound: Bound,
    moments: Sequence[Moment],
    start: Mapping[str, int],
    defects: Defects = FIXED,
) -> ScalingRun:
    """Return what the autoscaler does on a trace.

    Args:
        policy: What to scale on, and how fast.
        bound: What is scaled, and its bounds.
        moments: What it reads in each pass.
        start: By target, the replicas before the first pass.
        defects: Which defects of the controller to simulate.
    """
    autoscaler = BindingScaler(policy, bound, defects)
    replicas, passes = dict(start), []
    for moment in moments:
        passes.append(autoscaler.step(moment, replicas))
        replicas = dict(passes[-1].replicas)
    return ScalingRun(SCALER, dict(start), tuple(passes))


class BindingScaler:
    """One binding, with what the controller remembers of it."""

    def __init__(self, policy: ScalingPolicy, bound: Bound, defects: Defects = FIXED) -> None:
        self._blind = defects.optimizer_without_targets and bound.expansion is not None
        self._policy = _without_metrics(policy) if self._blind else policy
        self._bound, self._defects = bound, defects
        self._corrector = Corrector(policy, (bound.minimum, bound.maximum), defects)
        self._crashed = False

    def step(self, moment: Moment, replicas: Mapping[str, int]) -> Pass:
        """Return what it makes of the replicas that there are, and of what their pods report."""
        current = sum(replicas[target.name] for target in self._bound.targets)
        moment = _with_load_of_the_empty(moment, replicas)
        states = [self._state(target, moment, replicas[target.name]) for target in self._bound.targets]
        observed = Observation([state.values for state in states], sum(state.unready for state in states))
        bounds = self._bound.minimum, self._bound.maximum
        wanted = recommended(self._policy, bounds, current, observed, self._defects)
        note = _notes(states)
        if wanted is None:
            return Pass(moment.time, dict(replicas), None, self._why_nothing(note))
        if self._blind and self._policy.crashes:
            self._crashed = True
        if self._crashed:
            return Pass(moment.time, dict(replicas), wanted, _CRASH)
        corrected, panic = self._corrector.correct(Situation(moment.time, current, wanted))
        return Pass(moment.time, self._shared_out(corrected), wanted, "panic" if panic else note)

    def _shared_out(self, total: int) -> dict[str, int]:
        if self._bound.expansion is None:
            return {self._bound.targets[0].name: total}
        names = (target.name for target in self._bound.targets)
        return dict(zip(names, distribution(self._bound, total), strict=True))

    def _state(self, scaled: ScaledTarget, moment: Moment, replicas: int) -> "_State":
        """Return what the controller gets of a target: nothing while a single pod has failed or is not ready."""
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
            return _State(target, {}, note=_NO_PORT)
        return _State(target, self._numbers(reading), note="" if reading.values else "no pod answers")

    def _numbers(self, reading: TargetReading) -> Mapping[str, Number]:
        if self._defects.tolerance_of_one:
            return {metric: float(value) for metric, value in reading.values.items()}
        return reading.values

    def _why_nothing(self, note: str) -> str:
        if self._crashed:
            return _CRASH
        return "the optimizer has no metric targets" if self._blind else note


def _with_load_of_the_empty(moment: Moment, replicas: Mapping[str, int]) -> Moment:
    """Return a moment in which targets that have no replicas here leave their load to another one.

    Requests go to the pods that there are; a trace tells only where they went when it was recorded.
    """
    readings = dict(moment.readings)
    empty = [name for name, each in readings.items() if each.ready is None and not each.pods(replicas[name]).count]
    heir = next((name for name, each in readings.items() if name not in empty and each.values), None)
    if heir is None or not empty:
        return moment
    total = {
        metric: value + sum(readings[name].values.get(metric, 0) for name in empty)
        for metric, value in readings[heir].values.items()
    }
    readings[heir] = replace(readings[heir], values=total)
    return Moment(moment.time, readings)


_NO_PORT = "no pod answers: metricEndpoint is not set, and the controller asks at port 0"
_CRASH = "the controller crashes: panicPolicy is not set"


@dataclass(frozen=True, slots=True)
class _State:
    """What the controller gets of one target."""

    target: str
    values: Mapping[str, Number] | None
    unready: int = 0
    note: str = ""


def _notes(states: Sequence[_State]) -> str:
    if len(states) == 1:
        return states[0].note
    return ", ".join(f"{state.target}: {state.note}" for state in states if state.note)


def _without_metrics(policy: ScalingPolicy) -> ScalingPolicy:
    """Return a policy as the optimizer knows it (D-18): its metrics are not handed over."""
    return replace(policy, metrics=())
