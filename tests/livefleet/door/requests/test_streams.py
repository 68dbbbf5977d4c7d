"""Streams and timeouts: tokens are passed on as they come, and nothing but the settings cuts an answer off."""

import asyncio
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import httpx
import pytest

from tests.livefleet.door.requests.doors import DoorFactory, Object, StoodDoor, chat
from tests.livefleet.door.requests.planned import KEYS, SECRET, models, planned
from tests.monitoring.programs.daemon import eventually

SECONDS = 6
"""How long an answer may take at this door; the usual ten minutes, for tests."""
WAIT = 60
"""How long an engine takes that nobody should wait for."""


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    objects = planned(*models("m"), request_timeout=f"{SECONDS}s").door.objects
    with stand(objects, [SECRET]) as found:
        yield found


@pytest.fixture
def client(door: StoodDoor) -> Iterator[httpx.Client]:
    with door.client(KEYS["alice"]) as found:
        yield found


def streamed(client: httpx.Client, body: Object) -> Iterator[str]:
    """The events of a stream, as they come."""
    with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.status_code == 200
        yield from (line for line in answer.iter_lines() if line)


def test_tokens_are_not_held_back(door: StoodDoor, client: httpx.Client) -> None:
    """The engine computes each only after the client has the one before."""
    door.engines.allowed, tokens = 1, 0
    for line in streamed(client, chat("m", stream=True, max_tokens=5, paced=True)):
        tokens += '"content"' in line
        door.engines.allowed += 1
    assert tokens == 5


def test_a_stream_of_ten_minutes_is_whole_and_in_order(client: httpx.Client) -> None:
    """What an engine says in ten minutes at 50 tokens a second, sixty times as fast or faster."""
    count = 10 * 60 * 50
    with client.stream("POST", "/v1/chat/completions", json=chat("m", stream=True, max_tokens=count)) as answer:
        found = [line for line in answer.iter_lines() if '"content"' in line]
    assert [int(line.rpartition('"content": "')[2].split()[0]) for line in found] == list(range(count))


@pytest.mark.parametrize("stream", [False, True])
def test_a_silence_as_long_as_the_timeout_is_borne(client: httpx.Client, stream: bool) -> None:
    body = chat("m", stream=stream, wait=SECONDS - 2)
    assert client.post("/v1/chat/completions", json=body).status_code == 200


def test_an_answer_that_takes_longer_than_the_settings_let_is_cut_off(door: StoodDoor, client: httpx.Client) -> None:
    """And the engine computes no further."""
    broken, began = door.engines.broken, time.monotonic()
    answer = client.post("/v1/chat/completions", json=chat("m", wait=WAIT))
    assert (answer.status_code, SECONDS - 0.5 < time.monotonic() - began < WAIT / 2) == (504, True)
    eventually(lambda: (door.engines.broken, door.engines.running) == (broken + 1, 0), "the engine hears of it")


def test_a_stream_that_takes_longer_is_cut_off_too(door: StoodDoor, client: httpx.Client) -> None:
    broken = door.engines.broken
    with pytest.raises(httpx.RemoteProtocolError):
        list(streamed(client, chat("m", stream=True, max_tokens=1000, pause=0.2)))
    eventually(lambda: (door.engines.broken, door.engines.running) == (broken + 1, 0), "the engine hears of it")


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_an_engine_hears_of_a_client_that_hangs_up(door: StoodDoor, stream: bool, http2: bool) -> None:
    """Long before any timeout."""
    broken = door.engines.broken
    protocol: dict[str, Any] = {"http1": not http2, "http2": http2}

    async def hang_up() -> None:
        """Hang up once the engine computes the answer, which takes long."""
        headers = {"authorization": f"Bearer {KEYS['alice']}"}
        async with httpx.AsyncClient(base_url=door.url, headers=headers, trust_env=False, **protocol) as client:
            request = client.post("/v1/chat/completions", json=chat("m", wait=WAIT), timeout=WAIT)
            asking = asyncio.create_task(request)
            await asyncio.to_thread(eventually, lambda: door.engines.running == 1, "the engine has the request")
            asking.cancel()
            await asyncio.wait([asking])

    if stream:
        body = chat("m", stream=True, max_tokens=1000, pause=0.1)
        with (
            door.client(KEYS["alice"], **protocol) as client,
            client.stream("POST", "/v1/chat/completions", json=body) as answer,
        ):
            # Keep the iterator: httpx hangs up as soon as it is collected.
            lines = answer.iter_lines()
            next(lines)
            assert door.engines.running == 1
    else:
        asyncio.run(hang_up())
    eventually(lambda: (door.engines.broken, door.engines.running) == (broken + 1, 0), "its slot is free", seconds=10)


def test_a_stream_counts_its_tokens_though_nobody_asked(door: StoodDoor, client: httpx.Client) -> None:
    """The log needs them; the client gets the event that says them, as from the real one."""
    with door.logging() as lines:
        found = list(streamed(client, chat("m", stream=True, max_tokens=2)))
    assert '"usage"' in found[-2]
    (line,) = lines
    assert (line["llm_input_token"], line["llm_output_token"]) == (7, 5)


def _short_idle(body: Object) -> None:
    if body["kind"] == "ClientTrafficPolicy":
        body["spec"]["timeout"]["http"]["streamIdleTimeout"] = "1s"


def _short_route(body: Object) -> None:
    if body["kind"] == "AIGatewayRoute":
        body["spec"]["rules"][0]["timeouts"]["request"] = "1s"


@pytest.mark.parametrize("change", [_short_idle, _short_route], ids=["idle", "route"])
def test_each_of_the_two_timeouts_would_cut_a_silence_off(
    change: Callable[[Object], None], stand: DoorFactory
) -> None:
    """Envoy's own are five silent minutes, and sixty seconds for an answer at the AI gateway; both are set."""
    objects = deepcopy(planned(*models("m"), request_timeout=f"{SECONDS}s").door.objects)
    for body in objects:
        change(body)
    with stand(objects, [SECRET]) as door, door.client(KEYS["alice"]) as client:
        answer = client.post("/v1/chat/completions", json=chat("m", wait=WAIT))
        assert answer.status_code in {408, 504}
