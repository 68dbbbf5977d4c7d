"""Weights, headers and other names: which of several engines behind one name answers."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterator

import aiohttp
import pytest

from tests.families.kthena.routing.routes import model_route, model_server, pool, rule
from tests.livefleet.door.requests.doors import DoorFactory, StoodDoor, chat
from tests.livefleet.door.requests.planned import KEYS, SECRET, planned

REQUESTS = 5000
AT_ONCE = 64
FAR = 5 * math.sqrt(0.25 / REQUESTS)
"""Five standard deviations of a share of one half, which has the largest: more than that is one in a million runs."""
PREMIUM = {"modelMatch": {"headers": {"user-type": {"exact": "premium"}}}}
LATEST = {"modelMatch": {"headers": {"user-type": {"exact": "premium"}, "version": {"prefix": "2."}}}}
WEIGHTS = {"two": {"a": 70, "b": 30}, "four": {"a": 5, "b": 3, "c": 2, "d": 0}}


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    pools = [body for name in "abcd" for body in (pool(name), model_server(name))]
    weighted = [model_route(rule(*weights.items()), name=model, model=model) for model, weights in WEIGHTS.items()]
    by_header = model_route(rule("c", **LATEST), rule("b", **PREMIUM), rule("a"), name="tiers", model="tiers")
    knows = model_server("known", app="a", model="its-own-name")
    renamed = model_route(rule("known"), name="renamed", model="renamed")
    documents = [*pools, *weighted, by_header, knows, renamed]
    with stand(planned(*documents).door.objects, [SECRET]) as found:
        yield found


async def _asked(door: StoodDoor, model: str, count: int) -> list[int]:
    connector = aiohttp.TCPConnector(limit=AT_ONCE)
    headers = {"authorization": f"Bearer {KEYS['alice']}"}
    async with aiohttp.ClientSession(door.url, connector=connector, headers=headers) as session:

        async def one() -> int:
            async with session.post("/v1/chat/completions", json=chat(model)) as answer:
                await answer.read()
                return answer.status

        return await asyncio.gather(*(one() for _ in range(count)))


@pytest.mark.parametrize("model", sorted(WEIGHTS))
def test_requests_are_shared_by_weight(door: StoodDoor, model: str) -> None:
    """Within 3.5 % of all requests, of 5,000 that come 64 at a time: the proxy chooses at random."""
    before = len(door.engines.arrived)
    assert set(asyncio.run(_asked(door, model, REQUESTS))) == {200}
    found = Counter(each.service.split("-")[0] for each in door.engines.since(before))
    total = sum(WEIGHTS[model].values())
    assert sum(found.values()) == REQUESTS
    for name, weight in WEIGHTS[model].items():
        assert abs(found[name] / REQUESTS - weight / total) <= FAR, dict(found)
    assert "d" not in found


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({}, "a"),
        ({"user-type": "premium"}, "b"),
        ({"User-Type": "premium", "version": "2.1"}, "c"),
        ({"user-type": "premium", "version": "1.2."}, "b"),
        ({"user-type": "premiums"}, "a"),
        ({"version": "2.1"}, "a"),
    ],
)
def test_headers_choose_among_the_rules_of_a_model(door: StoodDoor, headers: dict[str, str], name: str) -> None:
    with door.client(KEYS["alice"]) as client:
        assert client.post("/v1/chat/completions", json=chat("tiers"), headers=headers).status_code == 200
    assert door.engines.last.service.split("-")[0] == name


@pytest.mark.parametrize("stream", [False, True])
def test_an_engine_is_asked_for_the_name_that_it_knows(door: StoodDoor, stream: bool) -> None:
    body = chat("renamed", stream=stream, temperature=0.5, messages=[{"role": "user", "content": "Größe 本"}])
    with door.client(KEYS["alice"]) as client:
        answer = client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200
    expected = {**body, "model": "its-own-name"}
    if stream:
        expected["stream_options"] = {"include_usage": True}
    assert door.engines.last.fields == expected
    assert int(door.engines.last.headers["content-length"]) == len(door.engines.last.body)


def test_a_client_sees_the_name_that_the_engine_says(door: StoodDoor) -> None:
    """The answer is passed on as it is."""
    with door.client(KEYS["alice"]) as client:
        assert client.post("/v1/chat/completions", json=chat("renamed")).json()["model"] == "its-own-name"


def test_an_engine_that_fails_is_told_as_openai_would(door: StoodDoor) -> None:
    with door.client(KEYS["alice"]) as client:
        answer = client.post("/v1/chat/completions", json=chat("two", status=503))
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/json")
    error = {"type": "OpenAIBackendError", "code": "503", "message": "out of memory"}
    assert answer.json() == {"type": "error", "error": error}
