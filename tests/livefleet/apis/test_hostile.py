"""What nobody should send: refused in the engine's form, and the next request is answered."""

import asyncio
import io
import json
import logging
from typing import Any

import aiohttp
import pytest

from livefleet.standalone import serve_pod
from tests.livefleet.apis.asking import FAST, Client, asked
from tests.livefleet.pods_by_hand import pod_by_hand

DEEP = b'{"model": "demo", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
NESTED_TOOLS = b'{"tools": ' + b"[" * 900 + b"]" * 900 + b', "messages": [{"role": "user", "content": "x"}]}'
BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "not UTF-8": b'{"model": "\xff\xfe"}',
    "nested": DEEP,
    "NaN": b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": NaN}',
    "long number": b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": ' + b"9" * 5000 + b"}",
    "large number": b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": 1e300}',
    "negative": b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": -1}',
    "a text for a number": b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": "many"}',
    "true for a number": b'{"messages": [{"role": "user", "content": "x"}], "n": true}',
    "too many answers": b'{"messages": [{"role": "user", "content": "x"}], "n": 1000000}',
    "no messages": b'{"messages": []}',
    "messages of another type": b'{"messages": {"role": "user"}}',
    "a message of another type": b'{"messages": ["x"]}',
    "a role of another type": b'{"messages": [{"role": 1, "content": "x"}]}',
    "a content of another type": b'{"messages": [{"role": "user", "content": 1}]}',
    "a part of another type": b'{"messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]}',
    "model of another type": b'{"model": ["demo"], "messages": [{"role": "user", "content": "x"}]}',
    "stops of another type": b'{"messages": [{"role": "user", "content": "x"}], "stop": [1]}',
    "many stops": json.dumps({"messages": [{"role": "user", "content": "x"}], "stop": ["y"] * 65}).encode(),
}
CHAT = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 2}


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp", "ollama", ""])
def test_bodies_are_refused_and_the_next_request_is_answered(engine: str, caplog: pytest.LogCaptureFixture) -> None:
    pod = pod_by_hand(engine, speed=FAST)

    async def ask(client: Client) -> dict[str, int]:
        found = {}
        for name, body in BODIES.items():
            async with client.session.post(f"{client.url}/v1/chat/completions", data=body) as response:
                found[name] = response.status
                await response.text()
        status, _ = await client.post("/v1/chat/completions", CHAT)
        assert status == 200
        return found

    with caplog.at_level(logging.WARNING):
        found = asked(pod, ask)
    assert {name: status for name, status in found.items() if status not in (400, 422)} == {}
    assert pod.refused == len(BODIES)
    assert pod.answered == 1
    assert pod.replica.running == pod.replica.waiting == 0
    # A traceback in the log would be a request that nobody foresaw.
    assert caplog.records == []


FORMS = [
    ("vllm", "/v1/chat/completions", lambda error: error["error"]["type"] == "Bad Request"),
    ("sglang", "/v1/chat/completions", lambda error: error["type"] == "Bad Request"),
    ("sglang", "/generate", lambda error: "message" in error["error"]),
    ("llamacpp", "/completion", lambda error: error["error"]["type"] == "invalid_request_error"),
    ("ollama", "/v1/chat/completions", lambda error: error["error"]["type"] == "invalid_request_error"),
    ("ollama", "/api/chat", lambda error: isinstance(error["error"], str)),
]


@pytest.mark.parametrize(("engine", "path", "has_form"), FORMS, ids=[row[0] + row[1] for row in FORMS])
def test_each_engine_refuses_in_its_own_form(engine: str, path: str, has_form: Any) -> None:
    status, error = asked(pod_by_hand(engine, speed=FAST), lambda client: client.post(path, b"{"))
    assert status == 400
    assert has_form(error), error


def test_tgi_refuses_what_is_no_json_as_its_framework_does() -> None:
    async def ask(client: Client) -> tuple[int, str]:
        async with client.session.post(f"{client.url}/generate", data=b"{") as response:
            return response.status, await response.text()

    status, text = asked(pod_by_hand("tgi"), ask)
    assert status == 400
    assert text.startswith("Failed to parse the request body as JSON: ")


