"""Simulated engines behind the door: what clients of real ones see through it."""

import json
import time
from collections.abc import Iterator

import httpx
import pytest

from livefleet.fleet import TIMES_HEADER
from livefleet.pods.pod import LivePod
from tests.livefleet.door.requests.doors import DoorFactory, StoodDoor, chat
from tests.livefleet.door.requests.planned import KEYS, SECRET, models, planned
from tests.livefleet.pods_by_hand import pod_by_hand, serving
from tests.monitoring.programs.daemon import eventually

ENGINES = {"vllm": "vllm", "llamacpp": "llama", "ollama": "olla", "tgi": "tgi"}
"""A model of each engine."""


@pytest.fixture(scope="module")
def pods() -> dict[str, LivePod]:
    """As fast as in life but for one, which is sixty times as fast."""
    slow = {model: pod_by_hand(engine, models=(model,)) for engine, model in ENGINES.items()}
    return {**slow, "fast": pod_by_hand("vllm", models=("fast",), speed=60, context=100_000)}


@pytest.fixture(scope="module")
def door(stand: DoorFactory, pods: dict[str, LivePod]) -> Iterator[StoodDoor]:
    objects = planned(*models(*pods)).door.objects
    with serving(*pods.values()) as urls:
        found = [httpx.URL(url) for url in urls]
        instead = {f"{model}-lb": (url.host, url.port or 0) for model, url in zip(pods, found, strict=True)}
        with stand(objects, [SECRET], instead=instead) as made:
            yield made


@pytest.fixture
def client(door: StoodDoor) -> Iterator[httpx.Client]:
    with door.client(KEYS["alice"]) as found:
        yield found


@pytest.mark.parametrize("model", ENGINES.values(), ids=ENGINES)
def test_every_engine_answers_and_is_counted(door: StoodDoor, client: httpx.Client, model: str) -> None:
    with door.logging() as lines:
        answer = client.post("/v1/chat/completions", json=chat(model, max_tokens=5))
    assert answer.status_code == 200
    usage = answer.json()["usage"]
    assert usage["completion_tokens"] == 5
    (logged,) = lines
    assert (logged["llm_input_token"], logged["llm_output_token"]) == (usage["prompt_tokens"], 5)


@pytest.mark.parametrize("model", ENGINES.values(), ids=ENGINES)
def test_every_engine_streams(client: httpx.Client, pods: dict[str, LivePod], model: str) -> None:
    with client.stream("POST", "/v1/chat/completions", json=chat(model, stream=True, max_tokens=100)) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        next(lines)
        # A hundred steps of ten milliseconds: the first token is there long before the last.
        assert pods[model].replica.running == 1
        *_, last = filter(None, lines)
    assert last == "data: [DONE]"


def test_the_engines_own_times_pass_through_the_door(client: httpx.Client) -> None:
    """Fifty steps of 10.1 ms by the engine's clock, for clients that ask for its times."""
    body = chat("vllm", stream=True, max_tokens=50)
    with client.stream("POST", "/v1/chat/completions", json=body, headers={TIMES_HEADER: "1"}) as answer:
        (told,) = [line for line in answer.iter_lines() if line.startswith(":")]
    assert json.loads(told.removeprefix(": simulated "))["took"] == pytest.approx(50 * 0.0101, rel=0.01)


def test_a_slot_is_free_once_its_client_has_hung_up(client: httpx.Client, pods: dict[str, LivePod]) -> None:
    replica = pods["vllm"].replica
    with client.stream("POST", "/v1/chat/completions", json=chat("vllm", stream=True, max_tokens=2000)) as answer:
        # Keep the iterator: httpx hangs up as soon as it is collected.
        lines = answer.iter_lines()
        next(lines)
        eventually(lambda: replica.running == 1, "one request alone")
    eventually(lambda: replica.running + replica.waiting == 0, "the slot is free", seconds=10)


def test_ten_minutes_of_an_engine_are_ten_seconds_at_the_door(client: httpx.Client) -> None:
    """By the speed of the engine, not of Envoy: a hundred tokens a second, sixty times as fast."""
    count = 10 * 60 * 90
    body = chat("fast", stream=True, max_tokens=count, ignore_eos=True)
    began = time.monotonic()
    with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.status_code == 200
        lines = [line for line in answer.iter_lines() if line]
    assert time.monotonic() - began > 8
    assert lines[-1] == "data: [DONE]"
    assert sum('"delta":{"content":' in line for line in lines) == pytest.approx(count, abs=2)
