"""Percentiles of a histogram as a value of each pod, asked of the real promtool.

Of pods a and b each answer took from 1 to 2 seconds, and from 0 to 1: in a bucket the rank is on a straight line, so
that the 95th percentiles are 1.95 and 0.95. Pod c had no request.
"""

from collections.abc import Callable
from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter as Metrics
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.prometheus import Prometheus, scraping
from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.programs.rules import promql
from tests.monitoring.simulated.engines import VLLM
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.fleets import Made, made, scaled
from tests.monitoring.simulated.workload import MANAGER, deployment, fitting_node, pods_metric, running_pods
from toolkit.kube import Kube

NAME = "vllm:time_to_first_token_seconds:p95"
BUCKETS = "vllm:time_to_first_token_seconds_bucket"
COUNTS = {"a": (0, 10, 10), "b": (10, 10, 10), "c": (0, 0, 0)}
"""By pod, what each scrape adds to the buckets up to 1 s, up to 2 s and of all."""


def percentiles(adapter: Metrics) -> Made:
    return made(scaled("chat", "here", [pods_metric(NAME, "1")]), settings=MetricSettings(adapter=adapter))


def samples_of(promtool: Promtool, query: str, *expected: tuple[str, float]) -> None:
    series = [
        {
            "series": f'{BUCKETS}{{namespace="{where}",workload="chat",pod="{pod}",engine="{engine}",le="{le}"}}',
            "values": f"5+{count}x40",
        }
        for where in ("here", "there")
        for pod, counts in COUNTS.items()
        for engine in ("0", "1")
        for le, count in zip(("1", "2", "+Inf"), counts, strict=True)
    ]
    samples = [{"labels": labels, "value": value} for labels, value in expected]
    asked = {"expr": query, "eval_time": "5m", "exp_samples": samples}
    tests = [{"interval": "15s", "input_series": series, "promql_expr_test": [asked]}]
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": tests})


def test_the_adapter_gives_each_pod_its_own(promtool: Promtool) -> None:
    rule = percentiles(Metrics.PROMETHEUS_ADAPTER).rule(NAME)
    assert BUCKETS in rule["seriesQuery"]
    query = promql(rule, BUCKETS, 'namespace="here",pod=~"a|b"', "pod")
    samples_of(promtool, query, ('{pod="a"}', 1.95), ('{pod="b"}', 0.95))


def test_a_pod_without_requests_has_none_and_the_adapter_says_0(promtool: Promtool) -> None:
    """kubernetes-sigs/prometheus-adapter, pkg/custom-provider/provider.go: what is not a number is 0."""
    rule = percentiles(Metrics.PROMETHEUS_ADAPTER).rule(NAME)
    query = promql(rule, BUCKETS, 'namespace="here",pod="c"', "pod")
    samples_of(promtool, f"absent({query} >= 0)", ("{}", 1))
    samples_of(promtool, f"count({query})", ("{}", 1))


@pytest.mark.parametrize(("only", "value"), [("", 2.9), (',pod="c"', 0.0)], ids=["all", "idle"])
def test_keda_gets_their_sum(promtool: Promtool, only: str, value: float) -> None:
    (body,) = percentiles(Metrics.KEDA).chain.scaled_objects
    (trigger,) = body["spec"]["triggers"]
    query = trigger["metadata"]["query"].replace('workload="chat"', f'workload="chat"{only}')
    samples_of(promtool, query, ("{}", value))


def test_the_real_adapter_serves_them(
    metrics_kube: Kube,
    metrics_namespace: str,
    prometheus: Prometheus,
    exporter: Exporter,
    adapter: Callable[[dict[str, Any]], Adapter],
) -> None:
    """Whatever the number of requests: all of one pod took from 0.5 to 1 s, of which 0.975 is 95 %."""
    metrics_kube.apply(fitting_node(deployment(metrics_namespace)), manager=MANAGER)
    model = deployment(metrics_namespace, "chat")
    model["spec"]["replicas"] = 2
    metrics_kube.apply(model, manager=MANAGER)
    eventually(lambda: len(running_pods(metrics_kube, model)) == 2, "two pods")
    names = sorted(pod["metadata"]["name"] for pod in running_pods(metrics_kube, model))
    busy, idle = (exporter.pod(VLLM, metrics_namespace, name) for name in names)
    histogram = NAME.removesuffix(":p95")
    for pod in (busy, idle):
        pod.observe(histogram, 0.7)
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape(2)
    running = adapter(dict(percentiles(Metrics.PROMETHEUS_ADAPTER).chain.adapter_rules))
    eventually(lambda: f"pods/{NAME}" in running.metrics(), "the metric in discovery", pause=0.5)

    def served() -> bool:
        busy.observe(histogram, 0.7)
        return running.pods(metrics_namespace, NAME, app="chat") == {names[0]: "975m", names[1]: "0"}

    eventually(served, "the percentile of each pod", pause=0.5)
