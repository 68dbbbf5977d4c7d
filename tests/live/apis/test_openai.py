"""OpenAI's API as engines speak it (OpenAI API reference; vLLM's protocol.py)."""

from typing import Any

import pytest

from tests.live.apis.asking import FAST, asked
from tests.live.pods_by_hand import pod_by_hand
from workbench.live.apis.tokens import count

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
