"""text-embeddings-inference, as its source at 0d124dc (1.9.3) and v1.8.3 has it."""

import base64
import struct
from typing import Any

import pytest

from livefleet.fleet import Speaks
from livefleet.pods.pod import LivePod
from tests.livefleet.apis.asking import FAST, Client, asked
from tests.livefleet.apis.test_metrics import parsed
from tests.livefleet.pods_by_hand import pod_by_hand


def tei(version: str = "1.8", **rest: Any) -> LivePod:
    fields: dict[str, Any] = {
        "speaks": Speaks.TEI,
        "version": version,
        "embeds": True,
        "dimensions": 384,
        "context": 512,
        "inputs": 32,
        "in_flight": 512,
        "loaded": "BAAI/bge-small-en-v1.5",
    }
    return pod_by_hand("", speed=FAST, **(fields | rest))


def post(pod: LivePod, path: str, body: Any) -> tuple[int, Any]:
    return asked(pod, lambda client: client.post(path, body))


def test_vectors_have_the_length_of_the_model() -> None:
    status, vectors = post(tei(), "/embed", {"inputs": ["one", "two"]})
    assert status == 200
    assert [len(each) for each in vectors] == [384, 384]
    assert post(tei(), "/embed", {"inputs": "one"})[1] == vectors[:1]


def test_openais_form_of_them() -> None:
    status, found = post(tei(), "/v1/embeddings", {"model": "whatever", "input": "one"})
    assert status == 200
    assert len(found["data"][0]["embedding"]) == 384
    assert found["model"] == "demo"
    # "one" and two marks around it.
    assert found["usage"] == {"prompt_tokens": 3, "total_tokens": 3}
    _, packed = post(tei(), "/v1/embeddings", {"input": "one", "encoding_format": "base64"})
    assert struct.unpack("<384f", base64.b64decode(packed["data"][0]["embedding"])) == pytest.approx(
        found["data"][0]["embedding"]
    )


@pytest.mark.parametrize("dimensions", [1, 64, 384])
def test_shorter_vectors(dimensions: int) -> None:
    _, found = post(tei(), "/v1/embeddings", {"input": "one", "dimensions": dimensions})
    assert len(found["data"][0]["embedding"]) == dimensions


LONG = "word " * 600
REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("/embed", {"inputs": LONG}, 413, "`inputs` must have less than 512 tokens. Given: 603"),
    ("/embed", {"inputs": []}, 400, "`inputs` cannot be empty"),
    ("/embed", {"inputs": ""}, 400, "`inputs` cannot be empty"),
    ("/embed", {"inputs": ["x"] * 33}, 413, "batch size 33 > maximum allowed batch size 32"),
    ("/embed", {"inputs": "x", "dimensions": 385}, 413, "should be smaller than the maximum"),
    ("/embed", {"inputs": "x", "dimensions": 0}, 413, "`dimensions` should be positive"),
]


@pytest.mark.parametrize(("path", "body", "status", "message"), REFUSED)
def test_what_is_refused(path: str, body: dict[str, Any], status: int, message: str) -> None:
    found, error = post(tei(), path, body)
    assert found == status
    assert message in error["error"]
    assert error["error_type"] == ("Empty" if status == 400 else "Validation")
    # Since 1.9 what is not valid is unprocessable.
    assert post(tei("1.9.3"), path, body)[0] == (400 if status == 400 else 422)


def test_openais_form_of_an_error() -> None:
    status, error = post(tei("1.9"), "/v1/embeddings", {"input": LONG})
    assert (status, error["code"], error["type"]) == (422, 422, "Validation")
    assert "Given: 603" in error["message"]


def test_long_inputs_are_cut_where_that_is_asked_for() -> None:
    assert post(tei(), "/embed", {"inputs": LONG, "truncate": True})[0] == 200
    _, found = post(tei(truncates=True), "/v1/embeddings", {"input": LONG})
    assert found["usage"]["prompt_tokens"] == 512


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/chat/completions", 405),
        ("POST", "/v1/completions", 405),
        ("GET", "/v1/models", 405),
        ("GET", "/version", 404),
        ("GET", "/health", 200),
        ("GET", "/info", 200),
    ],
)
def test_it_does_not_answer_as_vllm(method: str, path: str, status: int) -> None:
    async def ask(client: Client) -> int:
        async with client.session.request(method, client.url + path, json={}) as response:
            return response.status

    found = asked(tei(), ask)
    assert (found >= 400) is (status >= 400)
    assert found == status or {found, status} <= {404, 405}


def test_info_says_what_is_loaded() -> None:
    async def ask(client: Client) -> str:
        return (await client.get("/info"))[1]

    found = asked(tei(), ask)
    assert '"model_id":"BAAI/bge-small-en-v1.5"' in found
    assert '"max_input_length":512' in found
    assert '"max_client_batch_size":32' in found


def test_an_unknown_length_is_said_to_be_assumed() -> None:
    async def ask(client: Client) -> tuple[int, str]:
        async with client.session.post(f"{client.url}/embed", json={"inputs": "x"}) as response:
            return len((await response.json())[0]), response.headers["x-simulated"]

    assert asked(tei(), ask)[1].count("dimensions") == 0
    length, header = asked(tei(dimensions=None), ask)
    assert length == 1024
    assert "dimensions: assumed" in header


def test_its_metrics() -> None:
    async def ask(client: Client) -> str:
        await client.post("/embed", {"inputs": "one"})
        await client.post("/embed", {"inputs": ["one", "two"]})
        await client.post("/embed", {"inputs": []})
        return (await client.get("/metrics"))[1]

    types, samples = parsed(asked(tei(), ask))
    # core/src/infer.rs, core/src/queue.rs, core/src/tokenization.rs, router/src/lib.rs.
    for name in ("te_embed_duration", "te_embed_queue_duration", "te_request_input_length", "te_batch_next_size"):
        assert types[name] == "histogram"
    assert types["te_queue_size"] == "gauge"
    assert samples["te_request_count"] == {(("method", "single"),): 1, (("method", "batch"),): 1}
    assert samples["te_request_success"] == {(("method", "single"),): 1, (("method", "batch"),): 1}
    assert samples["te_embed_count"] == {(): 3}
    assert samples["te_request_failure"] == {(("err", "validation"),): 1}
    assert samples["te_request_input_length_sum"] == {(): 9}
    assert not any(name.startswith("vllm:") for name in types)
