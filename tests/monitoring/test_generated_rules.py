"""The adapter rules that the project makes of a mixed fleet, as queries to a real Prometheus that scrapes it.

Values per pod are what the exporter was told; the replicas are worked out by hand from them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.metrics import MetricSettings
from tests.monitoring.engines import ENGINES, VLLM, WVA
from tests.monitoring.exporter import serving
from tests.monitoring.fleets import Made, in_namespace, made, pods_of, scaled
from tests.monitoring.prometheus import scraping, started
from tests.monitoring.promtool import Promtool
from tests.monitoring.rules import promql
from tests.monitoring.watched import Watched, replicas
from tests.monitoring.workload import external_metric, pods_metric
from tests.render.support import runner, runtime, service

Json = dict[str, Any]
HERE, THERE = "serving", "elsewhere"
QUEUES = {
    "vllm": ("vllm:num_requests_waiting", "vllm_num_requests_waiting"),
    "sglang": ("sglang:num_queue_reqs", "sglang_num_queue_reqs"),
    "tgi": ("tgi_queue_size",),
    "llamacpp": ("llamacpp:requests_deferred", "llamacpp_requests_deferred"),
}
"""What autoscalers may write for each engine's queue."""
LOADS = {"vllm": (12, 7), "sglang": (4, 3.5), "tgi": (9, 1), "llamacpp": (0, 6)}
"""Waiting requests of each engine's two pods."""
WANTED = {"vllm": 4, "sglang": 2, "tgi": 2, "llamacpp": 2}
"""Replicas at five per pod: 19, 7.5, 10 and 6 in all."""
RECOMMENDED: Json = {"name": "default", "args": ["--port", "8080"], "scaleTrigger": {
    "hpa": {"metrics": [pods_metric("vllm_num_requests_running", "4")]}}}  # fmt: skip


def fleet() -> Made:
    """Every engine on its queue in both spellings, a runtime that recommends a trigger, and pods by hand."""
    queues = [
        scaled(name, HERE, [pods_metric(metric, "5") for metric in metrics], backend=name)
        for name, metrics in QUEUES.items()
    ]
    ratio = pods_metric("vllm:kv_cache_usage_perc", "800m")
    tokens = pods_metric("vllm:generation_tokens_total", "1k")
    outside = [
        external_metric("vllm_num_requests_waiting", "5", workload="vllm"),
        external_metric("inferno_desired_replicas", "1", variant_name="outside"),
    ]
    pod = runner(image="vllm/vllm-openai:v0.9.2", ports=[{"name": "http", "containerPort": 8000}])
    return made(
        *queues,
        scaled("levels", HERE, [ratio, tokens], version="v0.9.2"),
        scaled("outside", HERE, outside),
        runtime("own", image="vllm/vllm-openai", version="v0.9.2", recommendedConfigs=[RECOMMENDED]),
        scaled("recommended", HERE, backend="own"),
        in_namespace(
            service("by-hand", "qwen", workloadTemplate={"workerTemplate": {"spec": {"containers": [pod]}}}), HERE
        ),
        scaled("vllm", THERE, [pods_metric("vllm_num_requests_waiting", "5")]),
        settings=MetricSettings(wva=True),
    )


