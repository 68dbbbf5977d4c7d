"""The metrics APIs as prometheus-adapter serves them behind the API server, under the rules of the documents."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.monitoring.adapter import EXTERNAL, Adapter
from tests.monitoring.daemon import eventually
from tests.monitoring.engines import ENGINES, WVA
from tests.monitoring.exporter import Exporter
from tests.monitoring.prometheus import Prometheus, scraping
from tests.monitoring.rules import overrides
from workbench.kube import Kube

Json = dict[str, Any]
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


@pytest.fixture
def namespace(metrics_kube: Kube) -> Iterator[str]:
    name = "serving"
    metrics_kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager="test")
    yield name
    metrics_kube.delete("v1", "Namespace", name)


def test_probe(
    namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Callable[[Json], Adapter]
) -> None:
    exporter.pod(ENGINES[0], namespace, "chat-0").set(ENGINES[0].queue, 7)
    prometheus.configure(scraping(exporter.targets()))
    prometheus.await_scrape()
    running = adapter(RULES)
    try:
        eventually(lambda: running.metrics(), "x", 10)
        print(running.metrics(), running.metrics(EXTERNAL))
        eventually(lambda: running.pods(namespace, "vllm_num_requests_waiting"), "y", 10)
    finally:
        print(running.log.read_text()[-6000:])
