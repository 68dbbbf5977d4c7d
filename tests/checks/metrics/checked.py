"""Playgrounds with an autoscaler on a metric, and what is wrong with it."""

from typing import Any

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.contract.problems import Problem
from tests.fleets import errors, fleet_of, open_model, playground

MODEL = open_model()
TRIGGER = "spec.elasticConfig.scaleTrigger.hpa"
UTILIZATION = {"type": "Utilization", "averageUtilization": 50}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": UTILIZATION}}


def read(kind: str, name: str, value: str = "5", target: str = "AverageValue", **metric: Any) -> dict[str, Any]:
    field = "averageValue" if target == "AverageValue" else "value"
    return {"type": kind, kind.lower(): {
        "metric": {"name": name, **metric}, "target": {"type": target, field: value}}}  # fmt: skip


def scaled(
    *metrics: Any, backend: str = "vllm", name: str = "p", behavior: Any = None, **fields: Any
) -> dict[str, Any]:
    hpa = {**({"metrics": list(metrics)} if metrics else {}), **({"behavior": behavior} if behavior else {})}
    return playground(
        name,
        elasticConfig={"maxReplicas": 4, "scaleTrigger": {"hpa": hpa}},
        backendRuntimeConfig={"backendName": backend, **fields},
    )


def problems(*documents: Any, model: Any = MODEL, **chosen: Any) -> tuple[Problem, ...]:
    fleet = fleet_of(model, *documents)
    assert not errors(fleet), errors(fleet)
    return metric_chain(fleet, MetricSettings(**chosen)).problems


def the_problem(*documents: Any, model: Any = MODEL, **chosen: Any) -> Problem:
    found = problems(*documents, model=model, **chosen)
    assert len(found) == 1, list(map(str, found))
    return found[0]
