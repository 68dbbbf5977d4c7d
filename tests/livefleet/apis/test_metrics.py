"""``/metrics``: names, types and labels that upstream documents, and the values of what was really answered."""

import json
import re
import subprocess
from collections import defaultdict
from typing import Any

import pytest

from components.engines.metrics import engine_metrics
from livefleet.apis.pages import page_of
from livefleet.fleet import TokenPace
from livefleet.pace.replica import EngineReplica
from livefleet.pods.pod import SimulatedClock
from tests.livefleet.apis.asking import FAST, Client, asked
from tests.livefleet.pods_by_hand import pod_by_hand
from tests.monitoring.programs.tools import PROMTOOL, built_or_skip
from tests.monitoring.simulated.engines import ENGINES, Engine

CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Say something."}], "max_tokens": 10}
_SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def parsed(page: str) -> tuple[dict[str, str], Samples]:
    """Return types by metric, and values by series and labels (Prometheus' text format, 0.0.4)."""
    types: dict[str, str] = {}
    samples: Samples = defaultdict(dict)
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} is declared twice"
            types[name] = kind
        elif not line.startswith("# HELP "):
            match = _SAMPLE.fullmatch(line)
            assert match, line
            labels = tuple(sorted(_LABEL.findall(match[2] or "")))
            assert labels not in samples[match[1]], line
            samples[match[1]][labels] = float(match[3])
    return types, dict(samples)


def page_after(engine: str, requests: int = 1, **workload: Any) -> str:
    """Return the page of a pod that has answered some requests."""

    async def ask(client: Client) -> str:
        for _ in range(requests):
            status, _ = await client.post("/v1/chat/completions", CHAT)
            assert status == 200
        status, page = await client.get("/metrics")
        assert status == 200
        return page

    return asked(pod_by_hand(engine, speed=FAST, **workload), ask)


def value(page: str, name: str, **labels: str) -> float:
    """Return the value of the only series with some labels."""
    _, samples = parsed(page)
    (found,) = [each for known, each in samples[name].items() if {*labels.items()} <= {*known}]
    return found


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_names_types_and_labels_are_upstreams(engine: Engine) -> None:
    types, samples = parsed(page_after(engine.name, models=("model",)))
    assert {name: types.get(name) for name in engine.metrics} == dict(engine.metrics)
    expected = {(name, value) for name, value in engine.labels.items() if value is not None}
    for name, kind in engine.metrics.items():
        for series in [f"{name}_bucket", f"{name}_sum", f"{name}_count"] if kind == "histogram" else [name]:
            for labels in samples[series]:
                assert expected <= {*labels}, series


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp"])
def test_every_metric_of_our_tables_is_on_the_page(engine: str) -> None:
    page = page_after(engine)
    _, samples = parsed(page)
    known = {series for metric in engine_metrics()[engine].of_version("") for series in metric.series}
    # A counter by handler is there once something was asked.
    assert known - samples.keys() == set()


