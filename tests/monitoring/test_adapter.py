"""The metrics APIs as prometheus-adapter serves them behind the API server, under the rules of the documents."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from livefleet.loop.registration import CUSTOM, EXTERNAL
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.prometheus import Prometheus, scraping
from tests.monitoring.programs.rules import overrides
from tests.monitoring.simulated.engines import ENGINES, WVA
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.workload import MANAGER, deployment, fitting_node, running_pods
from toolkit.kube import Kube, KubeError

Json = dict[str, Any]
Adapting = Callable[[Json], Adapter]
RULES: Json = {
    "default": False,
    "custom": [
        {
            "seriesQuery": (
                '{__name__=~"^(vllm|sglang|llamacpp):(num_requests_waiting|num_requests_running|kv_cache_usage_perc|'
                'num_queue_reqs|num_running_reqs|token_usage|requests_processing|requests_deferred)$",'
                'namespace!="",pod!=""}'
            ),
            "resources": overrides(namespace="namespace", pod="pod"),
            "name": {"matches": "^(.*):(.*)$", "as": "${1}_${2}"},
            "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
        },
        {
            "seriesQuery": '{__name__=~"^tgi_(queue_size|batch_current_size)$",namespace!="",pod!=""}',
            "resources": overrides(namespace="namespace", pod="pod"),
            "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
        },
    ],
    "external": [
        {
            "seriesQuery": 'inferno_desired_replicas{variant_name!="",exported_namespace!=""}',
            "resources": overrides(exported_namespace="namespace", variant_name="deployment"),
            "name": {"matches": "^inferno_desired_replicas", "as": "inferno_desired_replicas"},
            "metricsQuery": "inferno_desired_replicas{<<.LabelMatchers>>}",
        }
    ],
}


NAMES = {
    "vllm": "vllm_num_requests_waiting",
    "sglang": "sglang_num_queue_reqs",
    "tgi": "tgi_queue_size",
    "llamacpp": "llamacpp_requests_deferred",
}
"""What the rules make of each engine's queue metric."""


def two_pods(kube: Kube, namespace: str, name: str) -> list[str]:
    made = deployment(namespace, name)
    made["spec"]["replicas"] = 2
    kube.apply(made, manager=MANAGER)
    eventually(lambda: len(running_pods(kube, made)) == 2, f"two pods of {name}")
    return sorted(pod["metadata"]["name"] for pod in running_pods(kube, made))


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_each_engines_queue_is_a_value_per_pod(
    metrics_kube: Kube,
    metrics_namespace: str,
    prometheus: Prometheus,
    exporter: Exporter,
    adapter: Adapting,
    version: str,
) -> None:
    metrics_kube.apply(fitting_node(deployment(metrics_namespace)), manager=MANAGER)
    expected = {}
    for engine in ENGINES:
        first, second = two_pods(metrics_kube, metrics_namespace, engine.name)
        exporter.pod(engine, metrics_namespace, first).set(engine.queue, 7)
        exporter.pod(engine, metrics_namespace, second).set(engine.queue, 2.5)
        # Of a pod with this name in another namespace, nothing may be seen.
        exporter.pod(engine, "elsewhere", first).set(engine.queue, 99)
        expected[NAMES[engine.name]] = {first: "7", second: "2500m"}
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape(len(exporter.pods))
    running = adapter({**RULES, "external": []})
    wanted = {f"pods/{name}" for name in NAMES.values()}
    eventually(lambda: wanted <= running.metrics(CUSTOM, version), "all queue metrics in discovery", pause=0.5)
    for engine in ENGINES:
        name = NAMES[engine.name]
        # Not at once on a busy machine, where a scrape may have failed that the adapter would have read.
        served = partial(running.pods, metrics_namespace, name, version, app=engine.name)
        eventually(lambda s=served, n=name: s() == expected[n], f"values of {name}")  # type: ignore[misc]
    with pytest.raises(KubeError) as error:
        running.metrics(EXTERNAL)
    assert error.value.status == 404


def test_wvas_replicas_are_an_external_metric_of_the_variants_namespace(
    prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
    for namespace, variant, replicas in (("serving", "chat", 3), ("serving", "code", 5), ("elsewhere", "chat", 9)):
        labels = {"variant_name": variant, "namespace": namespace, "accelerator_type": "A100"}
        controller.set("inferno_desired_replicas", replicas, **labels)
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape()
    running = adapter({**RULES, "custom": []})
    name = "inferno_desired_replicas"
    eventually(lambda: name in running.metrics(EXTERNAL), "the metric in discovery", pause=0.5)
    eventually(lambda: running.external("serving", name, variant_name="chat") == ["3"], "the wish")
    eventually(lambda: running.external("elsewhere", name, variant_name="chat") == ["9"], "the wish elsewhere")
    assert running.external("inferno-autoscaler-system", name, variant_name="chat") == []
    # Without a selector an autoscaler is given all of them, and adds them up.
    eventually(lambda: sorted(running.external("serving", name)) == ["3", "5"], "both wishes")
    with pytest.raises(KubeError) as error:
        running.metrics(CUSTOM)
    assert error.value.status == 404
