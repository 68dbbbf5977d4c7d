"""What keeps autoscalers from working is said at the field that says it (lws-hpa spec 1.9, 2.3, 2.4; WVA spec 10)."""

import pytest

from components.checks.metrics.words import Adapter
from components.contract.findings.ids import RuleId
from tests.checks.metrics.checked import CPU, MODEL, TRIGGER, problems, read, scaled, the_problem
from tests.fleets import fleet_of, open_model, playground, runtime


@pytest.mark.parametrize(
    ("backend", "name", "said"),
    [
        ("vllm", "vllm:num_request_waiting", "did you mean 'vllm:num_requests_waiting'"),
        ("vllm", "vllm_num_requests_waitin", "did you mean 'vllm_num_requests_waiting'"),
        ("vllm", "num_requests_waiting", "vllm:num_requests_waiting"),
        ("vllm", "sglang:num_queue_reqs", "vllm:num_requests_waiting"),
        ("tgi", "tgi:queue_size", "did you mean 'tgi_queue_size'"),
        ("sglang", "vllm:num_requests_waiting", "sglang:num_queue_reqs"),
        ("llamacpp", "llamacpp:requests_waiting", "llamacpp:requests_deferred"),
    ],
)
def test_a_metric_that_the_engine_does_not_export(backend: str, name: str, said: str) -> None:
    problem = the_problem(scaled(read("Pods", name), backend=backend))
    assert (problem.severity, problem.path) == ("error", f"{TRIGGER}.metrics[0].pods.metric.name")
    assert repr(name) in problem.reason
    assert said in problem.reason


def test_the_problem_stands_on_the_line_of_the_field() -> None:
    problem = the_problem(scaled(CPU, read("Pods", "nope")))
    text = fleet_of(MODEL, scaled(CPU, read("Pods", "nope"))).rendered[0].source
    assert text.location is not None
    assert problem.line == text.location.line(f"{TRIGGER}.metrics[1].pods.metric.name")
    assert problem.path.startswith(f"{TRIGGER}.metrics[1].")


@pytest.mark.parametrize(
    ("backend", "version", "name", "said"),
    [
        ("vllm", "v0.9.1", "vllm:kv_cache_usage_perc", "use vllm:gpu_cache_usage_perc"),
        ("vllm", "v0.9.1", "vllm_kv_cache_usage_perc", "use vllm_gpu_cache_usage_perc"),
        ("vllm", "v0.11.0", "vllm:gpu_cache_usage_perc", "use vllm:kv_cache_usage_perc"),
        ("vllm", "v0.20.0", "vllm_gpu_cache_usage_perc", "use vllm_kv_cache_usage_perc"),
        ("vllm", "latest", "vllm:gpu_cache_usage_perc", "use vllm:kv_cache_usage_perc"),
        ("llamacpp", "server-b6500", "llamacpp:kv_cache_usage_ratio", "use llamacpp:requests_deferred"),
        ("llamacpp", "server", "llamacpp_kv_cache_tokens", "use llamacpp_requests_deferred"),
        ("vllm", "v0.12.0", "vllm:time_per_output_token_seconds", "use vllm:num_requests_waiting"),
        ("vllm", "v0.9.2", "vllm:inter_token_latency_seconds", "was added in vllm 0.10.2"),
    ],
)
def test_a_metric_of_another_version(backend: str, version: str, name: str, said: str) -> None:
    problem = the_problem(scaled(read("Pods", name, "500m"), backend=backend, version=version))
    assert (problem.severity, problem.path) == ("error", f"{TRIGGER}.metrics[0].pods.metric.name")
    assert said in problem.reason
    assert version in problem.reason


@pytest.mark.parametrize("name", ["vllm:time_to_first_token_seconds", "vllm_e2e_request_latency_seconds"])
@pytest.mark.parametrize("kind", ["Pods", "External"])
def test_a_histogram_is_no_value(kind: str, name: str) -> None:
    problem = the_problem(scaled(read(kind, name)))
    assert problem.severity == "error"
    assert "histogram" in problem.reason
    assert "num_requests_waiting" in problem.reason
    percentile = f"{name}{':' if ':' in name else '_'}p95"
    assert (percentile in problem.reason) is (kind == "Pods")
    assert (problems(scaled(read(kind, percentile))) == ()) is (kind == "Pods")


