"""Fleets with autoscalers of every kind, and what stands behind them."""

from dataclasses import replace
from typing import Any

from components.checks.metrics.chain import MetricChain, MetricSettings, metric_chain
from components.checks.metrics.words import Adapter
from components.fleet.autoscalers import Autoscaler
from components.fleet.rendered import Fleet
from components.plan.prerequisites.needed import ClusterFacts, prerequisites
from tests.fleets import errors, fleet_of, open_model, playground

MODEL = open_model()
ADDRESS = "http://kube-prometheus-stack-prometheus.monitoring.svc:9090"
QUEUES = {
    "vllm": "vllm:num_requests_waiting",
    "sglang": "sglang:num_queue_reqs",
    "tgi": "tgi_queue_size",
    "llamacpp": "llamacpp:requests_deferred",
}
RUNNING = {
    "vllm": "vllm:num_requests_running",
    "sglang": "sglang:num_running_reqs",
    "tgi": "tgi_batch_current_size",
    "llamacpp": "llamacpp:requests_processing",
}
POD_OVERRIDES = {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
AVG = "avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"


def metric(kind: str, name: str, selector: Any = None, **target: Any) -> dict[str, Any]:
    target = target or {"type": "AverageValue", "averageValue": "5"}
    named = {"name": name, **({"selector": selector} if selector else {})}
    return {"type": kind, kind.lower(): {"metric": named, "target": target}}


def pods(name: str, **target: Any) -> dict[str, Any]:
    return metric("Pods", name, **target)


def external(name: str, selector: Any = None, **target: Any) -> dict[str, Any]:
    return metric("External", name, selector, **target)


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


def scaled(
    *metrics: Any, backend: str = "vllm", name: str = "p", behavior: Any = None, **fields: Any
) -> dict[str, Any]:
    hpa = {**({"metrics": list(metrics)} if metrics else {}), **({"behavior": behavior} if behavior else {})}
    return playground(
        name,
        elasticConfig={"minReplicas": 1, "maxReplicas": 4, "scaleTrigger": {"hpa": hpa}},
        backendRuntimeConfig={"backendName": backend, **fields},
    )


def chain(*documents: Any, options: Any = None, **chosen: Any) -> MetricChain:
    fleet = fleet_of(MODEL, *documents, **(options or {}))
    assert not errors(fleet), errors(fleet)
    return metric_chain(fleet, MetricSettings(**chosen))


def with_minimum(fleet: Fleet, minimum: int) -> Fleet:
    """What other kinds of resources may ask for, and a Playground may not."""

    def changed(scaler: Autoscaler) -> Autoscaler:
        return replace(scaler, hpa={**scaler.hpa, "spec": {**scaler.hpa["spec"], "minReplicas": minimum}})

    return replace(
        fleet,
        rendered=tuple(replace(item, autoscalers=tuple(map(changed, item.autoscalers))) for item in fleet.rendered),
    )


def installed(*documents: dict[str, Any], adapter: Adapter = Adapter.PROMETHEUS_ADAPTER) -> set[str]:
    """The charts that an environment installs for what its autoscalers read."""
    fleet = fleet_of(MODEL, *documents)
    facts = ClusterFacts(adapter=adapter)
    further = ((chart, title) for chart, titles in metric_chain(fleet).needs.items() for title in titles)
    return {each.chart.name for each in prerequisites(fleet, (), facts, further)}
