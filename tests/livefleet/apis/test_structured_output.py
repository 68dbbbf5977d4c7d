"""Structured output and calls of tools, in the fields of each engine; what is not read, such as images."""

import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no stubs
import pytest

from livefleet.pods.pod import LivePod
from tests.livefleet.apis.asking import FAST, Client, asked
from tests.livefleet.pods_by_hand import pod_by_hand

CHAT: dict[str, Any] = {"model": "demo", "messages": [{"role": "user", "content": "Where?"}]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "count": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "count"],
    "additionalProperties": False,
}
IMPOSSIBLE = {"type": "integer", "minimum": 2, "maximum": 1}
NAMED = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
TOOLS = [
    {"type": "function", "function": {"name": "forecast", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "now"}},
]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def chat(pod: LivePod, **fields: Any) -> tuple[int, Any]:
    return asked(pod, lambda client: client.post("/v1/chat/completions", {**CHAT, **fields}))


def content(pod: LivePod, **fields: Any) -> str:
    status, found = chat(pod, **fields)
    assert status == 200, found
    return str(found["choices"][0]["message"]["content"])


CHATS = [
    ("vllm", {"response_format": NAMED}),
    ("vllm", {"guided_json": SCHEMA}),
    ("vllm", {"guided_json": json.dumps(SCHEMA)}),
    ("vllm", {"structured_outputs": {"json": SCHEMA}}),
    ("vllm", {"response_format": NAMED, "ignore_eos": True, "min_tokens": 200}),
    ("sglang", {"response_format": NAMED}),
    ("tgi", {"response_format": {"type": "json_object", "value": SCHEMA}}),
    ("tgi", {"response_format": {"type": "json_schema", "value": {"name": "place", "schema": SCHEMA}}}),
    ("llamacpp", {"response_format": NAMED}),
    ("llamacpp", {"response_format": {"type": "json_object", "schema": SCHEMA}}),
    ("llamacpp", {"json_schema": SCHEMA}),
    ("ollama", {"response_format": NAMED}),
    ("", {"response_format": NAMED}),
]


def version_for(fields: dict[str, Any]) -> str:
    """Return a version that knows some fields: vLLM has ``guided_*`` before 0.12 (pull request 29326)."""
    return "v0.10.0" if any(name.startswith("guided") for name in fields) else ""


@pytest.mark.parametrize(("engine", "fields"), CHATS, ids=lambda value: str(value)[:60])
def test_a_chat_answers_with_json_that_satisfies_the_schema(engine: str, fields: dict[str, Any]) -> None:
    found = json.loads(content(pod_by_hand(engine, speed=FAST, version=version_for(fields)), **fields))
    jsonschema.validate(found, SCHEMA)


@pytest.mark.parametrize(
    ("version", "fields", "known"),
    [
        # Pull requests 22772 (0.11) and 29326 (0.12); issue 53975: what is not known is ignored, with status 200.
        ("v0.7.3", {"guided_json": SCHEMA}, True),
        ("v0.11.0", {"guided_json": SCHEMA}, True),
        ("v0.12.0", {"guided_json": SCHEMA}, False),
        ("v0.20.0", {"guided_json": SCHEMA}, False),
        ("v0.20.0", {"guided_regex": "("}, False),
        ("v0.7.3", {"structured_outputs": {"json": SCHEMA}}, False),
        ("v0.11.0", {"structured_outputs": {"json": SCHEMA}}, True),
        ("v0.20.0", {"structured_outputs": {"json": SCHEMA}}, True),
        ("v0.7.3", {"response_format": NAMED}, True),
    ],
)
def test_a_version_of_vllm_ignores_fields_that_it_does_not_know(
    version: str, fields: dict[str, Any], *, known: bool
) -> None:
    found = content(pod_by_hand(speed=FAST, version=version), **fields)
    assert found.startswith("Simulated answer") is not known


@pytest.mark.parametrize(("version", "status"), [("v0.7.3", 400), ("v0.8.2", 400), ("v0.8.3", 200), ("v0.20.0", 200)])
def test_any_tool_may_be_required_since_0_8_3(version: str, status: int) -> None:
    """Pull request 13483 of vLLM; a tool by its name was known before."""
    pod = pod_by_hand(speed=FAST, version=version)
    assert chat(pod, tools=TOOLS, tool_choice="required")[0] == status
    assert chat(pod, tools=TOOLS, tool_choice=choice_of("named"))[0] == 200


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp", "ollama"])
def test_any_json_object_will_do(engine: str) -> None:
    found = json.loads(content(pod_by_hand(engine, speed=FAST), response_format={"type": "json_object"}))
    assert isinstance(found, dict)
    assert found["simulated"] is True


