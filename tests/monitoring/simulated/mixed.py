"""A fleet with every engine and every kind of metric, under a real Prometheus that has scraped it.

Two namespaces have a workload of the same name with pods of the same names, and no two pods say the same: what leaks
from one workload or namespace into another shows in the sums.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter
from tests.fleets import runner, runtime, service
from tests.monitoring.programs.prometheus import scraping, started
from tests.monitoring.simulated.engines import ENGINES, VLLM, WVA
from tests.monitoring.simulated.exporter import Exporter, PretendedPod, serving
from tests.monitoring.simulated.fleets import Made, in_namespace, made, pods_of, scaled
from tests.monitoring.simulated.watched import Watched
from tests.monitoring.simulated.workload import external_metric, pods_metric

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
"""Waiting requests of each engine's two pods; elsewhere it is a hundred more."""
OTHERS = (50, 60)
"""Waiting requests of the pods of every other workload."""
LEVELS = (
    ("levels-0", "vllm:kv_cache_usage_perc", "0", 0.9),
    ("levels-0", "vllm:kv_cache_usage_perc", "1", 0.5),
    ("levels-1", "vllm:kv_cache_usage_perc", "0", 0.4),
    ("levels-1", "vllm:kv_cache_usage_perc", "1", 0.4),
    ("recommended-0", "vllm:num_requests_running", "0", 5),
    ("recommended-1", "vllm:num_requests_running", "0", 2),
)
"""Pod, series, engine within the pod, and value."""
WISHES = (
    (HERE, "outside", "A10G", 3),
    (HERE, "vllm", "A10G", 5),
    (THERE, "outside", "A10G", 9),
    # The variant moved to another accelerator, and the controller never deletes a gauge (WVA spec 9).
    (HERE, "moved", "A10G", 2),
    (HERE, "moved", "L40S", 4),
)
"""Namespace, variant, accelerator, and replicas that the variant autoscaler wants."""
RECOMMENDED: Json = {
    "name": "default",
    "args": ["--port", "8080"],
    "scaleTrigger": {"hpa": {"metrics": [pods_metric("vllm_num_requests_running", "4")]}},
}


def mixed_fleet(adapter: Adapter = Adapter.PROMETHEUS_ADAPTER) -> Made:
    """Every engine on its queue in both spellings, other metrics, a runtime with a trigger, and pods by hand."""
    queues = [
        scaled(name, HERE, [pods_metric(metric, "5") for metric in metrics], backend=name)
        for name, metrics in QUEUES.items()
    ]
    levels = [pods_metric("vllm:kv_cache_usage_perc", "800m"), pods_metric("vllm:generation_tokens_total", "1k")]
    outside = external_metric("vllm_num_requests_waiting", "5", workload="vllm")
    pod = runner(image="vllm/vllm-openai:v0.9.2", ports=[{"name": "http", "containerPort": 8000}])
    by_hand = service("by-hand", "qwen", workloadTemplate={"workerTemplate": {"spec": {"containers": [pod]}}})
    return made(
        *queues,
        scaled("levels", HERE, levels, version="v0.9.2"),
        scaled("outside", HERE, [outside, _wish("outside")]),
        scaled("moved", HERE, [_wish("moved")]),
        runtime("own", image="vllm/vllm-openai", version="v0.9.2", recommendedConfigs=[RECOMMENDED]),
        scaled("recommended", HERE, backend="own"),
        in_namespace(by_hand, HERE),
        scaled("vllm", THERE, [pods_metric("vllm_num_requests_waiting", "5")]),
        settings=MetricSettings(adapter=adapter),
    )


@contextmanager
def watching_mixed(program: Path, folder: Path) -> Iterator[Watched]:
    """Run Prometheus, and let it scrape two pods per workload; nothing moves any more."""
    with started(program, folder) as prometheus, serving() as exporter:
        watched = Watched(mixed_fleet(), prometheus, exporter)
        pods = [pod for item in watched.made.fleet.rendered for pod in _pods(item.objects[0], exporter)]
        said = {(pod.namespace, pod.name): pod for pod in exporter.pods}
        for name, series, engine, value in LEVELS:
            said[HERE, name].set(series, value, engine=engine)
        jobs = scraping([_controller(exporter).target(exporter.address)], job="wva")["scrape_configs"]
        # All of the many targets must answer within one interval.
        watched.scrape(pods, *jobs, interval="3s")
        prometheus.await_scrape(len(exporter.pods))
        prometheus.rest()
        yield watched


def _wish(variant: str) -> Json:
    return external_metric("inferno_desired_replicas", "1", variant_name=variant)


def _pods(workload: Json, exporter: Exporter) -> list[Json]:
    """The pods of a workload, and what each says of its queue."""
    name, namespace = workload["metadata"]["name"], workload["metadata"]["namespace"]
    engine = next((engine for engine in ENGINES if engine.name == name), VLLM)
    more = 0 if namespace == HERE else 100
    for number, load in enumerate(LOADS.get(name, OTHERS)):
        exporter.pod(engine, namespace, f"{name}-{number}").set(engine.queue, load + more)
    return pods_of(workload, f"{name}-0", f"{name}-1")


def _controller(exporter: Exporter) -> PretendedPod:
    controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
    for namespace, variant, accelerator, wish in WISHES:
        labels = {"variant_name": variant, "namespace": namespace, "accelerator_type": accelerator}
        controller.set("inferno_desired_replicas", wish, **labels)
    return controller
