"""What the external processor reads of requests and answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet.door.ai.requests import AiPath, MalformedRequestError, read_request
from livefleet.door.ai.usage import UsageReader

USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def read(body: object, path: AiPath = AiPath.CHAT, *, counted: bool = True) -> Any:
    return read_request(path, json.dumps(body).encode(), counted=counted)


@pytest.mark.parametrize(
    ("body", "model", "stream"),
    [
        ({"model": "m"}, "m", False),
        ({"model": "m", "stream": True}, "m", True),
        ({"model": "m", "stream": None}, "m", False),
        ({"model": None}, "", False),
        ({}, "", False),
        (None, "", False),
    ],
)
def test_the_model_and_whether_it_streams(body: object, model: str, stream: bool) -> None:
    found = read(body)
    assert (found.model, found.stream) == (model, stream)


@pytest.mark.parametrize(
    ("path", "options", "counted", "rewritten"),
    [
        (AiPath.CHAT, {}, True, True),
        (AiPath.CHAT, {"stream_options": None}, True, True),
        (AiPath.CHAT, {"stream_options": {"include_usage": False}}, True, True),
        (AiPath.CHAT, {"stream_options": {"include_usage": True}}, True, False),
        (AiPath.CHAT, {}, False, False),
        (AiPath.COMPLETIONS, {}, True, False),
        (AiPath.EMBEDDINGS, {}, True, False),
    ],
)
def test_a_streamed_chat_is_told_to_say_what_it_took(
    path: AiPath, options: dict[str, Any], counted: bool, rewritten: bool
) -> None:
    """Only a chat, and only where tokens are counted (``ChatCompletionsEndpointSpec.ParseBody``)."""
    body = {"model": "m", "stream": True, "n": 1, **options}
    found = read(body, path, counted=counted)
    assert found.rewritten == rewritten
    assert json.loads(found.body) == ({**body, "stream_options": {"include_usage": True}} if rewritten else body)


def test_other_options_of_a_stream_are_kept() -> None:
    found = read({"model": "m", "stream": True, "stream_options": {"x": 1}})
    assert json.loads(found.body)["stream_options"] == {"x": 1, "include_usage": True}


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        assert isinstance(read_request(AiPath.CHAT, body, counted=True).model, str)
    except MalformedRequestError as problem:
        message = str(problem)
    else:
        message = "malformed request: failed to parse JSON for /v1/chat/completions: not at all"
    assert message.startswith("malformed request: failed to parse JSON for /v1/chat/completions: ")


@pytest.mark.parametrize(
    "body",
    [{"input": "a", "messages": []}, {"model": []}, {"messages": "a"}, {"messages": [{"role": "robot"}]}],
)
def test_what_embeddings_do_not_take(body: object) -> None:
    with pytest.raises(MalformedRequestError):
        read(body, AiPath.EMBEDDINGS)


def events(*bodies: object) -> bytes:
    return b"".join(f"data: {json.dumps(body)}\n\n".encode() for body in bodies) + b"data: [DONE]\n\n"


@given(st.integers(1, 50), st.booleans())
def test_usage_is_found_however_a_stream_is_cut(size: int, spaced: bool) -> None:
    text = events({"model": "x", "choices": []}, {"choices": [{"delta": {"content": '"usage"'}}]}, {"usage": USAGE})
    text = text if spaced else text.replace(b"data: ", b"data:")
    reader = UsageReader(stream=True)
    for start in range(0, len(text), size):
        reader.read(text[start : start + size])
    assert [reader.cost(kind) for kind in ("InputToken", "OutputToken", "TotalToken")] == [3, 4, 7]
    assert reader.model == "x"


@pytest.mark.parametrize("usage", [None, [], "7", {"prompt_tokens": "3"}, {"prompt_tokens": -3}])
def test_usage_that_is_none_costs_nothing(usage: object) -> None:
    reader = UsageReader(stream=False)
    reader.read(json.dumps({"model": "x", "usage": usage}).encode())
    assert reader.cost("InputToken") == 0


def test_the_last_usage_counts() -> None:
    reader = UsageReader(stream=True)
    reader.read(events({"usage": USAGE}, {"usage": {**USAGE, "completion_tokens": 9}}))
    assert reader.cost("OutputToken") == 9


@pytest.mark.parametrize("path", [AiPath.CHAT, AiPath.COMPLETIONS, AiPath.EMBEDDINGS])
@pytest.mark.parametrize("model", ["a\r\nX-Evil: 1", "a\n", "\0", "\x1f", "\x7f", "\ud800", "m" * 4097])
def test_a_model_that_cannot_stand_in_a_header_is_malformed(path: AiPath, model: str) -> None:
    with pytest.raises(MalformedRequestError, match="model must"):
        read({"model": model}, path)


@pytest.mark.parametrize("model", ["a b", "a\tb", "modèle", "\U0001f600", "m" * 4096, "org/name:tag@1"])
def test_any_other_name_is_read(model: str) -> None:
    assert read({"model": model}).model == model
