"""Which engine answers for which model, through the real Envoy."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from components import families
from components.plan.plan import Plan, plan
from tests.livefleet.door.requests.doors import DoorFactory, StoodDoor, chat
from tests.livefleet.door.requests.planned import KEYS, SECRET, STACKS, environment

NOT_FOUND = (
    "No matching route found. It is likely because the model specified in your request is not configured in the "
    "Gateway."
)
"""Of the AI gateway's controller (v1.1.0, ``internal/controller/ai_gateway_route.go``)."""


@pytest.fixture(scope="module")
def fleet() -> Plan:
    """Every model of the default stacks: four families, nine engines, embeddings, adapters, two backends for one."""
    found = plan(families.load([STACKS / "models"]), environment())
    assert not [each for each in found.problems if each.severity == "error"]
    return found


@pytest.fixture(scope="module")
def door(fleet: Plan, stand: DoorFactory) -> Iterator[StoodDoor]:
    with stand(fleet.door.objects, [SECRET]) as found:
        yield found


@pytest.fixture(scope="module")
def client(door: StoodDoor) -> Iterator[httpx.Client]:
    with door.client(KEYS["alice"]) as found:
        yield found


def test_every_model_reaches_its_own_service(fleet: Plan, door: StoodDoor, client: httpx.Client) -> None:
    """Where the fleet says that it answers, and nowhere else."""
    expected: dict[str, set[str]] = {}
    for _, endpoint in fleet.fleet.endpoints:
        services = {f"{each.service}.{each.namespace}.svc.cluster.local" for each in endpoint.backends}
        expected.setdefault(endpoint.model, set()).update(services)
    assert len(expected) > 25
    for model, services in expected.items():
        before = len(door.engines.arrived)
        for _ in range(1 if len(services) == 1 else 40):
            answer = client.post("/v1/chat/completions", json=chat(model))
            assert (answer.status_code, answer.json()["model"]) == (200, model)
        arrived = door.engines.since(before)
        assert {each.service for each in arrived} == services
        assert {each.path for each in arrived} == {"/v1/chat/completions"}
        # The name of the Service, as the proxy in a cluster would resolve it.
        assert {each.headers["host"] for each in arrived} == services


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}]}),
        ("/v1/completions", {"prompt": "Hello"}),
        ("/v1/embeddings", {"input": "Hello"}),
    ],
    ids=["chat", "completions", "embeddings"],
)
def test_every_api_goes_to_the_engine(door: StoodDoor, client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, json={"model": "bge-small", **body})
    assert (answer.status_code, door.engines.last.path, door.engines.last.fields) == (
        200,
        path,
        {"model": "bge-small", **body},
    )


def test_the_embeddings_of_the_outputs_answer(fleet: Plan, door: StoodDoor, client: httpx.Client) -> None:
    """What the outputs promise for ``endpoint.path: /v1/embeddings`` is the base of the API."""
    (url,) = [each.url for each in fleet.door.endpoints if each.model == "bge-small"]
    assert url.endswith("/v1")
    answer = client.post("/v1/embeddings", json={"model": "bge-small", "input": "Hello"})
    assert answer.status_code == 200
    assert door.engines.last.service == "embeddings.default.svc.cluster.local"


@pytest.mark.parametrize("model", ["nobodys", "", None, "QWEN2-7B", "qwen2-7b ", "*", "modèle"])
def test_a_model_that_nobody_serves_is_not_found(door: StoodDoor, client: httpx.Client, model: str | None) -> None:
    before = len(door.engines.arrived)
    answer = client.post("/v1/chat/completions", json=chat(model))
    assert (answer.status_code, answer.text) == (404, NOT_FOUND)
    assert door.engines.since(before) == []


NO_HEADERS = {
    "end of a line": "qwen2-7b\n",
    "another header": "a\r\nX-Evil: 1",
    "the header of another model": "qwen2-7b\r\nx-ai-eg-model: phi4",
    "zero": "\0",
    "escape": "\x1b[31mqwen2-7b",
    "delete": "qwen2-7b\x7f",
    "half a character": "\ud800",
    "too long": "m" * 4097,
    "far too long": "m" * 100_000,
}