@pytest.mark.parametrize("name", ["vllm:num_requests_waiting:p95", "vllm:time_to_first_token_seconds:p0", "nope:p95"])
def test_only_histograms_have_percentiles(name: str) -> None:
    problem = the_problem(scaled(read("Pods", name)))
    assert problem.severity == "error"
    assert f"does not export {name!r}" in problem.reason


def test_a_percentile_of_a_histogram_of_another_version() -> None:
    name = "vllm:time_per_output_token_seconds:p95"
    problem = the_problem(scaled(read("Pods", name), version="v0.12.0"))
    assert "no longer exports" in problem.reason


def test_a_figure_of_a_whole_life_hardly_moves() -> None:
    problem = the_problem(scaled(read("Pods", "llamacpp:n_busy_slots_per_decode"), backend="llamacpp"))
    assert problem.severity == "warning"
    assert "llamacpp:requests_deferred" in problem.reason


def test_an_engine_without_metrics() -> None:
    model = open_model(source="ollama://qwen2:0.5b")
    problem = the_problem(scaled(read("Pods", "ollama:queue"), backend="ollama"), model=model)
    assert problem.severity == "error"
    assert "ollama exports no metrics" in problem.reason


@pytest.mark.parametrize("backend", ["own", "tensorrt-llm"])
def test_an_engine_of_which_nothing_is_known(backend: str) -> None:
    problem = the_problem(runtime(), scaled(read("Pods", "waiting"), backend=backend))
    assert problem.severity == "warning"
    assert "cannot be checked" in problem.reason


def test_a_known_name_from_an_image_that_is_not() -> None:
    assert not problems(runtime(), scaled(read("Pods", "vllm:num_requests_waiting"), backend="own"))


def test_a_mirror_of_an_image_is_known_by_its_runtime() -> None:
    mirror = runtime("vllm", image="registry.example.com:5000/inference/engine", version="v0.9.1")
    assert not problems(mirror, scaled(read("Pods", "vllm:num_requests_waiting")))
    problem = the_problem(mirror, scaled(read("Pods", "vllm:kv_cache_usage_perc", "800m")))
    assert "0.9.2" in problem.reason


def test_metrics_of_pods_are_averages() -> None:
    problem = the_problem(scaled(read("Pods", "vllm:num_requests_waiting", target="Value")))
    assert (problem.severity, problem.path) == ("error", f"{TRIGGER}.metrics[0].pods.target.type")
    assert "AverageValue" in problem.reason


@pytest.mark.parametrize(
    ("backend", "version", "name", "value", "wrong"),
    [
        ("vllm", "v0.9.2", "vllm:kv_cache_usage_perc", "1", False),
        ("vllm", "v0.9.2", "vllm:kv_cache_usage_perc", "900m", False),
        ("vllm", "v0.9.2", "vllm_kv_cache_usage_perc", "80", True),
        ("sglang", "v0.5.4", "sglang:token_usage", "1001m", True),
        ("sglang", "v0.5.4", "sglang:num_queue_reqs", "80", False),
    ],
)
def test_a_share_is_at_most_one(backend: str, version: str, name: str, value: str, wrong: bool) -> None:
    found = problems(scaled(read("Pods", name, value), backend=backend, version=version))
    assert [p.path for p in found] == [f"{TRIGGER}.metrics[0].pods.target.averageValue"] * wrong
    if value == "80" and wrong:
        assert "0.8" in found[0].reason


@pytest.mark.parametrize("value", ["0", "0m"])
def test_a_target_is_above_zero(value: str) -> None:
    assert "above 0" in the_problem(scaled(read("Pods", "vllm:num_requests_waiting", value))).reason


@pytest.mark.parametrize(
    ("args", "value", "never"),
    [
        ([], "1", True),
        ([], "2", True),
        ([], "500m", False),
        (["--parallel", "4"], "4", True),
        (["--parallel", "4"], "3", False),
        (["-np", "8"], "8", True),
        (["--parallel", "8"], "7", False),
        (["--parallel", "2", "-np", "8"], "4", False),
    ],
)
def test_no_more_requests_than_slots(args: list[str], value: str, never: bool) -> None:
    """LLMKube issue 482: a target of as many requests as there are slots is never exceeded."""
    found = problems(scaled(read("Pods", "llamacpp:requests_processing", value), backend="llamacpp", args=args))
    assert [p.severity for p in found] == ["warning"] * never
    if never:
        assert "llamacpp:requests_deferred" in found[0].reason
    assert not problems(scaled(read("Pods", "llamacpp:requests_deferred", value), backend="llamacpp", args=args))


