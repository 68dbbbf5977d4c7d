"""OpenAI's API as engines speak it (OpenAI API reference; vLLM's protocol.py)."""

import io
import json
from typing import Any

import pytest

from livefleet.apis.tokens import count
from tests.livefleet.apis.asking import FAST, Client, asked
from tests.livefleet.pods_by_hand import pod_by_hand

CHAT: dict[str, Any] = {"model": "demo", "messages": [{"role": "user", "content": "Say something."}]}


def test_an_answer_in_one_piece() -> None:
    status, found = asked(pod_by_hand(speed=FAST), lambda pod: pod.post("/v1/chat/completions", CHAT))
    assert status == 200
    assert found["object"] == "chat.completion"
    assert found["model"] == "demo"
    (choice,) = found["choices"]
    assert (choice["index"], choice["finish_reason"], choice["message"]["role"]) == (0, "stop", "assistant")
    assert choice["message"]["content"].startswith("Simulated answer of demo: ")
    # "Say", " some", "thin", "g", "." and four marks around the message.
    assert found["usage"]["prompt_tokens"] == 9
    assert found["usage"]["completion_tokens"] == count(choice["message"]["content"])
    assert found["usage"]["total_tokens"] == 9 + found["usage"]["completion_tokens"]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp", "ollama", ""])
def test_a_stream_is_the_same_answer_token_by_token(engine: str) -> None:
    pod = pod_by_hand(engine, speed=FAST)
    body = {**CHAT, "max_tokens": 30, "seed": 7}
    _, whole = asked(pod, lambda pod: pod.post("/v1/chat/completions", body))
    streamed = {**body, "stream": True, "stream_options": {"include_usage": True}}
    *events, usage, end = asked(pod, lambda pod: pod.events("/v1/chat/completions", streamed))
    assert end is None
    assert usage["choices"] == []
    assert usage["usage"] == whole["usage"]
    assert {event["object"] for event in events} == {"chat.completion.chunk"}
    assert len({event["id"] for event in events}) == 1
    first, *others = [event["choices"][0] for event in events]
    assert first["delta"] == {"role": "assistant", "content": ""}
    pieces = [choice["delta"].get("content") for choice in others]
    assert len(list(filter(None, pieces))) == 30
    assert "".join(filter(None, pieces)) == whole["choices"][0]["message"]["content"]
    assert [choice["finish_reason"] for choice in others] == [None] * (len(others) - 1) + ["length"]


@pytest.mark.parametrize(
    ("engine", "error"),
    [
        # serving_chat.py of SGLang; into_openai_event in router/src/infer/mod.rs of Text Generation Inference.
        ("sglang", {"type": "BadRequestError", "code": 400}),
        ("tgi", {"http_status_code": 422}),
    ],
)
def test_some_engines_refuse_within_the_stream(engine: str, error: dict[str, Any]) -> None:
    pod = pod_by_hand(engine, speed=FAST, context=20)
    body = {**CHAT, "max_tokens": 100, "stream": True}
    refused, end = asked(pod, lambda client: client.events("/v1/chat/completions", body))
    assert end is None
    assert error.items() <= refused["error"].items()
    assert "maximum context length is 20" in refused["error"]["message"]
    assert (pod.refused, pod.answered) == (1, 0)


@pytest.mark.parametrize(("engine", "status"), [("vllm", 400), ("llamacpp", 200), ("ollama", 200)])
def test_others_refuse_before_it_or_end_where_the_context_ends(engine: str, status: int) -> None:
    pod = pod_by_hand(engine, speed=FAST, context=20)

    async def ask(client: Client) -> tuple[int, str]:
        body = {**CHAT, "max_tokens": 100, "stream": True}
        async with client.session.post(f"{client.url}/v1/chat/completions", json=body) as response:
            return response.status, await response.text()

    found, text = asked(pod, ask)
    assert found == status
    # Nine tokens of the prompt leave eleven.
    assert text.count('"content":"') - text.count('"content":""') == (11 if status == 200 else 0)


@pytest.mark.parametrize(
    ("version", "nested"), [("v0.9.2", False), ("v0.10.0", True), ("v0.20.0", True), ("", True), ("nightly", True)]
)
def test_an_error_of_vllm_is_an_object_of_its_own_since_0_10(version: str, nested: bool) -> None:
    pod = pod_by_hand(version=version)
    status, error = asked(pod, lambda client: client.post("/v1/chat/completions", {**CHAT, "model": "other"}))
    assert status == 404
    fields = error["error"] if nested else error
    assert (fields["type"], fields["code"]) == ("NotFoundError", 404)


@pytest.mark.parametrize("engine", ["sglang", "tgi", "llamacpp"])
def test_engines_with_one_model_answer_to_every_name(engine: str) -> None:
    pod = pod_by_hand(engine, speed=FAST)
    status, found = asked(pod, lambda client: client.post("/v1/chat/completions", {**CHAT, "model": "other"}))
    assert status == 200
    assert found["model"] == "other"
    assert found["choices"][0]["message"]["content"].startswith("Simulated answer of demo: ")


LIMITS = [
    ({"max_tokens": 5}, 5, "length"),
    ({"max_completion_tokens": 6, "max_tokens": 5}, 6, "length"),
    ({"max_tokens": 500, "ignore_eos": True}, 500, "length"),
    ({"max_tokens": 2000, "min_tokens": 1000}, 1000, "stop"),
    ({"stop": ["demo"]}, 7, "stop"),
    ({"stop": " answer"}, 5, "stop"),
]