@pytest.mark.parametrize("name", NO_HEADERS)
def test_a_name_that_is_no_header_is_refused(door: StoodDoor, client: httpx.Client, name: str) -> None:
    """Routes choose by a header with the model's name; of one that cannot be such a header the client hears."""
    before = len(door.engines.arrived)
    body = json.dumps(chat(NO_HEADERS[name])).encode()
    answer = client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "BadRequest")
    assert "model must" in answer.json()["error"]["message"]
    assert "x-evil" not in answer.headers
    assert door.engines.since(before) == []


@pytest.mark.parametrize("model", ["a\tb", "m" * 4096, "modèle\u2028", "\U0001f600"])
def test_an_odd_name_is_one_that_nobody_serves(client: httpx.Client, model: str) -> None:
    answer = client.post("/v1/chat/completions", json=chat(model))
    assert (answer.status_code, answer.text) == (404, NOT_FOUND)


def test_the_body_says_which_model_not_a_header(door: StoodDoor, client: httpx.Client) -> None:
    forged = {"x-ai-eg-model": "phi4"}
    assert client.post("/v1/chat/completions", json=chat("qwen2-7b"), headers=forged).status_code == 200
    assert door.engines.last.service == "qwen-chat-lb.default.svc.cluster.local"
    assert door.engines.last.headers["x-ai-eg-model"] == "qwen2-7b"
    assert client.post("/v1/chat/completions", json=chat("nobodys"), headers=forged).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'"text"',
        b'{"model": 7}',
        b'{"model": "qwen2-7b", "stream": "yes"}',
        b'{"model": "qwen2-7b", "messages": [{"content": "no role"}]}',
        b'{"model": "qwen2-7b", "max_tokens": 1e400}',
        b'{"model": "qwen2-7b", "max_tokens": NaN}',
        b"\xff\xfe",
        b"[" * 200_000,
    ],
)
def test_a_malformed_body_is_refused_before_any_engine(door: StoodDoor, client: httpx.Client, body: bytes) -> None:
    before = len(door.engines.arrived)
    answer = client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "BadRequest")
    assert answer.json()["error"]["message"].startswith("malformed request: ")
    assert door.engines.since(before) == []


def test_no_body_is_no_model(client: httpx.Client) -> None:
    answer = client.post("/v1/chat/completions")
    assert (answer.status_code, answer.text) == (404, NOT_FOUND)


def test_the_gateway_itself_lists_the_models(fleet: Plan, door: StoodDoor, client: httpx.Client) -> None:
    before = len(door.engines.arrived)
    listed = client.get("/v1/models").json()
    assert listed["object"] == "list"
    assert {each["id"] for each in listed["data"]} == {each.model for each in fleet.door.endpoints}
    assert door.engines.since(before) == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/metrics",
        "/health",
        "/v1",
        "/v1/",
        "/v1/load_lora_adapter",
        "/ping",
        "/version",
        "/api/tags",
        "/info",
        "/v1/chat/completions/../../metrics",
        "/v1/models/../../metrics",
        "/v1/chat%2fcompletions",
        "//metrics",
    ],
)
@pytest.mark.parametrize("model", [{}, {"x-ai-eg-model": "qwen2-7b"}], ids=["plain", "with the header"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_else_of_an_engine_is_to_be_had(
    door: StoodDoor, client: httpx.Client, method: str, path: str, model: dict[str, str]
) -> None:
    before = len(door.engines.arrived)
    body = None if method == "GET" else chat("qwen2-7b")
    answer = client.request(method, httpx.URL(door.url).copy_with(raw_path=path.encode()), headers=model, json=body)
    assert answer.status_code >= 300
    assert door.engines.since(before) == []


def test_what_asks_for_a_model_without_a_body_reaches_no_engine(door: StoodDoor, client: httpx.Client) -> None:
    before = len(door.engines.arrived)
    answer = client.get("/v1/chat/completions", headers={"x-ai-eg-model": "qwen2-7b"})
    assert answer.status_code == 500
    assert door.engines.since(before) == []
