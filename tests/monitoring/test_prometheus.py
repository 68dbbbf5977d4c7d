"""Each engine's metrics, scraped by a real Prometheus, under the queries of the adapter rules."""

from typing import Any

import pytest

from livefleet.loop.adapter import adapter_config
from tests.monitoring.programs.prometheus import Prometheus, scraping
from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.programs.rules import overrides, promql
from tests.monitoring.simulated.engines import DCGM, ENGINES, VLLM, WVA, Engine
from tests.monitoring.simulated.exporter import Exporter
from workbench.errors import WorkbenchError

Json = dict[str, Any]
POD_RULE: Json = {
    "seriesQuery": '{namespace!="",pod!=""}',
    "resources": overrides(namespace="namespace", pod="pod"),
    "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
}


@pytest.mark.parametrize("metric", ["queue", "running"])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_an_engines_load_is_a_value_per_pod(
    prometheus: Prometheus, exporter: Exporter, engine: Engine, metric: str
) -> None:
    series = getattr(engine, metric)
    for name, value in (("chat-0", 7), ("chat-1", 2), ("other-0", 99)):
        exporter.pod(engine, "serving", name).set(series, value)
    exporter.pod(engine, "elsewhere", "chat-0").set(series, 50)
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape(4)
    query = promql(POD_RULE, series, 'namespace="serving",pod=~"chat-0|chat-1"', "pod")
    assert {sample.labels["pod"]: sample.value for sample in prometheus.query(query)} == {"chat-0": 7, "chat-1": 2}


def test_values_move_while_it_runs(prometheus: Prometheus, exporter: Exporter) -> None:
    pod = exporter.pod(VLLM, "serving", "chat-0")
    prometheus.configure(scraping(exporter.targets()))
    query = promql(POD_RULE, VLLM.queue, 'namespace="serving",pod="chat-0"', "pod")
    prometheus.await_value(query, 0)
    pod.set(VLLM.queue, 5)
    prometheus.await_value(query, 5)
    # Data-parallel engines of one pod are one pod's load.
    pod.set(VLLM.queue, 3, engine="1")
    prometheus.await_value(query, 8)
    exporter.remove(pod)
    prometheus.await_value(query, None)


def test_a_pods_labels_are_those_of_a_pod_monitor(prometheus: Prometheus, exporter: Exporter) -> None:
    exporter.pod(VLLM, "serving", "chat-0", container="model-runner", endpoint="http", address="10.244.0.7")
    prometheus.configure(scraping(exporter.targets(), job="serving/chat"))
    prometheus.await_scrape()
    (found,) = prometheus.query(VLLM.queue)
    assert found.labels == {
        "__name__": VLLM.queue,
        "namespace": "serving",
        "pod": "chat-0",
        "container": "model-runner",
        "endpoint": "http",
        "job": "serving/chat",
        "instance": "10.244.0.7:8000",
        "model_name": "model",
        "engine": "0",
    }


def test_counters_and_histograms_are_there_from_the_first_request_on(
    prometheus: Prometheus, exporter: Exporter
) -> None:
    pod = exporter.pod(VLLM, "serving", "chat-0")
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape()
    assert prometheus.query("vllm:request_success_total") == []
    assert prometheus.query("vllm:time_to_first_token_seconds_count") == []
    pod.set("vllm:request_success_total", 2)
    pod.observe("vllm:time_to_first_token_seconds", 0.3)
    pod.observe("vllm:time_to_first_token_seconds", 4.0)
    prometheus.await_value("vllm:request_success_total", 2)
    prometheus.await_value('vllm:time_to_first_token_seconds_bucket{le="0.5"}', 1)
    prometheus.await_value('vllm:time_to_first_token_seconds_bucket{le="+Inf"}', 2)
    prometheus.await_value("vllm:time_to_first_token_seconds_sum", 4.3)


def test_wvas_own_namespace_label_is_kept_as_exported(prometheus: Prometheus, exporter: Exporter) -> None:
    controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
    variant = {"variant_name": "chat", "namespace": "serving", "accelerator_type": "A100"}
    controller.set("inferno_desired_replicas", 3, **variant)
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape()
    (found,) = prometheus.query('inferno_desired_replicas{variant_name="chat",exported_namespace="serving"}')
    assert (found.value, found.labels["namespace"]) == (3, "inferno-autoscaler-system")


