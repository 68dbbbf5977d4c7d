"""The table of metrics; expected names from lws-hpa spec 2.3."""

import pytest

from components.engines.metrics import TYPES, engine_metrics, find_anywhere, gateway_metrics, known_series
from components.engines.registry import engines

DOCUMENTED = {
    "vllm": """vllm:num_requests_waiting vllm:num_requests_running vllm:kv_cache_usage_perc vllm:gpu_cache_usage_perc
        vllm:request_success_total vllm:request_queue_time_seconds vllm:time_to_first_token_seconds
        vllm:inter_token_latency_seconds vllm:time_per_output_token_seconds vllm:e2e_request_latency_seconds
        vllm:prompt_tokens_total vllm:generation_tokens_total vllm:request_prompt_tokens
        vllm:request_generation_tokens""",
    "llamacpp": """llamacpp:requests_deferred llamacpp:requests_processing llamacpp:n_busy_slots_per_decode
        llamacpp:n_tokens_max llamacpp:prompt_tokens_total llamacpp:tokens_predicted_total
        llamacpp:prompt_tokens_seconds llamacpp:predicted_tokens_seconds llamacpp:n_decode_total""",
    "sglang": """sglang:num_queue_reqs sglang:num_running_reqs sglang:token_usage sglang:cache_hit_rate
        sglang:num_used_tokens sglang:gen_throughput sglang:time_to_first_token_seconds sglang:prompt_tokens_total
        sglang:generation_tokens_total sglang:num_requests_total""",
    "tgi": """tgi_queue_size tgi_batch_current_size tgi_batch_current_max_tokens tgi_request_count tgi_request_success
        tgi_request_queue_duration tgi_request_duration tgi_request_mean_time_per_token_duration""",
}


def test_metrics_are_those_of_known_engines() -> None:
    assert set(engine_metrics()) < set(engines())
    assert set(engines()) - set(engine_metrics()) == {"personaplex", "tei"}


@pytest.mark.parametrize(("engine", "names"), DOCUMENTED.items())
def test_documented_names_are_there(engine: str, names: str) -> None:
    assert set(names.split()) <= {metric.name for metric in engine_metrics()[engine].metrics}


@pytest.mark.parametrize(
    ("engine", "exports", "flag"),
    [
        ("vllm", "prometheus", None),
        ("sglang", "prometheus", "--enable-metrics"),
        ("tgi", "prometheus", None),
        ("llamacpp", "prometheus", "--metrics"),
        ("ollama", "none", None),
        ("tensorrt-llm", "unknown", None),
    ],
)
def test_what_turns_them_on(engine: str, exports: str, flag: str | None) -> None:
    row = engine_metrics()[engine]
    assert (row.exports, row.flag, row.path) == (exports, flag, "/metrics")
    assert bool(row.metrics) == (exports == "prometheus")


@pytest.mark.parametrize(
    ("engine", "kind", "name"),
    [
        ("vllm", "queue", "vllm:num_requests_waiting"),
        ("sglang", "queue", "sglang:num_queue_reqs"),
        ("tgi", "queue", "tgi_queue_size"),
        ("llamacpp", "queue", "llamacpp:requests_deferred"),
        ("vllm", "running", "vllm:num_requests_running"),
        ("sglang", "running", "sglang:num_running_reqs"),
        ("tgi", "running", "tgi_batch_current_size"),
        ("llamacpp", "running", "llamacpp:requests_processing"),
        ("sglang", "cache", "sglang:token_usage"),
    ],
)
def test_one_word_for_the_same_thing(engine: str, kind: str, name: str) -> None:
    assert [metric.name for metric in engine_metrics()[engine].of_kind(kind)] == [name]


def test_the_newest_spelling_comes_first() -> None:
    for kind, old, new in (
        ("cache", "vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("inter_token", "vllm:time_per_output_token_seconds", "vllm:inter_token_latency_seconds"),
    ):
        assert [metric.name for metric in engine_metrics()["vllm"].of_kind(kind)] == [new, old]


@pytest.mark.parametrize(
    ("name", "tag", "there"),
    [
        ("vllm:kv_cache_usage_perc", "v0.7.3", False),
        ("vllm:kv_cache_usage_perc", "v0.9.1", False),
        ("vllm:kv_cache_usage_perc", "v0.9.2", True),
        ("vllm:kv_cache_usage_perc", "v0.20.0", True),
        ("vllm:kv_cache_usage_perc", "nightly", True),
        ("vllm:gpu_cache_usage_perc", "v0.7.3", True),
        ("vllm:gpu_cache_usage_perc", "v0.10.2", True),
        ("vllm:gpu_cache_usage_perc", "v0.11.0", False),
        ("vllm:gpu_cache_usage_perc", "latest", False),
        ("vllm:inter_token_latency_seconds", "v0.10.1", False),
        ("vllm:inter_token_latency_seconds", "v0.11.0", True),
        ("vllm:time_per_output_token_seconds", "v0.11.0", True),
        ("vllm:time_per_output_token_seconds", "v0.12.0", False),
        ("sglang:inter_token_latency_seconds", "v0.4.5-cu121", True),
        ("sglang:time_per_output_token_seconds", "v0.4.5-cu121", False),
        ("llamacpp:kv_cache_usage_ratio", "server-b6500", False),
        ("llamacpp:requests_deferred", "server", True),
    ],
)
def test_versions(name: str, tag: str, there: bool) -> None:
    facts = engine_metrics()[name.partition(":")[0]]
    assert (find_anywhere(name) in facts.of_version(tag)) is there


@pytest.mark.parametrize("name", ["vllm:num_requests_waiting", "vllm_num_requests_waiting"])
def test_both_spellings_are_found(name: str) -> None:
    found = engine_metrics()["vllm"].find(name)
    assert found is not None
    assert (found.name, found.neutral) == ("vllm:num_requests_waiting", "vllm_num_requests_waiting")


@pytest.mark.parametrize("name", ["tgi:queue_size", "num_requests_waiting", "vllm:num_requests_swapped", ""])
def test_what_does_not_exist_is_not_found(name: str) -> None:
    assert find_anywhere(name) is None


def test_the_table_is_consistent() -> None:
    for engine in engine_metrics().values():
        names = [metric.name for metric in engine.metrics]
        assert len(names) == len(set(names))
        for metric in engine.metrics:
            assert metric.type in TYPES
            assert not metric.ratio or metric.type == "gauge"
            assert metric.name.startswith((f"{engine.engine}:", f"{engine.engine}_", "http_"))
            if metric.instead:
                assert engine.find(metric.instead) is not None
                assert metric.span.until or metric.span.never


def test_a_histogram_is_three_series() -> None:
    assert {f"vllm:time_to_first_token_seconds_{part}" for part in ("bucket", "sum", "count")} <= known_series()
    assert "vllm:time_to_first_token_seconds" not in known_series()
    assert {"up", "DCGM_FI_DEV_GPU_UTIL", "kube_node_labels", "tgi_queue_size"} <= known_series()


def test_gateways_say_which_target_works() -> None:
    """WVA spec 10: a desired count is an average value of 1, a ratio is a value of 1."""
    targets = {metric.name: metric.target for metric in gateway_metrics()}
    assert targets["inferno_desired_replicas"] == "AverageValue"
    assert targets["inferno_desired_ratio"] == "Value"
