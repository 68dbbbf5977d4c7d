"""ScaledObjects in virtual time, against what KEDA documents and creates (kedacore/keda, controllers/keda/hpa.go)."""

from dataclasses import replace
from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter
from components.families import objects
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.plan import plan
from livefleet.virtual.fleet import Gauge, VirtualFleet, VirtualScaler
from livefleet.virtual.keda import scaler_of
from livefleet.virtual.reading import virtual_fleet
from livefleet.virtual.scaling import ScalerPasses
from livefleet.virtual.serving import RunningWorkload
from tests.fleets import open_model, playground
from tests.livefleet.virtual.small import KEY, arrivals, fleet, group, run, workload
from tests.monitoring.simulated.workload import pods_metric

Json = dict[str, Any]
WAITING = 'sum(vllm:num_requests_waiting{namespace="models"})'
QUERIES = {WAITING: Gauge.QUEUE}
NAME = "s0-prometheus"


def trigger(threshold: str = "2", metric_type: str | None = "AverageValue", **metadata: str) -> Json:
    found = {"query": WAITING, "threshold": threshold, "ignoreNullValues": "false", **metadata}
    return {"type": "prometheus", "metadata": found, **({"metricType": metric_type} if metric_type else {})}


def scaled(**fields: Any) -> Json:
    return {"minReplicaCount": 1, "maxReplicaCount": 3, "triggers": [trigger()], **fields}


@pytest.mark.parametrize(
    ("metric_type", "target"),
    [
        (None, {"type": "AverageValue", "averageValue": "2"}),
        ("AverageValue", {"type": "AverageValue", "averageValue": "2"}),
        ("Value", {"type": "Value", "value": "2"}),
    ],
)
def test_a_trigger_becomes_an_external_metric(metric_type: str | None, target: Json) -> None:
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    spec = scaled(
        minReplicaCount=2,
        triggers=[trigger(metric_type=metric_type)],
        advanced={"horizontalPodAutoscalerConfig": {"behavior": behavior}},
    )
    metric = {"type": "External", "external": {"metric": {"name": NAME}, "target": target}}
    hpa = {"minReplicas": 2, "maxReplicas": 3, "metrics": [metric], "behavior": behavior}
    assert scaler_of(spec, QUERIES, 15.0) == VirtualScaler(hpa, {NAME: Gauge.QUEUE}, 15.0)


def test_the_default_maximum_is_100() -> None:
    found = scaler_of({"minReplicaCount": 1, "triggers": [trigger()]}, QUERIES, 15.0)
    assert isinstance(found, VirtualScaler)
    assert found.spec["maxReplicas"] == 100
    assert "behavior" not in found.spec


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"minReplicaCount": 0}, "below one replica"),
        ({"minReplicaCount": None}, "below one replica"),
        ({"minReplicaCount": 2, "idleReplicaCount": 0}, "idleReplicaCount"),
        ({"advanced": {"scalingModifiers": {"formula": "a", "target": "2"}}}, "scalingModifiers"),
        ({"fallback": {"failureThreshold": 4, "replicas": 1}}, "fallback"),
        ({"fallback": {"failureThreshold": 4, "replicas": 2, "behavior": "currentReplicasIfHigher"}}, "fallback"),
        ({"triggers": [trigger(), {"type": "cpu", "metadata": {"value": "80"}}]}, "type cpu"),
        ({"triggers": [trigger(query="sum(up)")]}, "sum(up)"),
    ],
)
def test_what_is_not_simulated_has_a_reason(fields: Json, words: str) -> None:
    found = scaler_of(scaled(**fields), QUERIES, 15.0)
    assert isinstance(found, str)
    assert words in found


@pytest.mark.parametrize("value", [None, "true", "1", "false", "False", "0"])
def test_a_missing_series_is_0_unless_it_is_an_error(value: str | None) -> None:
    spec = scaled(triggers=[trigger(), trigger()])
    del spec["triggers"][1]["metadata"]["ignoreNullValues"]
    if value is not None:
        spec["triggers"][1]["metadata"]["ignoreNullValues"] = value
    found = scaler_of(spec, QUERIES, 15.0)
    assert isinstance(found, VirtualScaler)
    assert found.zeros == ((), ("s1-prometheus",))[value in (None, "true", "1")]