@pytest.mark.parametrize(("limits", "tokens", "finish"), LIMITS, ids=lambda value: str(value))
def test_how_long_an_answer_is(limits: dict[str, Any], tokens: int, finish: str) -> None:
    # "Simu", "late", "d", " answ", "er", " of", " demo", ":", and words of one token.
    _, found = asked(pod_by_hand(speed=FAST), lambda client: client.post("/v1/chat/completions", {**CHAT, **limits}))
    assert found["usage"]["completion_tokens"] == tokens
    assert found["choices"][0]["finish_reason"] == finish


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_tokens": 9, "max_tokens": 8}, "min_tokens must be less than or equal to max_tokens=8, got 9."),
        ({"stream_options": {"include_usage": True}}, "Stream options can only be defined when `stream=True`."),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0."),
        ({"n": 0}, "n must be at least 1, got 0."),
    ],
    ids=lambda value: str(value),
)
def test_what_does_not_go_together_is_refused(limits: dict[str, Any], message: str) -> None:
    status, error = asked(pod_by_hand(), lambda client: client.post("/v1/chat/completions", {**CHAT, **limits}))
    assert status == 400
    assert error["error"]["message"] == message
    assert error["error"]["param"] in limits


def test_parts_of_a_message_are_counted() -> None:
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]
    body = {**CHAT, "messages": [{"role": "user", "content": parts}]}
    _, found = asked(pod_by_hand(speed=FAST), lambda client: client.post("/v1/chat/completions", body))
    # "What", " is", " it", "?", the marks, and a flat number for a picture.
    assert found["usage"]["prompt_tokens"] == 4 + 4 + 256


@pytest.mark.parametrize(
    ("prompt", "prompt_tokens", "answers"),
    [("Once upon", 2, 1), (["Once", "Once upon"], 3, 2), ([7, 8, 9], 3, 1), ([[7, 8], [9]], 3, 2)],
    ids=lambda value: str(value),
)
def test_prompts_of_completions(prompt: Any, prompt_tokens: int, answers: int) -> None:
    body = {"model": "demo", "prompt": prompt}
    _, found = asked(pod_by_hand(speed=FAST), lambda client: client.post("/v1/completions", body))
    assert found["object"] == "text_completion"
    assert [choice["index"] for choice in found["choices"]] == list(range(answers))
    # vLLM writes 16 tokens where nothing is said.
    assert found["usage"] == {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": 16 * answers,
        "total_tokens": prompt_tokens + 16 * answers,
    }


def test_the_same_question_has_the_same_answer_everywhere() -> None:
    def ask(name: str, **rest: Any) -> str:
        pod = pod_by_hand(speed=FAST, name=name)
        _, found = asked(pod, lambda client: client.post("/v1/chat/completions", {**CHAT, **rest}))
        return str(found["choices"][0]["message"]["content"])

    assert ask("pod-0") == ask("pod-1")
    assert ask("pod-0") != ask("pod-0", seed=1)
    assert ask("pod-0") != ask("pod-0", messages=[{"role": "user", "content": "Say something else."}])


@pytest.mark.parametrize(
    ("engine", "embeds", "status"),
    [
        ("vllm", False, 400),
        ("vllm", True, 200),
        ("sglang", False, 400),
        ("llamacpp", False, 501),
        ("llamacpp", True, 200),
        ("ollama", False, 200),
        ("tgi", True, 404),
        ("", True, 200),
    ],
)
def test_who_makes_embeddings(engine: str, embeds: bool, status: int) -> None:
    async def ask(client: Client) -> int:
        async with client.session.post(f"{client.url}/v1/embeddings", json={"input": "x"}) as response:
            return response.status

    assert asked(pod_by_hand(engine, speed=FAST, embeds=embeds), ask) == status


@pytest.mark.parametrize(
    ("engine", "path", "body", "status"),
    [
        ("vllm", "/v1/chat/completions", {}, 400),
        ("sglang", "/v1/chat/completions", {}, 400),
        ("tgi", "/v1/chat/completions", {}, 422),
        ("vllm", "/v1/completions", {"prompt": [7] * 300_000}, 400),
        ("vllm", "/v1/embeddings", {"input": [7] * 300_000}, 400),
    ],
)
def test_a_model_of_which_nothing_is_known_has_an_end_too(
    engine: str, path: str, body: dict[str, Any], status: int
) -> None:
    """300,000 tokens are more than 131,072; without a bound they would be computed for minutes."""
    pod = pod_by_hand(engine, context=None, embeds=path.endswith("embeddings"))
    long = {"messages": [{"role": "user", "content": "word " * 300_000}]}

    async def ask(client: Client) -> tuple[int, str, str]:
        data = io.BytesIO(json.dumps({"model": "demo", **(body or long)}).encode())
        async with client.session.post(client.url + path, data=data) as response:
            return response.status, await response.text(), response.headers["x-simulated"]

    found, text, header = asked(pod, ask)
    assert found == status
    assert "maximum context length is 131072 tokens" in text
    assert "context: assumed" in header


def test_shorter_requests_to_it_are_answered() -> None:
    body = {**CHAT, "messages": [{"role": "user", "content": " word" * 1000}]}
    status, found = asked(pod_by_hand(context=None, speed=FAST), lambda pod: pod.post("/v1/chat/completions", body))
    assert (status, found["usage"]["prompt_tokens"]) == (200, 1004)
