"""The result of a simulation: what each autoscaler did with one trace, and how they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .hpa.controller import simulate_hpas
from .hpa.spec import HpaSpec
from .runs import Measures, ScalingRun, measure
from .scenario import Scenario
from .trace import Moment, Trace


@dataclass(frozen=True, slots=True)
class Trial:
    """What to simulate.

    Attributes:
        start: By target, the replicas before the first pass.
        defects: Which defects of the controller to simulate.
        every: Milliseconds between passes; None for the times of the trace.
        prices: By target, what a replica costs an hour in US dollars.
        hpas: By target, what to compare with; empty for nothing.
    """

    scenario: Scenario
    trace: Trace
    start: Mapping[str, int]
    defects: Sequence[str] = ()
    every: int | None = None
    prices: Mapping[str, Decimal] | None = None
    hpas: Mapping[str, HpaSpec] | None = None


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a trial.

    Attributes:
        runs: The autoscaler, and what it is compared with.
        measures: What each comes to.
    """

    trial: Trial
    moments: tuple[Moment, ...]
    runs: tuple[ScalingRun, ...]
    measures: tuple[Measures, ...]

    def loads(self, metric: str) -> list[Fraction]:
        """Return what all pods reported of a metric in each pass."""
        return [
            sum((reading.values.get(metric, Fraction(0)) for reading in moment.readings.values()), Fraction(0))
            for moment in self.moments
        ]

    @property
    def difference(self) -> dict[str, float | None]:
        """The measures of the second run without those of the first; empty where there is one."""
        if len(self.runs) < 2:
            return {}
        first, second = self.measures
        costs = first.total_usd, second.total_usd
        usd = None if costs[0] is None or costs[1] is None else float(costs[1] - costs[0])
        return {
            "replicaHours": float(second.total_hours - first.total_hours),
            "usd": usd,
            "secondsAboveTarget": float(second.above - first.above),
            "changes": second.changes - first.changes,
            "peakReplicas": second.peak - first.peak,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        scenario, trial = self.trial.scenario, self.trial
        return {
            "binding": scenario.sources[0].title,
            "policy": scenario.sources[1].title,
            "namespace": scenario.namespace,
            "metrics": {metric: float(target) for metric, target in scenario.metrics.items()},
            "targets": {each.name: {"min": each.minimum, "max": each.maximum} for each in scenario.targets},
            "start": dict(trial.start),
            "defects": list(trial.defects),
            "usdPerReplicaHour": {name: float(price) for name, price in (trial.prices or {}).items()},
            "loads": [
                {"time": moment.time / 1000, **{metric: float(values[place]) for metric, values in self._loads()}}
                for place, moment in enumerate(self.moments)
            ],
            "runs": [
                {
                    "scaler": run.scaler,
                    "measures": measures.as_dict(),
                    "passes": [each.as_dict() for each in run.passes],
                }
                for run, measures in zip(self.runs, self.measures, strict=True)
            ],
            "difference": self.difference or None,
        }

    def _loads(self) -> list[tuple[str, list[Fraction]]]:
        return [(metric, self.loads(metric)) for metric in self.trial.scenario.metrics]


def simulated(trial: Trial) -> Simulation:
    """Simulate."""
    scenario = trial.scenario
    moments = scenario.read(trial.trace, trial.defects, trial.every)
    runs = [scenario.run(moments, trial.start, trial.defects)]
    if trial.hpas:
        runs.append(simulate_hpas(trial.hpas, moments, trial.start, "HPA"))
    measures = (measure(run, moments, scenario.metrics, trial.prices or {}) for run in runs)
    return Simulation(trial, moments, tuple(runs), tuple(measures))


def starting_replicas(scenario: Scenario, trace: Trace, given: Mapping[str, int]) -> dict[str, int]:
    """Return the replicas of each target before the first pass.

    What is given comes first, then the pods that the trace counts at its start, what the target's manifest asks for,
    and the lower bound.
    """
    found = {}
    for target in scenario.targets:
        first = trace.targets[target.name][0][1]
        counted = None if first.ready is None else first.ready + first.failed + first.starting
        asked = (given.get(target.name), counted, target.replicas)
        found[target.name] = next((number for number in asked if number is not None), target.minimum)
    return found