@pytest.mark.parametrize(
    "name",
    ["demo\nx-injected: 1", 'demo"} 1\nother 2', "\ud800", "d" * 100_000],
    ids=["line", "label", "half", "long"],
)
def test_names_of_models_cannot_break_out(name: str) -> None:
    pod = pod_by_hand(speed=FAST)

    async def ask(client: Client) -> tuple[int, Any, str]:
        status, error = await client.post("/v1/chat/completions", json.dumps({**CHAT, "model": name}).encode())
        return status, error, (await client.get("/metrics"))[1]

    status, error, page = asked(pod, ask)
    assert status == 404
    assert error["error"]["message"] == f"The model `{name}` does not exist."
    assert name not in page


def test_a_served_name_with_a_line_break_is_escaped() -> None:
    pod = pod_by_hand(models=('de"mo\n2',), speed=FAST)

    async def ask(client: Client) -> tuple[Any, str]:
        _, found = await client.post("/v1/chat/completions", CHAT)
        return found, (await client.get("/metrics"))[1]

    found, page = asked(pod, ask)
    assert found["model"] == 'de"mo\n2'
    assert 'model_name="de\\"mo\\n2"' in page


def test_a_body_of_ten_megabytes_is_read() -> None:
    body = {**CHAT, "messages": [{"role": "user", "content": "word " * 2_000_000}]}
    pod = pod_by_hand(speed=FAST, context=4_000_000)
    status, found = asked(pod, lambda client: client.post("/v1/chat/completions", body))
    assert status == 200
    # Two million words, what the ends of blocks divide, the last space and the marks.
    assert 2_000_000 <= found["usage"]["prompt_tokens"] < 2_001_000
    bounded = pod_by_hand(speed=FAST, context=4096)
    status, error = asked(bounded, lambda client: client.post("/v1/chat/completions", body))
    assert status == 400
    assert "maximum context length is 4096" in error["error"]["message"]


def test_a_body_that_is_too_large_is_refused() -> None:
    async def ask(client: Client) -> int:
        async with client.session.post(f"{client.url}/generate", data=io.BytesIO(b" " * 2_000_001)) as response:
            return response.status

    assert asked(pod_by_hand("tgi"), ask) == 413


def test_a_body_that_is_not_packed_as_it_says_is_refused() -> None:
    async def ask(client: Client) -> int:
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        url = f"{client.url}/v1/chat/completions"
        async with client.session.post(url, data=b"no gzip", headers=headers) as response:
            return response.status

    assert asked(pod_by_hand(), ask) == 400


def test_tools_nested_as_deeply_as_json_can_be() -> None:
    status, _ = asked(pod_by_hand(speed=FAST), lambda client: client.post("/v1/chat/completions", NESTED_TOOLS))
    assert status in (200, 400)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/embeddings", {"input": []}, 400),
        ("/v1/embeddings", {"input": [[]]}, 400),
        ("/v1/embeddings", {"input": "x", "dimensions": 0}, 400),
        ("/v1/embeddings", {"input": "x", "dimensions": 10**9}, 400),
        ("/v1/embeddings", {"input": ["x"] * 2000}, 400),
        ("/v1/embeddings", {"input": "x", "encoding_format": "int8"}, 400),
        ("/v1/embeddings", {"input": ["x"] * 3}, 200),
        ("/v1/embeddings", {"input": [1, 2, 3]}, 200),
        ("/v1/completions", {"prompt": None}, 400),
        ("/v1/chat/completions", CHAT, 400),
    ],
    ids=lambda value: str(value)[:40],
)
def test_embeddings_are_bounded(path: str, body: dict[str, Any], status: int) -> None:
    pod = pod_by_hand(speed=FAST, embeds=True)
    assert asked(pod, lambda client: client.post(path, body))[0] == status


async def _never_read(url: str) -> None:
    """Send half a body, and go away."""
    async with aiohttp.ClientSession() as session, session.get(url):
        pass


def test_half_a_request_leaves_nothing_behind() -> None:
    pod = pod_by_hand(speed=FAST)

    async def run() -> None:
        async with serve_pod(pod) as url:
            host, port = url.removeprefix("http://").split(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            await _never_read(f"{url}/health")

    asyncio.run(run())
    assert (pod.replica.running, pod.replica.waiting, pod.answered) == (0, 0, 0)