@pytest.mark.parametrize(("honoured", "prefix"), [(False, "exported_"), (True, "")], ids=["default", "honoured"])
def test_which_label_names_the_workload_on_a_gpu(
    prometheus: Prometheus, exporter: Exporter, honoured: bool, prefix: str
) -> None:
    node = exporter.pod(DCGM, "monitoring", "dcgm-exporter-x", container="exporter", endpoint="metrics")
    workload = {"namespace": "serving", "pod": "chat-0", "container": "model-runner"}
    node.set("DCGM_FI_DEV_GPU_UTIL", 97, gpu="0", UUID="GPU-0", Hostname="gpu-1", **workload)
    prometheus.configure(scraping(exporter.targets(), honor_labels=honoured))
    prometheus.await_scrape()
    labels = ",".join(f'{prefix}{name}="{value}"' for name, value in workload.items())
    assert prometheus.value(f"DCGM_FI_DEV_GPU_UTIL{{{labels}}}") == 97


def test_rules_of_prometheus_are_evaluated(prometheus: Prometheus, exporter: Exporter) -> None:
    rule = {"record": "serving:waiting", "expr": f"sum({VLLM.queue})"}
    exporter.pod(VLLM, "serving", "chat-0").set(VLLM.queue, 4)
    rules = {"groups": [{"name": "load", "rules": [rule]}]}
    prometheus.configure({**scraping(exporter.targets()), "rule_files": ["rules.yml"]}, {"rules.yml": rules})
    prometheus.await_value("serving:waiting", 4)


def test_a_config_that_is_wrong_is_refused(prometheus: Prometheus) -> None:
    with pytest.raises(AssertionError, match="scrape_confgs"):
        prometheus.configure({"scrape_confgs": []})


def test_a_slip_in_a_test_is_told(exporter: Exporter) -> None:
    pod = exporter.pod(VLLM, "serving", "chat-0")
    with pytest.raises(KeyError, match="waitin"):
        pod.set("vllm:num_requests_waitin", 1)
    with pytest.raises(KeyError, match="no labels"):
        pod.set(VLLM.queue, 1, modelname="x")


# promtool

ALERT: Json = {
    "alert": "Waiting",
    "expr": f"sum by (pod) ({VLLM.queue}) > 5",
    "for": "1m",
    "labels": {"severity": "page"},
}


def groups(*rules: Json) -> Json:
    return {"groups": [{"name": "serving", "rules": list(rules)}]}


def firing(at: str, *pods: str) -> Json:
    alerts = [{"exp_labels": {"pod": pod, "severity": "page"}} for pod in pods]
    return {"eval_time": at, "alertname": "Waiting", "exp_alerts": alerts}


def unit_test(*alerts: Json) -> Json:
    series = [{"series": f'{VLLM.queue}{{pod="chat-0"}}', "values": "0 9x30"}]
    return {"tests": [{"interval": "15s", "input_series": series, "alert_rule_test": list(alerts)}]}


def test_promtool_checks_and_tests_rules(promtool: Promtool) -> None:
    assert "1 rules found" in promtool.check_rules(groups(ALERT))
    assert "SUCCESS" in promtool.test_rules(groups(ALERT), unit_test(firing("30s"), firing("2m", "chat-0")))


def test_promtool_tells_what_is_wrong(promtool: Promtool) -> None:
    with pytest.raises(AssertionError, match="could not parse expression"):
        promtool.check_rules(groups({**ALERT, "expr": "sum(("}))
    with pytest.raises(AssertionError, match="duplicate"):
        promtool.check_rules(groups(ALERT, ALERT))
    with pytest.raises(AssertionError, match="exp"):
        promtool.test_rules(groups(ALERT), unit_test(firing("30s", "chat-0")))


# The chart's rules


def test_the_charts_rules_become_the_adapters_config() -> None:
    external = {"seriesQuery": WVA.name, "metricsQuery": "x"}
    config = adapter_config({"default": False, "custom": [POD_RULE], "external": [external]})
    assert config == {"rules": [POD_RULE], "externalRules": [external]}
    assert adapter_config({"default": False, "custom": [], "external": [external]}) == {"externalRules": [external]}


@pytest.mark.parametrize("rules", [{"custom": []}, {"default": True}, {"default": False, "externl": []}])
def test_rules_that_only_the_chart_can_fill_in_are_refused(rules: Json) -> None:
    with pytest.raises(WorkbenchError, match=r"rules\."):
        adapter_config(rules)