VERSIONS = [
    ("vllm", "v0.8.5", "vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
    ("vllm", "v0.20.0", "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    ("vllm", "v0.10.0", "vllm:time_per_output_token_seconds", "vllm:inter_token_latency_seconds"),
    ("vllm", "v0.12.0", "vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    ("sglang", "v0.4.3", "sglang:time_per_output_token_seconds", "sglang:inter_token_latency_seconds"),
    ("sglang", "v0.5.4", "sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"),
]


@pytest.mark.parametrize(("engine", "version", "there", "elsewhere"), VERSIONS)
def test_names_are_those_of_the_version(engine: str, version: str, there: str, elsewhere: str) -> None:
    types, _ = parsed(page_after(engine, version=version))
    assert there in types
    assert elsewhere not in types


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp"])
@pytest.mark.parametrize("requests", [0, 2])
def test_promtool_reads_the_page(engine: str, requests: int) -> None:
    program = built_or_skip(PROMTOOL)["promtool"]
    page = page_after(engine, requests, adapters=("sql",), models=("demo", 'quo"ted\n', "sql"))
    done = subprocess.run([str(program), "check", "metrics"], input=page, capture_output=True, text=True, check=False)
    # Upstream's names are not all as its linter would have them (3); what cannot be read is another matter (1).
    assert done.returncode in (0, 3), done.stderr
    assert "error while linting" not in done.stderr


def test_tokens_and_times_of_answers_are_counted() -> None:
    pace = TokenPace(alpha=0.02, beta=0.0, prefill=0.0, batch=8)
    page = page_after("vllm", 3, pace=pace)
    # "Say", " some", "thin", "g", "." and four marks; ten tokens, 20 ms each, the first one after 20 ms.
    assert value(page, "vllm:prompt_tokens_total") == 3 * 9
    assert value(page, "vllm:generation_tokens_total") == 3 * 10
    assert value(page, "vllm:request_success_total", finished_reason="length") == 3
    assert value(page, "vllm:request_success_total", finished_reason="stop") == 0
    assert value(page, "vllm:time_to_first_token_seconds_count") == 3
    assert value(page, "vllm:time_to_first_token_seconds_sum") == pytest.approx(3 * 0.02)
    assert value(page, "vllm:e2e_request_latency_seconds_sum") == pytest.approx(3 * 0.2)
    assert value(page, "vllm:inter_token_latency_seconds_count") == 3 * 9
    assert value(page, "vllm:inter_token_latency_seconds_sum") == pytest.approx(3 * 0.18)
    assert value(page, "vllm:request_queue_time_seconds_sum") == pytest.approx(0.0)
    assert value(page, "vllm:request_prompt_tokens_sum") == 3 * 9
    assert value(page, "vllm:num_requests_running") == 0
    assert value(page, "http_requests_total", handler="/v1/chat/completions", status="2xx") == 3


def test_requests_are_counted_by_path_and_status() -> None:
    async def ask(client: Client) -> str:
        for path in ("/v1/chat/completions", "/v1/chat/completions", "/nothing/of/the/kind"):
            await client.post(path, {**CHAT, "model": "other"})
        await client.get("/health")
        return (await client.get("/metrics"))[1]

    _, samples = parsed(asked(pod_by_hand(), ask))
    assert samples["http_requests_total"] == {
        (("handler", "/v1/chat/completions"), ("method", "POST"), ("status", "4xx")): 2,
        (("handler", "none"), ("method", "POST"), ("status", "4xx")): 1,
    }


def test_buckets_of_a_histogram_hold_what_is_below_them() -> None:
    page = page_after("vllm", 2, pace=TokenPace(alpha=0.03, beta=0.0, prefill=0.0, batch=8))
    # 30 ms are above 0.025 and below 0.05 (vllm/v1/metrics/loggers.py).
    assert value(page, "vllm:inter_token_latency_seconds_bucket", le="0.025") == 0
    assert value(page, "vllm:inter_token_latency_seconds_bucket", le="0.05") == 18
    assert value(page, "vllm:inter_token_latency_seconds_bucket", le="+Inf") == 18


def test_gauges_are_of_the_moment() -> None:
    now = 0.0
    pace = TokenPace(alpha=0.01, beta=0.0, prefill=0.0, batch=2, cache_tokens=1000)
    pod = pod_by_hand(pace=pace, clock=SimulatedClock(real=lambda: now))
    for _ in range(5):
        pod.replica.submit(pod.clock(), 90, 1000)
    now = 0.055

    async def ask(client: Client) -> str:
        return (await client.get("/metrics"))[1]

    page = asked(pod, ask)
    assert value(page, "vllm:num_requests_running") == 2
    assert value(page, "vllm:num_requests_waiting") == 3
    # Two prompts of 90 tokens, five tokens of the first answer, and four of the second, which joined after a step.
    assert value(page, "vllm:kv_cache_usage_perc") == pytest.approx(0.189)
    assert value(page, "vllm:cache_config_info", num_gpu_blocks="62", block_size="16") == 1


def test_a_page_counts_what_open_answers_have_by_now() -> None:
    async def ask(client: Client) -> tuple[float, float]:
        body = {**CHAT, "max_tokens": 4000, "ignore_eos": True, "stream": True}
        async with client.session.post(f"{client.url}/v1/chat/completions", json=body) as response:
            await response.content.readuntil(b'"content":"Simu"')
            first, second = [(await client.get("/metrics"))[1] for _ in "ab"]
        return value(first, "vllm:generation_tokens_total"), value(second, "vllm:generation_tokens_total")

    first, second = asked(pod_by_hand(speed=2.0), ask)
    assert 0 < first <= second < 4000


@pytest.mark.parametrize(("engine", "there"), [("vllm", True), ("llamacpp", True), ("sglang", False), ("tgi", False)])
def test_counters_before_the_first_request(engine: str, there: bool) -> None:
    types, _ = parsed(page_after(engine, 0))
    assert ("counter" in types.values()) is there
    assert "gauge" in types.values()


def test_adapters_at_work_are_named() -> None:
    pod = pod_by_hand(models=("demo", "sql", "chat"), adapters=("sql", "chat"), speed=0.5)

    async def ask(client: Client) -> str:
        body = {**CHAT, "model": "sql", "max_tokens": 1000, "ignore_eos": True, "stream": True}
        async with client.session.post(f"{client.url}/v1/chat/completions", json=body) as response:
            await response.content.readuntil(b'"content":"Simu"')
            return (await client.get("/metrics"))[1]

    _, samples = parsed(asked(pod, ask))
    ((labels, _),) = samples["vllm:lora_requests_info"].items()
    assert dict(labels) == {"max_lora": "2", "running_lora_adapters": "sql", "waiting_lora_adapters": ""}


def test_buckets_that_follow_the_context() -> None:
    bounds = {metric.name: metric.bounds for metric in page_of("vllm", "", 100).metrics}
    # build_1_2_5_buckets(100) of vllm/v1/metrics/loggers.py says so itself.
    assert bounds["vllm:request_prompt_tokens"] == (1, 2, 5, 10, 20, 50, 100)
    bounds = {metric.name: metric.bounds for metric in page_of("tgi", "", 2000).metrics}
    assert bounds["tgi_request_generated_tokens"][:2] == (20, 40)
    assert len(bounds["tgi_request_generated_tokens"]) == 100
    # 0.0001 s, each time half as much again, 35 times (router/src/server.rs).
    assert bounds["tgi_request_duration"][0] == pytest.approx(0.00015)
    assert bounds["tgi_request_duration"][-1] == pytest.approx(0.0001 * 1.5**35)
    assert len(bounds["tgi_request_duration"]) == 35


@pytest.mark.parametrize("engine", ["ollama", "", "tensorrt-llm"])
def test_an_engine_without_metrics_has_no_page(engine: str) -> None:
    async def ask(client: Client) -> int:
        return (await client.get("/metrics"))[0]

    assert asked(pod_by_hand(engine), ask) == 404


# What upstream documents or registers for every server, beside the metrics of the table: docs/design/metrics.md and
# docs/usage/metrics.md of vLLM with vllm/v1/metrics/loggers.py; docs/references/production_metrics.md of SGLang with
# python/sglang/srt/metrics/collector.py; docs/source/reference/metrics.md of TGI.
DOCUMENTED = [
    (
        "vllm",
        "v0.20.0",
        {
            "vllm:iteration_tokens_total": "histogram",
            "vllm:request_params_n": "histogram",
            "vllm:request_params_max_tokens": "histogram",
            "vllm:request_max_num_generation_tokens": "histogram",
            "vllm:request_prefill_time_seconds": "histogram",
            "vllm:request_decode_time_seconds": "histogram",
            "vllm:request_inference_time_seconds": "histogram",
            "vllm:request_time_per_output_token_seconds": "histogram",
            "vllm:request_prefill_kv_computed_tokens": "histogram",
            "vllm:num_preemptions_total": "counter",
            "vllm:prefix_cache_queries_total": "counter",
            "vllm:prefix_cache_hits_total": "counter",
            "vllm:external_prefix_cache_queries_total": "counter",
            "vllm:external_prefix_cache_hits_total": "counter",
            "vllm:mm_cache_queries_total": "counter",
            "vllm:mm_cache_hits_total": "counter",
            "vllm:prompt_tokens_by_source_total": "counter",
            "vllm:prompt_tokens_cached_total": "counter",
            "vllm:engine_sleep_state": "gauge",
            "vllm:cache_config_info": "gauge",
        },
    ),
    (
        "sglang",
        "v0.5.9",
        {
            "sglang:func_latency_seconds": "histogram",
            "sglang:queue_time_seconds": "histogram",
            "sglang:cached_tokens_total": "counter",
            "sglang:num_so_requests_total": "counter",
            "sglang:num_retracted_requests_total": "counter",
            "sglang:realtime_tokens_total": "counter",
            "sglang:num_grammar_queue_reqs": "gauge",
            "sglang:num_paused_reqs": "gauge",
            "sglang:num_retracted_reqs": "gauge",
            "sglang:spec_accept_length": "gauge",
            "sglang:utilization": "gauge",
            "sglang:engine_startup_time": "gauge",
            "sglang:max_total_num_tokens": "gauge",
        },
    ),
    (
        "tgi",
        "3.3.6",
        {
            "tgi_batch_decode_duration": "histogram",
            "tgi_batch_filter_duration": "histogram",
            "tgi_batch_forward_duration": "histogram",
            "tgi_batch_inference_duration": "histogram",
            "tgi_batch_inference_count": "counter",
            "tgi_batch_inference_success": "counter",
            "tgi_batch_next_size": "histogram",
            "tgi_request_max_new_tokens": "histogram",
            "tgi_request_skipped_tokens": "summary",
            "tgi_request_inference_duration": "histogram",
            "tgi_request_validation_duration": "histogram",
        },
    ),
]


@pytest.mark.parametrize(("engine", "version", "documented"), DOCUMENTED, ids=lambda value: str(value)[:12])
def test_what_upstream_documents_is_on_the_page(engine: str, version: str, documented: dict[str, str]) -> None:
    types, samples = parsed(page_after(engine, 2, version=version))
    assert {name: types.get(name) for name in documented} == documented
    for name, kind in documented.items():
        assert samples.get(f"{name}_count" if kind in ("histogram", "summary") else name), name


@pytest.mark.parametrize(
    ("engine", "version", "name"),
    [
        ("vllm", "v0.8.5", "vllm:request_time_per_output_token_seconds"),
        ("vllm", "v0.13.0", "vllm:prompt_tokens_by_source_total"),
        ("vllm", "v0.20.0", "vllm:gpu_prefix_cache_queries_total"),
        ("sglang", "v0.5.4", "sglang:realtime_tokens_total"),
    ],
)
def test_a_version_lacks_what_came_later_or_went(engine: str, version: str, name: str) -> None:
    assert name not in parsed(page_after(engine, version=version))[0]


def test_steps_are_counted_by_what_they_do() -> None:
    """A request of nine prompt tokens and ten tokens: a step for the prompt and the first token, nine more."""
    pace = TokenPace(alpha=0.02, beta=0.0, prefill=0.001, batch=8)
    page = page_after("tgi", 2, pace=pace)
    assert value(page, "tgi_batch_inference_count", method="prefill") == 2
    assert value(page, "tgi_batch_inference_count", method="decode") == 2 * 9
    assert value(page, "tgi_batch_forward_duration_sum", method="prefill") == pytest.approx(2 * (0.02 + 0.009))
    assert value(page, "tgi_batch_forward_duration_sum", method="decode") == pytest.approx(2 * 9 * 0.02)
    assert value(page, "tgi_batch_next_size_count") == 2
    assert value(page, "tgi_request_max_new_tokens_sum") == 2 * 10
    page = page_after("vllm", 1, pace=pace)
    assert value(page, "vllm:iteration_tokens_total_count") == 10
    assert value(page, "vllm:iteration_tokens_total_sum") == 9 + 10
    assert value(page, "vllm:request_params_max_tokens_sum") == 10
    assert value(page, "vllm:request_params_n_sum") == 1
    assert value(page, "vllm:prompt_tokens_by_source_total", source="local_compute") == 9
    assert value(page, "vllm:engine_sleep_state", sleep_state="awake") == 1


def test_requests_that_are_taken_out_of_the_batch_are_counted() -> None:
    """A cache of 20: two requests of five and ten tokens do not both stay to their end."""
    pod = pod_by_hand(pace=TokenPace(0.01, 0.0, 0.0, 2, cache_tokens=20))
    replica: EngineReplica = pod.replica
    for _ in range(2):
        replica.submit(0.0, 5, 10)
    replica.advance(10.0)
    assert replica.preemptions == 1

    async def ask(client: Client) -> str:
        return (await client.get("/metrics"))[1]

    assert value(asked(pod, ask), "vllm:num_preemptions_total") == 1


def test_steps_are_told_as_often_as_they_are_looked_at() -> None:
    """Viewport in between changes neither what is counted nor when answers end."""
    told: list[list[tuple[int, int]]] = []
    ends = []
    for looks in (1, 7, 50):
        steps: list[tuple[int, int]] = []
        replica = EngineReplica(TokenPace(0.01, 0.001, 0.0001, 4), None, 0.0)
        replica.watcher = lambda number, running, *_, steps=steps: steps.append((number, running))
        jobs = [replica.submit(0.0, 20, 30) for _ in range(3)]
        for look in range(looks):
            replica.settle(1.0 * (look + 1) / looks)
        told.append(steps)
        ends.append([job.ended for job in jobs])
    assert {sum(number * running for number, running in steps) for steps in told} == {3 * 30}
    assert ends[1] == pytest.approx(ends[0])
    assert ends[2] == pytest.approx(ends[0])


# A server whose metrics are off: SGLang mounts no such path without --enable-metrics (add_prometheus_middleware in
# http_server.py); llama.cpp says what is missing; vLLM with --disable-log-stats keeps what counts HTTP requests.
def test_sglang_has_no_page_unless_metrics_are_on() -> None:
    async def ask(client: Client) -> tuple[int, int]:
        status, _ = await client.post("/v1/chat/completions", CHAT)
        return status, (await client.get("/metrics"))[0]

    assert asked(pod_by_hand("sglang", speed=FAST, exports=False), ask) == (200, 404)
    assert asked(pod_by_hand("sglang", speed=FAST, exports=True), ask) == (200, 200)


def test_llamacpp_says_what_is_missing() -> None:
    refusal = "This server does not support metrics endpoint. Start it with `--metrics`"

    async def ask(client: Client) -> tuple[int, str]:
        return await client.get("/metrics")

    status, text = asked(pod_by_hand("llamacpp", exports=False, metrics_refusal=refusal), ask)
    assert status == 501
    assert '"type":"not_supported_error"' in text
    assert refusal in text


def test_vllm_keeps_its_counts_of_http_requests() -> None:
    types, samples = parsed(page_after("vllm", exports=False))
    assert set(types) == {
        "http_requests_total",
        "http_request_size_bytes",
        "http_response_size_bytes",
        "http_request_duration_seconds",
        "http_request_duration_highr_seconds",
    }
    assert sum(samples["http_requests_total"].values()) == 1


def test_http_requests_have_sizes_and_durations() -> None:
    """As in docs/design/metrics.md of vLLM; steps of 200 ms make ten tokens in two seconds."""
    page = page_after("vllm", 2, pace=TokenPace(alpha=0.2, beta=0.0, prefill=0.0, batch=8))
    handler = "/v1/chat/completions"
    assert value(page, "http_request_size_bytes_count", handler=handler) == 2
    assert value(page, "http_request_size_bytes_sum", handler=handler) == 2 * len(json.dumps(CHAT))
    assert value(page, "http_response_size_bytes_count", handler=handler) == 2
    assert value(page, "http_response_size_bytes_sum", handler=handler) > 2 * 100
    assert value(page, "http_request_duration_seconds_count", handler=handler, method="POST") == 2
    assert value(page, "http_request_duration_seconds_bucket", handler=handler, method="POST", le="1.0") == 0
    assert value(page, "http_request_duration_highr_seconds_bucket", le="+Inf") == 2
    assert value(page, "http_request_duration_highr_seconds_sum") >= 4
