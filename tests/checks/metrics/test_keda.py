"""KEDA in the place of the adapter."""

from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings, metric_chain, with_scaled_objects
from components.checks.metrics.words import Adapter
from components.contract.findings.ids import RuleId
from tests.checks.metrics.chains import ADDRESS, CPU, MODEL, chain, external, installed, pods, scaled, with_minimum
from tests.fleets import fleet_of


class TestKeda:
    def test_a_scaled_object_takes_the_place_of_the_autoscaler(self) -> None:
        fleet = fleet_of(MODEL, scaled(pods("vllm_num_requests_waiting"), behavior={"scaleDown": {
            "stabilizationWindowSeconds": 600}}), namespace="llm")  # fmt: skip
        found = metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA))
        assert found.needs == {"prometheus": ("Playground/p",)}
        assert found.adapter_rules == {"default": False, "custom": [], "external": []}
        assert found.scaled_objects == (
            {
                "apiVersion": "keda.sh/v1alpha1",
                "kind": "ScaledObject",
                "metadata": {"name": "p", "namespace": "llm"},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "p"},
                    "minReplicaCount": 1,
                    "maxReplicaCount": 4,
                    "pollingInterval": 15,
                    "fallback": {"failureThreshold": 4, "replicas": 1, "behavior": "currentReplicasIfHigher"},
                    "advanced": {
                        "horizontalPodAutoscalerConfig": {
                            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}}
                        }
                    },
                    "triggers": [
                        {
                            "type": "prometheus",
                            "metricType": "AverageValue",
                            "metadata": {
                                "serverAddress": ADDRESS,
                                "query": 'sum(vllm:num_requests_waiting{namespace="llm",workload="p"})',
                                "threshold": "5",
                                "ignoreNullValues": "false",
                            },
                        }
                    ],
                },
            },
        )
        kinds = [body["kind"] for body in with_scaled_objects(fleet, found).rendered[0].objects]
        assert kinds == ["Deployment", "Service", "ScaledObject"]

    @pytest.mark.parametrize(
        ("read", "query", "kind", "threshold"),
        [
            (pods("vllm:num_requests_running"), 'sum(vllm:num_requests_running{namespace="default",workload="p"})',
             "AverageValue", "5"),
            (
                pods("vllm:kv_cache_usage_perc", type="AverageValue", averageValue="800m"),
                'sum(avg by (pod) (vllm:kv_cache_usage_perc{namespace="default",workload="p"}))',
                "AverageValue",
                "0.8",
            ),
            (
                pods("vllm:generation_tokens_total", type="AverageValue", averageValue="1k"),
                'sum(rate(vllm:generation_tokens_total{namespace="default",workload="p"}[120s]))',
                "AverageValue",
                "1000",
            ),
            (
                external("vllm_num_requests_waiting", {"matchLabels": {"model_name": "m"}}, type="Value", value="10"),
                'sum(vllm:num_requests_waiting{namespace="default",model_name="m"})',
                "Value",
                "10",
            ),
            (
                external("inference_extension_flow_control_queue_size"),
                "sum(inference_extension_flow_control_queue_size{})",
                "AverageValue",
                "5",
            ),
            (
                external("inferno_desired_replicas", {"matchLabels": {"variant_name": "p"}}),
                'max(inferno_desired_replicas{exported_namespace="default",variant_name="p"})',
                "AverageValue",
                "5",
            ),
        ],
    )  # fmt: skip
    def test_queries_give_one_value(self, read: Any, query: str, kind: str, threshold: str) -> None:
        (made,) = chain(scaled(read, version="v0.10.2"), adapter=Adapter.KEDA).scaled_objects
        (trigger,) = made["spec"]["triggers"]
        assert (trigger["metricType"], trigger["metadata"]["query"], trigger["metadata"]["threshold"]) == (
            kind,
            query,
            threshold,
        )
        assert all(isinstance(value, str) for value in trigger["metadata"].values())

    def test_cpu_alone_stays_with_kubernetes(self) -> None:
        found = chain(scaled(CPU), adapter=Adapter.KEDA)
        assert not found.scaled_objects
        assert installed(scaled(CPU), adapter=Adapter.KEDA) == {"metrics-server"}

    def test_cpu_beside_a_queue_moves_along_and_has_no_fallback(self) -> None:
        found = chain(scaled(pods("vllm:num_requests_waiting"), CPU), adapter=Adapter.KEDA)
        (made,) = found.scaled_objects
        assert made["spec"]["triggers"][1] == {
            "type": "cpu",
            "metricType": "Utilization",
            "metadata": {"value": "50"},
        }
        assert "fallback" not in made["spec"]
        needed = installed(scaled(pods("vllm:num_requests_waiting"), CPU), adapter=Adapter.KEDA)
        assert needed == {"prometheus", "keda", "metrics-server"}

    def test_zero_needs_a_signal_from_in_front_of_the_pods(self) -> None:
        outside = external("inference_extension_flow_control_queue_size")
        fleet = with_minimum(fleet_of(MODEL, scaled(pods("vllm:num_requests_waiting"), outside)), 0)
        found = metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA))
        (unheld,) = found.problems
        assert (unheld.severity, unheld.path) == ("warning", "spec.elasticConfig.minReplicas")
        assert unheld.rule == RuleId.AUTOSCALING_UNHELD
        assert "may scale to zero, and nothing queues requests until a pod is ready" in unheld.reason
        (made,) = found.scaled_objects
        assert (made["spec"]["minReplicaCount"], made["spec"]["fallback"]["replicas"]) == (0, 1)

    def test_one_replica_takes_the_first_request(self) -> None:
        outside = external("inference_extension_flow_control_queue_size")
        fleet = with_minimum(fleet_of(MODEL, scaled(pods("vllm:num_requests_waiting"), outside)), 1)
        assert not metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA)).problems

    @pytest.mark.parametrize(
        ("adapter", "read", "said"),
        [
            (Adapter.KEDA, pods("vllm:num_requests_waiting"), "without pods nothing exports"),
            (Adapter.KEDA, external("vllm:num_requests_waiting"), "without pods nothing exports"),
            (Adapter.PROMETHEUS_ADAPTER, external("inference_extension_flow_control_queue_size"), "requires KEDA"),
            (Adapter.PROMETHEUS_ADAPTER, pods("vllm:num_requests_waiting"), "without pods nothing exports"),
        ],
    )
    def test_zero_without_it_is_an_error(self, adapter: Adapter, read: Any, said: str) -> None:
        fleet = with_minimum(fleet_of(MODEL, scaled(read)), 0)
        (problem,) = metric_chain(fleet, MetricSettings(adapter=adapter)).problems
        assert (problem.severity, problem.path) == ("error", "spec.elasticConfig.minReplicas")
        assert said in problem.reason

    def test_expressions_cannot_be_queried(self) -> None:
        selector = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
        found = chain(scaled(external("vllm:num_requests_waiting", selector)), adapter=Adapter.KEDA)
        (problem,) = found.problems
        assert problem.path.endswith("metrics[0].external.metric.selector")