OWN = [
    ("sglang", "/generate", {"text": "x", "sampling_params": {"json_schema": json.dumps(SCHEMA)}}, "text"),
    (
        "tgi",
        "/generate",
        {"inputs": "x", "parameters": {"grammar": {"type": "json", "value": SCHEMA}}},
        "generated_text",
    ),
    ("llamacpp", "/completion", {"prompt": "x", "json_schema": SCHEMA}, "content"),
    ("ollama", "/api/generate", {"model": "demo", "prompt": "x", "stream": False, "format": SCHEMA}, "response"),
    ("vllm", "/v1/completions", {"model": "demo", "prompt": "x", "max_tokens": 99, "guided_json": SCHEMA}, "choices"),
]


@pytest.mark.parametrize(("engine", "path", "body", "field"), OWN, ids=lambda value: str(value)[:30])
def test_the_engines_own_apis_do_too(engine: str, path: str, body: dict[str, Any], field: str) -> None:
    pod = pod_by_hand(engine, speed=FAST, version=version_for(body))
    status, found = asked(pod, lambda client: client.post(path, body))
    assert status == 200, found
    text = found[field] if field != "choices" else found["choices"][0]["text"]
    jsonschema.validate(json.loads(text), SCHEMA)


def test_an_ollama_chat_answers_with_json() -> None:
    body = {**CHAT, "stream": False, "format": "json"}
    _, found = asked(pod_by_hand("ollama", speed=FAST), lambda client: client.post("/api/chat", body))
    assert isinstance(json.loads(found["message"]["content"]), dict)


@pytest.mark.parametrize(
    ("engine", "fields", "pattern"),
    [
        ("vllm", {"guided_choice": ["yes", "no"]}, "yes|no"),
        ("vllm", {"structured_outputs": {"choice": ["yes", "no"]}}, "yes|no"),
        ("vllm", {"guided_regex": r"v\d{2}"}, r"v\d{2}"),
        ("sglang", {"regex": r"[a-c]{4}"}, r"[a-c]{4}"),
        ("tgi", {"response_format": {"type": "regex", "value": "(ab)+"}}, "(ab)+"),
    ],
)
def test_a_text_of_a_form(engine: str, fields: dict[str, Any], pattern: str) -> None:
    assert re.fullmatch(pattern, content(pod_by_hand(engine, speed=FAST, version=version_for(fields)), **fields))


@pytest.mark.parametrize(
    "fields", [{}, {"response_format": {"type": "text"}}, {"response_format": None}, {"tools": []}]
)
def test_free_text_stays_free(fields: dict[str, Any]) -> None:
    assert content(pod_by_hand(speed=FAST), **fields).startswith("Simulated answer of demo: ")