@pytest.fixture(scope="module")
def watched(prometheus_programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """The fleet with two pods per workload, scraped; nothing moves any more."""
    folder = tmp_path_factory.mktemp("prometheus")
    with started(prometheus_programs["prometheus"], folder) as prometheus, serving() as exporter:
        each = Watched(fleet(), prometheus, exporter)
        engines = {engine.name: engine for engine in ENGINES}
        pods = []
        for item in each.made.fleet.rendered:
            body = item.objects[0]
            name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
            engine = engines.get(name, VLLM)
            pods += pods_of(body, f"{name}-0", f"{name}-1")
            here = [exporter.pod(engine, namespace, f"{name}-{number}") for number in (0, 1)]
            for pod, load in zip(here, LOADS.get(name, (50, 60)), strict=True):
                pod.set(engine.queue, load if namespace == HERE else 100 + load)
            if name == "levels":
                for pod, first, second in zip(here, (0.9, 0.4), (0.5, 0.4), strict=True):
                    pod.set("vllm:kv_cache_usage_perc", first)
                    pod.set("vllm:kv_cache_usage_perc", second, engine="1")
            elif name == "recommended":
                for pod, running in zip(here, (5, 2), strict=True):
                    pod.set(VLLM.running, running)
        controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
        for namespace, variant, wish in ((HERE, "outside", 3), (HERE, "vllm", 5), (THERE, "outside", 9)):
            labels = {"variant_name": variant, "namespace": namespace, "accelerator_type": "A10G"}
            controller.set("inferno_desired_replicas", wish, **labels)
        jobs = scraping([controller.target(exporter.address)], job="wva")["scrape_configs"]
        each.scrape(pods, *jobs)
        prometheus.await_scrape(len(exporter.pods))
        yield each


def two(name: str) -> tuple[str, str]:
    return f"{name}-0", f"{name}-1"


@pytest.mark.parametrize(
    ("engine", "metric"), [(engine, metric) for engine, metrics in QUEUES.items() for metric in metrics]
)
def test_the_queue_of_each_engine_in_each_spelling(watched: Watched, engine: str, metric: str) -> None:
    found = watched.per_pod(metric, HERE, *two(engine))
    assert found == dict(zip(two(engine), LOADS[engine], strict=True))
    assert replicas(found.values(), 5) == WANTED[engine]


def test_pods_of_the_same_name_elsewhere_are_others(watched: Watched) -> None:
    assert watched.per_pod("vllm_num_requests_waiting", THERE, *two("vllm")) == {"vllm-0": 112, "vllm-1": 107}


def test_a_trigger_that_a_runtime_recommends(watched: Watched) -> None:
    """Seven in flight at four per pod."""
    found = watched.per_pod("vllm_num_requests_running", HERE, *two("recommended"))
    assert found == {"recommended-0": 5, "recommended-1": 2}
    assert replicas(found.values(), 4) == 2


def test_pods_by_hand_are_under_the_same_rules(watched: Watched) -> None:
    """Whoever writes an autoscaler for a Service finds its metrics by the names of the engine."""
    found = watched.per_pod("vllm:num_requests_waiting", HERE, *two("by-hand"))
    assert found == {"by-hand-0": 50, "by-hand-1": 60}


def test_a_share_is_the_mean_of_a_pods_engines(watched: Watched) -> None:
    """(0.9 + 0.5) / 2 and 0.4: at 0.8 per pod two pods are enough, where sums would ask for three."""
    found = watched.per_pod("vllm:kv_cache_usage_perc", HERE, *two("levels"))
    assert found == {"levels-0": 0.7, "levels-1": 0.4}
    assert replicas(found.values(), 0.8) == 2


def test_an_external_metric_is_of_the_namespace_and_the_selector(watched: Watched) -> None:
    """12 and 7 of the workload that is named; neither its neighbours nor its namesake elsewhere."""
    found = watched.external("vllm_num_requests_waiting", HERE, workload="vllm")
    assert found == [19]
    assert replicas(found, 5) == 4
    assert watched.external("vllm_num_requests_waiting", THERE, workload="vllm") == [219]
    assert watched.external("vllm_num_requests_waiting", "nowhere", workload="vllm") == []


def test_the_wish_of_the_variant_autoscaler_is_the_number_of_replicas(watched: Watched) -> None:
    """WVA spec 10: AverageValue 1, so that the value is the number."""
    name = "inferno_desired_replicas"
    found = watched.external(name, HERE, variant_name="outside")
    assert found == [3]
    assert replicas(found, 1) == 3
    assert watched.external(name, THERE, variant_name="outside") == [9]
    # Of the namespace that the controller is in, nothing is said.
    assert watched.external(name, "inferno-autoscaler-system", variant_name="outside") == []


def test_each_rule_finds_one_series(watched: Watched) -> None:
    """The adapter exposes what the seriesQuery finds; a rule that finds others gives their values a wrong name."""
    rules = watched.made.chain.adapter_rules
    found = {rule["name"]["as"]: watched.series(rule) for rule in [*rules["custom"], *rules["external"]]
             if rule["name"]["as"] != "vllm:generation_tokens_total"}  # fmt: skip
    assert found == {
        **{metric: metrics[0] for metrics in QUEUES.values() for metric in metrics},
        "vllm_num_requests_running": "vllm:num_requests_running",
        "vllm:kv_cache_usage_perc": "vllm:kv_cache_usage_perc",
        "inferno_desired_replicas": "inferno_desired_replicas",
    }


def test_a_counter_is_used_as_a_rate(promtool: Promtool) -> None:
    """In 15 s, 12000 tokens of one pod's two engines and 9000 of another pod: 800 and 600 a second, two pods at 1000.

    Exact, and so with the clock of promtool; the labels are those that the PodMonitor leaves on a series.
    """
    rule = fleet().rule("vllm:generation_tokens_total")
    query = promql(rule, "vllm:generation_tokens_total", f'namespace="{HERE}",pod=~"levels-0|levels-1"', "pod")
    paces = {
        (HERE, "levels-0", "0"): 9000,
        (HERE, "levels-0", "1"): 3000,
        (HERE, "levels-1", "0"): 9000,
        (HERE, "vllm-0", "0"): 77,
        (THERE, "levels-0", "0"): 777,
    }
    series = [
        {
            "series": f'vllm:generation_tokens_total{{namespace="{where}",pod="{pod}",engine="{engine}"}}',
            "values": f"5000+{pace}x40",
        }
        for (where, pod, engine), pace in paces.items()
    ]
    samples = [
        {"labels": f'{{pod="{pod}"}}', "value": value} for pod, value in (("levels-0", 800), ("levels-1", 600))
    ]
    asked = {"expr": query, "eval_time": "5m", "exp_samples": samples}
    tests = [{"interval": "15s", "input_series": series, "promql_expr_test": [asked]}]
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": tests})
    assert replicas((800, 600), 1000) == 2
