"""The engines' own APIs: the shapes are those of upstream's documents."""

import json
from dataclasses import replace
from typing import Any

import pytest

from livefleet.apis.tokens import count
from livefleet.pods.pod import SimulatedClock
from tests.livefleet.apis.asking import FAST, Client, asked
from tests.livefleet.pods_by_hand import PACE, pod_by_hand

START = "Simulated answer of demo:"


def get(engine: str, path: str, **workload: Any) -> tuple[int, Any]:
    async def ask(client: Client) -> tuple[int, Any]:
        status, text = await client.get(path)
        return status, json.loads(text) if text[:1] in ("{", "[") else text

    return asked(pod_by_hand(engine, speed=FAST, **workload), ask)


def post(engine: str, path: str, body: Any, **workload: Any) -> tuple[int, Any]:
    return asked(pod_by_hand(engine, speed=FAST, **workload), lambda client: client.post(path, body))


def events(engine: str, path: str, body: Any) -> list[Any]:
    return asked(pod_by_hand(engine, speed=FAST), lambda client: client.events(path, body))


# Text Generation Inference: docs of /generate and /generate_stream (GenerateResponse, StreamResponse).


def test_tgi_generate() -> None:
    body = {"inputs": "Once upon", "parameters": {"max_new_tokens": 3, "details": True}}
    status, found = post("tgi", "/generate", body)
    assert status == 200
    assert count(found["generated_text"]) == 3
    details = found["details"]
    assert (details["finish_reason"], details["generated_tokens"]) == ("length", 3)
    assert "".join(token["text"] for token in details["tokens"]) == found["generated_text"]
    assert {*details["tokens"][0]} == {"id", "text", "logprob", "special"}


def test_tgi_stream_has_text_and_details_at_its_end() -> None:
    *others, last = events("tgi", "/generate_stream", {"inputs": "Once upon", "parameters": {"max_new_tokens": 3}})
    assert [event["index"] for event in (*others, last)] == [1, 2, 3]
    assert all(event["generated_text"] is None and event["details"] is None for event in others)
    assert last["generated_text"] == "".join(event["token"]["text"] for event in (*others, last))
    assert last["details"] == {"finish_reason": "length", "generated_tokens": 3, "seed": None, "input_length": 2}


def test_tgi_root_answers_with_a_list_or_a_stream() -> None:
    _, found = post("tgi", "/", {"inputs": "Once", "parameters": {"max_new_tokens": 1}})
    assert found == [{"generated_text": "Simu"}]
    (only,) = events("tgi", "/", {"inputs": "Once", "stream": True, "parameters": {"max_new_tokens": 1}})
    assert only["generated_text"] == "Simu"


def test_tgi_info_and_health() -> None:
    status, info = get("tgi", "/info", context=2048, in_flight=128)
    assert status == 200
    assert (info["model_id"], info["max_total_tokens"], info["max_input_tokens"]) == ("example/demo-7b", 2048, 2047)
    assert info["max_concurrent_requests"] == 128
    assert get("tgi", "/health") == (200, "")
    assert get("tgi", "/v1/models")[1]["data"][0]["id"] == "example/demo-7b"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"inputs": ""}, 422, "`inputs` cannot be empty"),
        ({"inputs": "x", "parameters": {"max_new_tokens": 0}}, 422, "`max_new_tokens` must be strictly positive"),
        ({"inputs": "x", "parameters": {"max_new_tokens": 4096}}, 422, "maximum context length is 4096"),
        ({"inputs": "x", "parameters": {"stop": list("abcde")}}, 422, "`stop` supports up to 4"),
    ],
    ids=["empty", "no tokens", "context", "stops"],
)
def test_tgi_refuses_in_its_own_form(body: dict[str, Any], status: int, message: str) -> None:
    found, error = post("tgi", "/generate", body)
    assert found == status
    assert {*error} == {"error", "error_type"}
    assert error["error_type"] == "validation"
    assert error["error"].startswith("Input validation error: ")
    assert message in error["error"]


# SGLang: docs/basic_usage/native_api.ipynb.


def test_sglang_generate() -> None:
    body = {"text": "Once upon", "sampling_params": {"max_new_tokens": 4}}
    status, found = post("sglang", "/generate", body)
    assert status == 200
    meta = found["meta_info"]
    assert (meta["prompt_tokens"], meta["completion_tokens"]) == (2, 4)
    assert meta["finish_reason"] == {"type": "length", "length": 4}
    assert count(found["text"]) == len(found["output_ids"]) == 4


def test_sglang_streams_the_whole_text_so_far() -> None:
    body = {"text": "Once upon", "sampling_params": {"max_new_tokens": 3}, "stream": True}
    *found, end = events("sglang", "/generate", body)
    assert end is None
    texts = [event["text"] for event in found]
    assert texts == ["Simu", "Simulate", "Simulated"]
    assert [event["meta_info"]["completion_tokens"] for event in found] == [1, 2, 3]
    assert [event["meta_info"]["finish_reason"] for event in found[:2]] == [None, None]


def test_sglang_tells_its_model_and_its_health() -> None:
    status, found = get("sglang", "/get_model_info")
    assert status == 200
    assert (found["model_path"], found["is_generation"]) == ("example/demo-7b", True)
    assert get("sglang", "/health") == (200, "")
    assert get("sglang", "/health_generate") == (200, "")