REFUSED: list[tuple[str, int, dict[str, Any]]] = [
    ("vllm", 400, {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": IMPOSSIBLE}}}),
    ("vllm", 400, {"response_format": {"type": "json_schema"}}),
    ("vllm", 400, {"response_format": {"type": "yaml"}}),
    ("vllm", 400, {"response_format": {"type": "structural_tag", "structures": []}}),
    ("vllm", 400, {"guided_json": "{"}),
    ("vllm", 400, {"guided_grammar": 'root ::= "a"'}),
    ("vllm", 400, {"guided_choice": []}),
    ("vllm", 400, {"guided_choice": ["a"], "guided_regex": "b"}),
    ("vllm", 400, {"guided_regex": "("}),
    ("sglang", 400, {"ebnf": 'root ::= "a"'}),
    ("sglang", 400, {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": IMPOSSIBLE}}}),
    ("tgi", 422, {"response_format": {"type": "json", "value": IMPOSSIBLE}}),
    ("llamacpp", 400, {"grammar": 'root ::= "a"'}),
    ("llamacpp", 400, {"json_schema": {"$ref": "https://example.com/x"}}),
    ("ollama", 400, {"response_format": {"type": "json_schema", "json_schema": {"schema": IMPOSSIBLE}}}),
]


@pytest.mark.parametrize(("engine", "status", "fields"), REFUSED, ids=lambda value: str(value)[:70])
def test_what_cannot_be_satisfied_is_refused_as_the_engine_refuses(
    engine: str, status: int, fields: dict[str, Any]
) -> None:
    found, error = chat(pod_by_hand(engine, speed=FAST, version=version_for(fields)), **fields)
    assert found == status
    inner = error.get("error", error)
    assert inner if isinstance(inner, str) else inner["message"]


def test_a_limit_cuts_json_off() -> None:
    _, found = chat(pod_by_hand(speed=FAST), response_format=NAMED, max_tokens=3)
    (choice,) = found["choices"]
    assert choice["finish_reason"] == "length"
    assert found["usage"]["completion_tokens"] == 3
    with pytest.raises(json.JSONDecodeError):
        json.loads(choice["message"]["content"])


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp", "ollama"])
def test_a_stream_of_json_is_the_same_json(engine: str) -> None:
    pod = pod_by_hand(engine, speed=FAST)
    whole = content(pod, response_format=NAMED, seed=3)
    body = {**CHAT, "response_format": NAMED, "seed": 3, "stream": True}
    *events, end = asked(pod, lambda client: client.events("/v1/chat/completions", body))
    assert end is None
    assert "".join(each["choices"][0]["delta"].get("content") or "" for each in events) == whole


# Why an answer that is a call ends: vLLM pull request 25054 (as OpenAI's API); SGLang and llama.cpp say tool_calls;
# TGI keeps the reason of the text.
CALLS = [
    ("vllm", "required", "tool_calls"),
    ("vllm", "named", "stop"),
    ("sglang", "required", "tool_calls"),
    ("sglang", "named", "tool_calls"),
    ("tgi", "required", "stop"),
    ("tgi", "named", "stop"),
    ("llamacpp", "required", "tool_calls"),
    ("llamacpp", "named", "tool_calls"),
]


def choice_of(kind: str, name: str = "forecast") -> Any:
    return {"type": "function", "function": {"name": name}} if kind == "named" else kind


@pytest.mark.parametrize(("engine", "kind", "finish"), CALLS)
def test_a_tool_is_called_where_the_client_says_so(engine: str, kind: str, finish: str) -> None:
    pod = pod_by_hand(engine, speed=FAST, tool_refusal="")
    _, found = chat(pod, tools=TOOLS, tool_choice=choice_of(kind))
    (choice,) = found["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == finish
    assert choice["message"]["content"] is None
    assert (call["type"], call["function"]["name"]) == ("function", "forecast")
    jsonschema.validate(json.loads(call["function"]["arguments"]), SCHEMA)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp"])
def test_a_streamed_call_is_the_same_call(engine: str) -> None:
    pod = pod_by_hand(engine, speed=FAST)
    fields = {"tools": TOOLS, "tool_choice": choice_of("named"), "seed": 9}
    _, whole = chat(pod, **fields)
    expected = whole["choices"][0]["message"]["tool_calls"][0]["function"]
    *events, end = asked(pod, lambda c: c.events("/v1/chat/completions", {**CHAT, **fields, "stream": True}))
    assert end is None
    deltas = [each["choices"][0]["delta"] for each in events]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert [call["function"]["name"] for call in calls if "name" in call["function"]] == ["forecast"]
    assert [bool(call.get("id")) for call in calls] == [True] + [False] * (len(calls) - 1)
    assert "".join(call["function"]["arguments"] for call in calls) == expected["arguments"]
    assert not any(delta.get("content") for delta in deltas)
    assert [each["choices"][0]["finish_reason"] for each in events][-1] == whole["choices"][0]["finish_reason"]


def test_a_tool_without_parameters_is_called_without_any() -> None:
    _, found = chat(pod_by_hand(speed=FAST), tools=TOOLS, tool_choice=choice_of("named", "now"))
    assert json.loads(found["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]) == {}


@pytest.mark.parametrize(
    ("engine", "fields"),
    [
        ("vllm", {"tools": TOOLS, "tool_choice": "none"}),
        ("sglang", {"tools": TOOLS, "tool_choice": "auto"}),
        ("sglang", {"tools": TOOLS}),
        # ollama has no tool_choice (its docs/openai.md).
        ("ollama", {"tools": TOOLS, "tool_choice": "required"}),
    ],
    ids=str,
)
def test_elsewhere_a_text_will_do(engine: str, fields: dict[str, Any]) -> None:
    assert content(pod_by_hand(engine, speed=FAST), **fields).startswith("Simulated answer")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tool_choice": "required"}, "`tools` must be set"),
        ({"tool_choice": choice_of("named")}, "`tools` must be set"),
        ({"tools": TOOLS, "tool_choice": choice_of("named", "other")}, "does not match any of the specified `tools`"),
        ({"tools": TOOLS, "tool_choice": "sometimes"}, "Invalid value for `tool_choice`: sometimes"),
        ({"tools": TOOLS, "tool_choice": {"type": "function"}}, "Invalid value for `function`"),
        ({"tools": TOOLS, "tool_choice": {"function": {}}}, "Expected field `name`"),
        ({"tools": [{"type": "function"}], "tool_choice": "required"}, "tools: each must be an object"),
        (
            {"tools": [{"function": {"name": "x", "parameters": IMPOSSIBLE}}], "tool_choice": "required"},
            "no JSON is generated for the schema",
        ),
    ],
    ids=str,
)
def test_a_choice_that_is_none_is_refused(fields: dict[str, Any], message: str) -> None:
    status, error = chat(pod_by_hand(speed=FAST), **fields)
    assert status == 400
    assert message in error["error"]["message"]


def test_who_is_not_told_to_choose_tools_says_so() -> None:
    refusal = "choosing tools is off"
    status, error = chat(pod_by_hand(speed=FAST, tool_refusal=refusal), tools=TOOLS)
    assert (status, error["error"]["message"]) == (400, refusal)
    status, _ = chat(pod_by_hand(speed=FAST, tool_refusal=refusal), tools=TOOLS, tool_choice="required")
    assert status == 200


MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, PICTURE]}]


@pytest.mark.parametrize(
    ("engine", "status"), [("vllm", 400), ("llamacpp", 500), ("ollama", 500), ("sglang", 200), ("tgi", 200)]
)
def test_what_a_model_of_texts_makes_of_images(engine: str, status: int) -> None:
    """SGLang leaves them out, TGI writes them into the text (issue 2565); the others refuse them."""
    refusal = "demo is not a multimodal model" if status != 200 else ""
    pod = pod_by_hand(engine, speed=FAST, images=False, image_refusal=refusal)
    found, answer = chat(pod, messages=MESSAGES)
    assert found == status
    if status != 200:
        assert answer["error"]["message"] == refusal
    elif engine == "sglang":
        # "What", " is", " it", "?" and four marks.
        assert answer["usage"]["prompt_tokens"] == 4 + 4
    else:
        # "!", "[", "]", "(", ")", and "data", ":", "imag", "e", "/", "png", ";", "base", "64", ",", "AAAA".
        assert answer["usage"]["prompt_tokens"] == 4 + 4 + 5 + 11


@pytest.mark.parametrize("images", [True, None])
def test_images_are_read_where_the_model_reads_them_or_nothing_is_known(images: bool | None) -> None:
    pod = pod_by_hand(speed=FAST, images=images, image_refusal="no images")
    status, answer = chat(pod, messages=MESSAGES)
    assert (status, answer["usage"]["prompt_tokens"]) == (200, 4 + 4 + 256)


def test_texts_alone_are_always_read() -> None:
    assert chat(pod_by_hand(speed=FAST, images=False, image_refusal="no images"))[0] == 200


def test_an_ollama_model_of_texts_refuses_images_in_its_own_api() -> None:
    pod = pod_by_hand("ollama", speed=FAST, images=False, image_refusal="no data for images")

    async def ask(client: Client) -> list[int]:
        pictured = {"role": "user", "content": "x", "images": ["AAAA"]}
        bodies = [
            ("/api/chat", {"model": "demo", "messages": [pictured]}),
            ("/api/generate", {"model": "demo", "prompt": "x", "images": ["AAAA"]}),
            ("/api/generate", {"model": "demo", "prompt": "x", "stream": False}),
        ]
        return [(await client.post(path, body))[0] for path, body in bodies]

    assert asked(pod, ask) == [500, 500, 200]