@pytest.mark.parametrize(("zeros", "replicas"), [((), 3), ((NAME,), 1)], ids=["error", "0"])
def test_without_a_series_only_a_trigger_that_is_0_scales_down(zeros: tuple[str, ...], replicas: int) -> None:
    at_once = {"scaleDown": {"stabilizationWindowSeconds": 0}}
    scaler = scaler_of(scaled(advanced={"horizontalPodAutoscalerConfig": {"behavior": at_once}}), QUERIES, 15.0)
    assert isinstance(scaler, VirtualScaler)
    running = RunningWorkload(workload(scaler=scaler))
    running.wanted = 3
    assert ScalerPasses(running, replace(scaler, zeros=zeros)).step(0.0) == replicas


def test_replicas_follow_a_burst_within_their_bounds_and_wait_for_the_window() -> None:
    """A burst of 1200 requests of a second each in 300 s: 3 replicas are the maximum, and one remains at the end."""
    window = {"scaleDown": {"stabilizationWindowSeconds": 300}}
    spec = scaled(advanced={"horizontalPodAutoscalerConfig": {"behavior": window}})
    scaler = scaler_of(spec, QUERIES, 15.0)
    assert isinstance(scaler, VirtualScaler)
    burst = arrivals(*[(number / 4.0, 1, 1) for number in range(1200)])
    done = run(fleet(workload(scaler=scaler), groups=[group(most=3)]), {"chat": burst}, seconds=3000.0)
    changes = done.workloads[KEY].changes
    up = next(at for at, replicas, _ in changes if replicas == 3)
    assert 0 < up <= 30.0
    assert {replicas for _, replicas, _ in changes} <= {1, 2, 3}
    assert changes[-1][1:] == (1, 1)
    # The last recommendation of 3 is not before the end of the burst: its window must pass first.
    down = next(at for at, replicas, _ in changes if at > up and replicas < 3)
    assert down >= 300.0 + 300.0


def test_all_replicas_count_also_those_that_start() -> None:
    """A queue of 5 at a target of 2 per replica requires 3 (ceil(5/2)), and no more while two of them start."""
    scaler = scaler_of(scaled(maxReplicaCount=9), QUERIES, 15.0)
    assert isinstance(scaler, VirtualScaler)
    small = fleet(workload(scaler=scaler), groups=[group(most=9)])
    done = run(small, {"chat": arrivals(*[(0.0, 1, 1000)] * 6)}, timeout=1e6, seconds=250.0)
    assert [replicas for _, replicas, _ in done.workloads[KEY].changes] == [1, 3]


def _planned(*metrics: Json) -> VirtualFleet:
    flavor = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
    elastic = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": {"metrics": list(metrics)}}}
    documents = [open_model("qwen", flavors=[flavor]), playground("chat", model="qwen", elasticConfig=elastic)]
    environment = Environment(options=Options(namespace="models"), metrics=MetricSettings(adapter=Adapter.KEDA))
    return virtual_fleet("dev", plan(objects(documents), environment))


def test_a_rendered_scaled_object_scales() -> None:
    found = _planned(pods_metric("vllm:num_requests_waiting", "5"))
    (chat,) = found.workloads
    assert chat.scaler is not None
    target = {"type": "AverageValue", "averageValue": "5"}
    assert chat.scaler.spec["metrics"] == [
        {"type": "External", "external": {"metric": {"name": NAME}, "target": target}}
    ]
    assert not [note for note in found.notes if "keeps its replicas" in note]


def _selected(name: str, **labels: str) -> Json:
    metric = pods_metric(name, "5")
    metric["pods"]["metric"]["selector"] = {"matchLabels": labels}
    return metric


@pytest.mark.parametrize(
    "metric",
    [
        pods_metric("vllm:time_to_first_token_seconds:p95", "2"),
        _selected("vllm:num_requests_waiting", model_name="other"),
    ],
    ids=["percentile", "selected series"],
)
def test_another_rendered_query_is_listed(metric: Json) -> None:
    found = _planned(metric)
    assert [workload.scaler for workload in found.workloads] == [None]
    assert any("models/chat keeps its replicas: its ScaledObject has a query" in note for note in found.notes)
