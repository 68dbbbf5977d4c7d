"""Alerts: written for every engine, with a duration, a severity and what to look at first."""

from typing import Any

import pytest
import yaml

from components.checks.metrics.alerts import AlertSettings, alert_names, alert_rows, alerts, prometheus_rule
from components.engines.metrics import known_series
from tests.checks.metrics.test_dashboard import balanced, series_in
from tests.fleets import fleet_of, open_model, playground, runtime, service

MODEL = open_model()
QUEUES = {
    "vllm": "vllm:num_requests_waiting",
    "sglang": "sglang:num_queue_reqs",
    "tgi": "tgi_queue_size",
    "llamacpp": "llamacpp:requests_deferred",
}


def served(backend: str, name: str = "p", **metadata: str) -> dict[str, Any]:
    document = playground(name, backendRuntimeConfig={"backendName": backend})
    document["metadata"].update(metadata)
    return document


def made(*documents: Any, **chosen: Any) -> dict[str, Any]:
    fleet = fleet_of(MODEL, *documents)
    return {rule["alert"]: rule for rule in alerts(fleet, AlertSettings(**chosen))}


ALL = tuple(served(backend, f"on-{backend}") for backend in QUEUES)


def test_there_is_one_for_everything_that_goes_wrong() -> None:
    assert set(made(*ALL)) == set(alert_names())
    assert len(alert_names()) == len(set(alert_names())) >= 12


def test_every_series_is_in_the_table() -> None:
    for name, rule in made(*ALL).items():
        assert series_in(rule["expr"]), name
        assert series_in(rule["expr"]) <= known_series(), name
        assert balanced(rule["expr"]), name
        assert "<<" not in rule["expr"]


@pytest.mark.parametrize("name", alert_names())
def test_each_says_how_bad_it_is_and_what_to_do_first(name: str) -> None:
    rule = made(*ALL)[name]
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["for"][-1] in "mh"
    assert rule["for"][:-1].isdecimal()
    assert rule["annotations"]["summary"].startswith("{{ $labels.")
    assert rule["annotations"]["description"].endswith(".")


@pytest.mark.parametrize(("backend", "queue"), QUEUES.items())
def test_the_queue_is_that_of_the_engine(backend: str, queue: str) -> None:
    rule = made(served(backend))["ModelQueueTooLong"]
    assert rule["expr"] == (
        "avg by (namespace, model, workload) (sum by (namespace, model, workload, pod) "
        f'({queue}{{workload!="",namespace=~"default"}})) > 10'
    )


@pytest.mark.parametrize(
    ("backend", "left_out"),
    [
        ("vllm", set()),
        ("sglang", set()),
        ("tgi", {"ModelFirstTokenSlow", "ModelCacheNearlyFull"}),
        ("llamacpp", {"ModelFirstTokenSlow", "ModelCacheNearlyFull", "ModelErrorRateHigh"}),
    ],
)
def test_what_no_engine_measures_is_left_out(backend: str, left_out: set[str]) -> None:
    assert set(alert_names()) - set(made(served(backend))) == left_out


def test_an_unknown_image_may_be_any_engine() -> None:
    own = runtime()
    rules = made(own, served("own"))
    assert all(queue in rules["ModelQueueTooLong"]["expr"] for queue in QUEUES.values())


def test_the_objects_of_the_models_are_watched_and_no_others() -> None:
    rules = made(served("vllm", "b", namespace="two"), served("tgi", "a"))
    ready = rules["ModelNoReadyReplica"]["expr"]
    assert 'namespace=~"default|two",deployment=~"a|b"' in ready
    assert 'statefulset=~"a|b"' in ready
    assert 'pod=~"(a|b)-.*",phase="Pending"' in rules["ModelPodPending"]["expr"]
    assert 'namespace=~"default|two"' in rules["ModelAutoscalerBlind"]["expr"]


def test_a_rule_is_an_object_that_prometheus_finds() -> None:
    body = prometheus_rule("models", "monitoring", fleet_of(MODEL, *ALL), AlertSettings(labels={"release": "kps"}))
    assert body is not None
    assert (body["apiVersion"], body["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert body["metadata"] == {"name": "models", "namespace": "monitoring", "labels": {"release": "kps"}}
    ((group),) = body["spec"]["groups"]
    assert [rule["alert"] for rule in group["rules"]] == list(alert_names())
    assert yaml.safe_load(yaml.safe_dump(body)) == body


def test_a_fleet_without_workloads_has_none() -> None:
    fleet = fleet_of(MODEL)
    assert alerts(fleet) == []
    assert prometheus_rule("models", "monitoring", fleet) is None


def test_thresholds_are_the_environments() -> None:
    rules = made(*ALL, thresholds={"ModelQueueTooLong": 50, "GpuTooHot": 90.5}, left_out=("GpuIdle",))
    assert rules["ModelQueueTooLong"]["expr"].endswith("> 50")
    assert rules["GpuTooHot"]["expr"] == "DCGM_FI_DEV_GPU_TEMP > 90.5"
    assert "GpuIdle" not in rules


@pytest.mark.parametrize(
    "chosen",
    [
        {"thresholds": {"ModelQueueTooLongg": 1}},
        {"thresholds": {"ModelNotScraped": 1}},
        {"left_out": ("GpuIdel",)},
    ],
)
def test_alerts_that_there_are_not(chosen: Any) -> None:
    with pytest.raises(ValueError, match="no alert named"):
        AlertSettings(**chosen)


def test_a_threshold_is_used_where_there_is_one() -> None:
    for row in alert_rows():
        assert ("threshold" in row) is ("<<threshold>>" in row["expr"]), row["name"]


def test_the_order_of_documents_does_not_matter() -> None:
    assert made(*ALL) == made(*reversed(ALL))


def test_hand_written_services_count() -> None:
    assert 'deployment=~"s"' in made(service())["ModelNoReadyReplica"]["expr"]