@pytest.mark.parametrize(
    ("backend", "version", "name", "args", "value", "never"),
    [
        ("vllm", "v0.11.0", "vllm:num_requests_running", ["--max-num-seqs", "19"], "19", True),
        ("vllm", "v0.11.0", "vllm:num_requests_running", ["--max-num-seqs", "19"], "18", False),
        # Nothing tells the accelerator: 256 on most, 1,024 on the largest.
        ("vllm", "v0.11.0", "vllm:num_requests_running", [], "256", False),
        ("vllm", "v0.6.3", "vllm:num_requests_running", [], "256", True),
        ("vllm", "v0.6.3", "vllm:num_requests_running", [], "255", False),
        ("sglang", "v0.5.4", "sglang:num_running_reqs", ["--enable-metrics", "--max-running-requests=8"], "8", True),
        ("sglang", "v0.5.4", "sglang:num_running_reqs", ["--enable-metrics"], "8", False),
        ("llamacpp", "server-b7500", "llamacpp:requests_processing", [], "3", False),
        ("llamacpp", "server-b7500", "llamacpp:requests_processing", [], "4", True),
        ("tgi", "3.3.6", "tgi_batch_current_size", ["--max-batch-size", "16"], "16", True),
        ("tgi", "3.3.6", "tgi_batch_current_size", [], "127", False),
    ],
)
def test_no_more_requests_than_the_engine_takes(
    backend: str, version: str, name: str, args: list[str], value: str, never: bool
) -> None:
    """What an engine works on at once is its own argument, else the default of its version."""
    found = problems(scaled(read("Pods", name, value), backend=backend, version=version, args=args))
    assert [each.rule for each in found] == [RuleId.METRICS_NEVER_TRIGGERS] * never


class TestGroups:
    FLAVOR = open_model(flavors=[{"name": "f", "limits": {"nvidia.com/gpu": 8}, "params": {"TP": "8", "PP": "2"}}])
    QUEUE = read("Pods", "vllm:num_requests_waiting")

    def test_all_spare_groups_at_once_is_pointed_out(self) -> None:
        problem = the_problem(scaled(self.QUEUE), model=self.FLAVOR)
        assert (problem.severity, problem.path) == ("warning", f"{TRIGGER}.behavior")
        assert "stabilizationWindowSeconds: 600" in problem.reason
        assert "{type: Pods, value: 1" in problem.reason

    def test_what_the_user_wrote_stays(self) -> None:
        calm = {"scaleDown": {"stabilizationWindowSeconds": 300}}
        assert not problems(scaled(self.QUEUE, behavior=calm), model=self.FLAVOR)
        assert not problems(scaled(self.QUEUE))


def test_a_recommended_trigger_is_blamed_where_it_was_chosen() -> None:
    own = runtime(
        "vllm", image="vllm/vllm-openai", version="v0.9.2",
        recommendedConfigs=[{"name": "default", "scaleTrigger": {"hpa": {"metrics": [read("Pods", "nope")]}}}],
    )  # fmt: skip
    document = playground(elasticConfig={"maxReplicas": 3})
    problem = the_problem(own, document)
    assert problem.path == "spec.elasticConfig"
    assert "recommended scaleTrigger.hpa.metrics[0].pods.metric.name" in problem.reason


@pytest.mark.parametrize(("adapter", "severity"), [(Adapter.PROMETHEUS_ADAPTER, "warning"), (Adapter.KEDA, "error")])
def test_metrics_of_objects_are_left_to_the_user(adapter: Adapter, severity: str) -> None:
    metric = {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Service", "name": "x", "apiVersion": "v1"},
            "metric": {"name": "hits"},
            "target": {"type": "Value", "value": "5"},
        },
    }
    problem = the_problem(scaled(metric), adapter=adapter)
    assert (problem.severity, problem.path) == (severity, f"{TRIGGER}.metrics[0]")
