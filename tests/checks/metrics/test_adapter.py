"""Rules of the Prometheus Adapter."""

from typing import Any

import pytest

from tests.checks.metrics.chains import (
    AVG,
    CPU,
    POD_OVERRIDES,
    QUEUES,
    RUNNING,
    SUM,
    chain,
    external,
    installed,
    pods,
    scaled,
)
from tests.fleets import playground, runtime


class TestAdapter:
    @pytest.mark.parametrize(
        ("backend", "name", "series", "query"),
        [
            *((backend, name, name, SUM) for backend, name in QUEUES.items()),
            *((backend, name.replace(":", "_"), name, SUM) for backend, name in QUEUES.items()),
            *((backend, name, name, SUM) for backend, name in RUNNING.items() if backend != "llamacpp"),
        ],
    )
    def test_a_rule_gives_the_name_that_is_asked_for(self, backend: str, name: str, series: str, query: str) -> None:
        found = chain(scaled(pods(name), backend=backend))
        assert not found.problems
        assert found.adapter_rules == {
            "default": False,
            "custom": [
                {
                    "seriesQuery": f'{{__name__="{series}",namespace!="",pod!=""}}',
                    "resources": {"overrides": POD_OVERRIDES},
                    "name": {"as": name},
                    "metricsQuery": query,
                }
            ],
            "external": [],
        }
        assert found.needs == {"prometheus": ("Playground/p",)}

    @pytest.mark.parametrize(
        ("backend", "version", "name"),
        [
            ("vllm", "v0.9.2", "vllm:kv_cache_usage_perc"),
            ("vllm", "v0.7.3", "vllm_gpu_cache_usage_perc"),
            ("sglang", "v0.5.4", "sglang:token_usage"),
        ],
    )
    def test_shares_are_averaged(self, backend: str, version: str, name: str) -> None:
        target = {"type": "AverageValue", "averageValue": "800m"}
        found = chain(scaled(pods(name, **target), backend=backend, version=version))
        assert not found.problems
        assert [rule["metricsQuery"] for rule in found.adapter_rules["custom"]] == [AVG]

    def test_counters_become_rates(self) -> None:
        (rule,) = chain(scaled(pods("vllm:generation_tokens_total"))).adapter_rules["custom"]
        assert rule["metricsQuery"] == "sum(rate(<<.Series>>{<<.LabelMatchers>>}[120s])) by (<<.GroupBy>>)"

    @pytest.mark.parametrize(
        ("backend", "name", "histogram"),
        [
            ("vllm", "vllm:time_to_first_token_seconds:p95", "vllm:time_to_first_token_seconds"),
            ("vllm", "vllm_e2e_request_latency_seconds_p95", "vllm:e2e_request_latency_seconds"),
            ("sglang", "sglang:e2e_request_latency_seconds:p95", "sglang:e2e_request_latency_seconds"),
        ],
    )
    def test_a_percentile_is_of_the_buckets_of_each_pod(self, backend: str, name: str, histogram: str) -> None:
        found = chain(scaled(pods(name), backend=backend))
        assert not found.problems
        assert found.adapter_rules["custom"] == [
            {
                "seriesQuery": f'{{__name__="{histogram}_bucket",namespace!="",pod!=""}}',
                "resources": {"overrides": POD_OVERRIDES},
                "name": {"as": name},
                "metricsQuery": "histogram_quantile(0.95, "
                "sum(rate(<<.Series>>{<<.LabelMatchers>>}[120s])) by (<<.GroupBy>>, le))",
            }
        ]

    def test_an_external_metric_is_one_value_of_the_namespace(self) -> None:
        selector = {"matchLabels": {"workload": "p"}}
        found = chain(scaled(external("vllm_num_requests_waiting", selector)))
        assert not found.problems
        assert found.adapter_rules["external"] == [
            {
                "seriesQuery": '{__name__="vllm:num_requests_waiting",namespace!=""}',
                "resources": {"overrides": {"namespace": {"resource": "namespace"}}},
                "name": {"as": "vllm_num_requests_waiting"},
                "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>})",
            }
        ]
        assert not found.adapter_rules["custom"]

    def test_a_gateway_of_another_namespace(self) -> None:
        (rule,) = chain(scaled(external("inference_extension_flow_control_queue_size"))).adapter_rules["external"]
        assert rule["resources"] == {"namespaced": False}
        assert rule["seriesQuery"] == '{__name__="inference_extension_flow_control_queue_size"}'

    def test_the_wish_of_the_variant_autoscaler(self) -> None:
        """WVA spec 10."""
        read = external(
            "inferno_desired_replicas", {"matchLabels": {"variant_name": "p"}}, type="AverageValue", averageValue="1"
        )
        found = chain(scaled(read))
        assert not found.problems
        assert found.adapter_rules["external"] == [
            {
                "seriesQuery": 'inferno_desired_replicas{variant_name!="",exported_namespace!=""}',
                "resources": {
                    "overrides": {
                        "exported_namespace": {"resource": "namespace"},
                        "variant_name": {"resource": "deployment"},
                    }
                },
                "name": {"matches": "^inferno_desired_replicas", "as": "inferno_desired_replicas"},
                "metricsQuery": (
                    "max(inferno_desired_replicas{<<.LabelMatchers>>}) by (exported_namespace, variant_name)"
                ),
            }
        ]

    def test_only_what_is_used_and_each_once_in_order(self) -> None:
        found = chain(
            scaled(pods("vllm_num_requests_waiting"), pods("vllm:num_requests_running"), name="b"),
            scaled(pods("vllm:num_requests_waiting"), pods("vllm_num_requests_waiting"), name="a"),
            playground("c"),
        )
        assert [rule["name"]["as"] for rule in found.adapter_rules["custom"]] == [
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm_num_requests_waiting",
        ]

    def test_a_series_of_an_unknown_engine_keeps_its_name(self) -> None:
        (rule,) = chain(runtime(), scaled(pods("waiting"), backend="own")).adapter_rules["custom"]
        assert rule["seriesQuery"] == '{__name__="waiting",namespace!="",pod!=""}'

    @pytest.mark.parametrize(
        ("metrics", "needs"),
        [
            ([CPU], {"metrics-server"}),
            ([], {"metrics-server"}),
            ([pods("vllm:num_requests_waiting")], {"prometheus", "prometheus-adapter"}),
            ([pods("vllm:num_requests_waiting"), CPU], {"prometheus", "prometheus-adapter", "metrics-server"}),
        ],
    )
    def test_what_the_cluster_must_offer(self, metrics: list[Any], needs: set[str]) -> None:
        assert installed(scaled(*metrics)) == needs

    def test_without_autoscalers_there_are_no_rules(self) -> None:
        assert chain(playground()).adapter_rules == {"default": False, "custom": [], "external": []}
