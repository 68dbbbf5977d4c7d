"""Simulations: the runs of autoscalers on one trace, and their differences."""

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
    """Inputs of a simulation.

    Attributes:
        start: Replicas before the first pass, by target.
        defects: Defects of the controller to simulate.
        every: Interval of passes in milliseconds; None for the times of the trace.
        prices: Price of a replica by target, in US dollars per hour.
        hpas: HorizontalPodAutoscalers to compare with, by target; empty for no comparison.
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
    """Result of a simulation.

    Attributes:
        runs: The run of the autoscaler, then that of the comparison, if any.
        measures: The measures of each run.
    """

    trial: Trial
    moments: tuple[Moment, ...]
    runs: tuple[ScalingRun, ...]
    measures: tuple[Measures, ...]

    def loads(self, metric: str) -> list[Fraction]:
        """Return the total of a metric over all targets, for each pass."""
        return [
            sum((reading.values.get(metric, Fraction(0)) for reading in moment.readings.values()), Fraction(0))
            for moment in self.moments
        ]

    @property
    def difference(self) -> dict[str, float | None]:
        """The measures of the second run minus those of the first; empty for a single run."""
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
        scenario, trial = self.trial.scenario, self.trial
        loads = {metric: self.loads(metric) for metric in scenario.metrics}
        return {
            "binding": scenario.sources[0].title,
            "policy": scenario.sources[1].title,
            "namespace": scenario.namespace,
            "metrics": {metric: float(target) for metric, target in scenario.metrics.items()},
            "targets": {target.name: {"min": target.minimum, "max": target.maximum} for target in scenario.targets},
            "start": dict(trial.start),
            "defects": list(trial.defects),
            "usdPerReplicaHour": {name: float(price) for name, price in (trial.prices or {}).items()},
            "loads": [
                {"time": moment.time / 1000, **{metric: float(values[index]) for metric, values in loads.items()}}
                for index, moment in enumerate(self.moments)
            ],
            "runs": [
                {
                    "scaler": run.scaler,
                    "measures": measures.as_dict(),
                    "passes": [step.as_dict() for step in run.passes],
                }
                for run, measures in zip(self.runs, self.measures, strict=True)
            ],
            "difference": self.difference or None,
        }


def simulated(trial: Trial) -> Simulation:
    scenario = trial.scenario
    moments = scenario.read(trial.trace, trial.defects, trial.every)
    runs = [scenario.run(moments, trial.start, trial.defects)]
    if trial.hpas:
        runs.append(simulate_hpas(trial.hpas, moments, trial.start, "HPA"))
    measures = (measure(run, moments, scenario.metrics, trial.prices or {}) for run in runs)
    return Simulation(trial, moments, tuple(runs), tuple(measures))


def starting_replicas(scenario: Scenario, trace: Trace, given: Mapping[str, int]) -> dict[str, int]:
    """Return the replicas of each target before the first pass.

    The first available of: the given value, the pods at the start of the trace, the manifest's replicas, the lower
    bound.
    """
    replicas = {}
    for target in scenario.targets:
        first = trace.targets[target.name][0][1]
        counted = None if first.ready is None else first.ready + first.failed + first.starting
        candidates = (given.get(target.name), counted, target.replicas)
        replicas[target.name] = next((number for number in candidates if number is not None), target.minimum)
    return replicas