# llama.cpp: tools/server/README.md.


def test_llamacpp_completion() -> None:
    status, found = post("llamacpp", "/completion", {"prompt": "Once upon", "n_predict": 6})
    assert status == 200
    assert found["stop"] is True
    assert found["stop_type"] == "limit"
    assert (found["tokens_evaluated"], found["tokens_predicted"]) == (2, 6)
    assert count(found["content"]) == 6
    timings = found["timings"]
    assert (timings["prompt_n"], timings["predicted_n"]) == (2, 6)
    # Five steps of 10.1 ms after the first token.
    assert timings["predicted_ms"] == pytest.approx(50.5)


def test_llamacpp_stream_ends_without_a_mark() -> None:
    *others, last = events("llamacpp", "/completion", {"prompt": "Once", "n_predict": 3, "stream": True})
    assert [event["content"] for event in others] == ["Simu", "late", "d"]
    assert not any(event["stop"] for event in others)
    assert (last["stop"], last["content"], last["tokens_predicted"]) == (True, "", 3)


def test_llamacpp_tells_slots_props_and_health() -> None:
    assert get("llamacpp", "/health") == (200, {"status": "ok"})
    _, props = get("llamacpp", "/props")
    assert (props["total_slots"], props["default_generation_settings"]["n_ctx"]) == (64, 4096)
    _, slots = get("llamacpp", "/slots")
    assert [slot["id"] for slot in slots] == list(range(64))
    assert not any(slot["is_processing"] for slot in slots)


def test_llamacpp_tells_a_balancer_that_no_slot_is_free() -> None:
    now = 0.0
    pod = pod_by_hand("llamacpp", pace=replace(PACE, batch=1), clock=SimulatedClock(real=lambda: now))
    path = "/slots?fail_on_no_slot=1"
    assert asked(pod, lambda client: client.get(path))[0] == 200
    pod.replica.submit(pod.clock(), 1, 100)
    status, text = asked(pod, lambda client: client.get(path))
    assert status == 503
    assert json.loads(text)["error"]["type"] == "unavailable_error"


# ollama: docs/api.md.


def test_ollama_streams_unless_it_is_not_to() -> None:
    body = {"model": "demo", "prompt": "Once", "options": {"num_predict": 2}}
    found = asked(pod_by_hand("ollama", speed=FAST), lambda client: client.lines("/api/generate", body))
    assert [line["response"] for line in found] == ["Simu", "late", ""]
    assert [line["done"] for line in found] == [False, False, True]
    last = found[-1]
    assert last["done_reason"] == "length"
    # One step after the first token, in nanoseconds.
    assert last["eval_duration"] == pytest.approx(10_100_000)
    parts = last["load_duration"] + last["prompt_eval_duration"] + last["eval_duration"]
    assert last["total_duration"] == pytest.approx(parts, abs=3)
    status, whole = post("ollama", "/api/generate", {**body, "stream": False})
    assert (status, whole["response"], whole["done"]) == (200, "Simulate", True)


@pytest.mark.parametrize(("path", "field"), [("/api/chat", "message"), ("/api/generate", "response")])
def test_ollama_loads_a_model_when_nothing_is_asked(path: str, field: str) -> None:
    status, found = post("ollama", path, {"model": "demo"})
    assert status == 200
    assert (found["done_reason"], found["done"]) == ("load", True)
    assert field in found


def test_ollama_is_running() -> None:
    assert get("ollama", "/") == (200, "Ollama is running")
    assert get("ollama", "/api/version", version="0.12.6") == (200, {"version": "0.12.6"})
    assert get("ollama", "/metrics") == (404, "404 page not found")


# vLLM: docs/serving/openai_compatible_server.md.


def test_vllm_tokens_there_and_back() -> None:
    async def ask(client: Client) -> Any:
        _, found = await client.post("/tokenize", {"model": "demo", "prompt": "Once upon a time"})
        _, back = await client.post("/detokenize", {"model": "demo", "tokens": found["tokens"]})
        return found, back

    found, back = asked(pod_by_hand(), ask)
    # "Once", " upon", " a", " time".
    assert found["count"] == len(found["tokens"]) == 4
    assert found["max_model_len"] == 4096
    assert back == {"prompt": "Once upon a time"}


def test_vllm_counts_a_chat_as_it_answers_it() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}]
    _, found = post("vllm", "/tokenize", {"model": "demo", "messages": messages})
    _, answer = post("vllm", "/v1/chat/completions", {"model": "demo", "messages": messages})
    assert found["count"] == answer["usage"]["prompt_tokens"]


def test_vllm_version_and_health() -> None:
    assert get("vllm", "/version", version="v0.20.0") == (200, {"version": "0.20.0"})
    assert get("vllm", "/health") == (200, "")
    assert get("", "/health") == (200, "")


REFUSED = [
    ("vllm", "/v1/nothing", 404, {"detail": "Not Found"}),
    ("vllm", "/health", 405, {"detail": "Method Not Allowed"}),
    (
        "llamacpp",
        "/nothing",
        404,
        {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}},
    ),
]


@pytest.mark.parametrize(("engine", "path", "status", "error"), REFUSED)
def test_paths_and_methods_that_are_not_there(engine: str, path: str, status: int, error: Any) -> None:
    assert post(engine, path, {}) == (status, error)
