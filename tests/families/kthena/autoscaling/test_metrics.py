"""What is scaled on, in the words of the engine (Kthena spec 4.2, 4.6)."""

import pytest

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.checks.metrics.words import Adapter
from tests.families.kthena.autoscaling.bindings import (
    QUEUE,
    binding,
    metric,
    policy,
    rendered,
    said,
    scaler,
    serving,
)
from tests.fleets import errors, fleet_of

SGLANG = "lmsysorg/sglang:v0.5.4"
_ON = ("--enable-metrics",)


def names(name: str, image: str = "", args: tuple[str, ...] = ()) -> list[str]:
    hpa = scaler(serving(image=image, args=args), policy(metric(name)), binding())
    return [each["pods"]["metric"]["name"] for each in hpa["spec"]["metrics"]]


@pytest.mark.parametrize(
    ("name", "image", "args", "expected"),
    [
        ("kthena:num_requests_waiting", "", (), "vllm:num_requests_waiting"),
        ("kthena:num_requests_waiting", SGLANG, _ON, "sglang:num_queue_reqs"),
        ("kthena:time_to_first_token_seconds", "", (), "vllm:time_to_first_token_seconds:p95"),
        ("kthena:time_to_first_token_seconds", SGLANG, _ON, "sglang:time_to_first_token_seconds:p95"),
        ("kthena:e2e_request_latency_seconds", "", (), "vllm:e2e_request_latency_seconds:p95"),
        # vLLM v0.12 dropped time_per_output_token_seconds; its successor is in v0.10.2.
        (
            "kthena:time_per_output_token_seconds",
            "vllm/vllm-openai:v0.9.1",
            (),
            "vllm:time_per_output_token_seconds:p95",
        ),
        (
            "kthena:time_per_output_token_seconds",
            "vllm/vllm-openai:v0.12.0",
            (),
            "vllm:inter_token_latency_seconds:p95",
        ),
        (QUEUE, "", (), QUEUE),
        ("vllm_num_requests_running", "", (), "vllm_num_requests_running"),
        ("vllm:time_to_first_token_seconds", "", (), "vllm:time_to_first_token_seconds:p95"),
        ("vllm_time_to_first_token_seconds", "", (), "vllm_time_to_first_token_seconds_p95"),
        ("own_queue", "example.com/engine:v1", (), "own_queue"),
    ],
)
def test_the_engines_own_name(name: str, image: str, args: tuple[str, ...], expected: str) -> None:
    assert names(name, image, args) == [expected]


def test_a_target_value_is_one_for_each_replica() -> None:
    """desired = ceil(sum / target), which is what an autoscaler makes of an average."""
    hpa = scaler(serving(), policy(metric(value="2500m"), metric("vllm:kv_cache_usage_perc", "0.8")), binding())
    targets = [each["pods"]["target"] for each in hpa["spec"]["metrics"]]
    assert targets == [
        {"type": "AverageValue", "averageValue": "2500m"},
        {"type": "AverageValue", "averageValue": "0.8"},
    ]


@pytest.mark.parametrize(
    ("name", "image", "reason"),
    [
        ("kthena:num_request_waiting", "", "did you mean 'kthena:num_requests_waiting'"),
        ("kthena:num_requests_waiting", "example.com/engine:v1", "native pods do not have"),
        ("kthena:num_requests_waiting", "ollama/ollama:0.5", "name a metric that the container itself exports"),
    ],
)
def test_a_name_of_the_runtime_that_has_no_counterpart(name: str, image: str, reason: str) -> None:
    (problem,) = errors(fleet_of(serving(image=image), policy(metric(), metric(name)), binding()))
    assert said((problem,)) == [("error", "AutoscalingPolicy", "spec.metrics[1].metricName")]
    assert reason in problem.reason


@pytest.mark.parametrize("name", ["kthena:generation_tokens_total", "vllm:generation_tokens_total"])
def test_a_counter_is_a_rate_and_that_is_said(name: str) -> None:
    fleet = rendered(serving(), policy(metric(name, "1000")), binding())
    assert said(fleet.problems) == [("warning", "AutoscalingPolicy", "spec.metrics[0].metricName")]
    (rule,) = metric_chain(fleet).adapter_rules["custom"]
    assert rule["metricsQuery"].startswith("sum(rate(")


@pytest.mark.parametrize(
    ("name", "value", "field", "reason"),
    [
        ("vllm:num_request_waiting", "5", "metricName", "did you mean 'vllm:num_requests_waiting'"),
        ("sglang:num_queue_reqs", "5", "metricName", "does not export"),
        ("vllm:kv_cache_usage_perc", "80", "targetValue", "must be at most 1"),
    ],
)
def test_the_checks_of_every_autoscaler_speak_of_the_policy(name: str, value: str, field: str, reason: str) -> None:
    fleet = rendered(serving(), policy(metric(), metric(name, value)), binding())
    (problem,) = metric_chain(fleet).problems
    assert said((problem,)) == [("error", "AutoscalingPolicy", f"spec.metrics[1].{field}")]
    assert reason in problem.reason


def test_an_engine_that_keeps_its_metrics_to_itself() -> None:
    """SGLang exports none without its flag, and what somebody wrote is not changed."""
    (problem,) = errors(fleet_of(serving(image=SGLANG), policy(metric("sglang:num_queue_reqs")), binding()))
    assert problem.kind == "ModelServing"
    assert problem.path == "spec.template.roles[0].entryTemplate.spec.containers[0].args"
    assert "lacks --enable-metrics" in problem.reason


class TestChain:
    def test_each_metric_is_scraped_and_served(self) -> None:
        fleet = rendered(serving(), policy(metric(), metric("kthena:time_to_first_token_seconds", "500m")), binding())
        chain = metric_chain(fleet)
        assert not chain.problems
        (monitor,) = chain.monitors
        assert monitor["spec"]["podMetricsEndpoints"][0]["port"] == "http"
        assert [rule["name"]["as"] for rule in chain.adapter_rules["custom"]] == [
            QUEUE,
            "vllm:time_to_first_token_seconds:p95",
        ]
        assert chain.needs == {"prometheus": ("AutoscalingPolicyBinding/scaling",)}

    def test_keda_takes_the_place_of_the_autoscaler(self) -> None:
        fleet = rendered(serving(), policy(), binding())
        (body,) = metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA)).scaled_objects
        assert body["spec"]["scaleTargetRef"]["name"] == "chat"
        assert body["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
        (trigger,) = body["spec"]["triggers"]
        assert trigger["metadata"]["query"] == 'sum(vllm:num_requests_waiting{namespace="ns",workload="chat"})'

    @pytest.mark.parametrize("adapter", Adapter)
    def test_none_at_rest_is_refused(self, adapter: Adapter) -> None:
        fleet = rendered(serving(), policy(), binding(minimum=0))
        (problem,) = metric_chain(fleet, MetricSettings(adapter=adapter)).problems
        path = "spec.scalingConfiguration.minReplicas"
        assert said((problem,)) == [("error", "AutoscalingPolicyBinding", path)]
