"""Large bodies, over HTTP/1.1 and HTTP/2, and bodies that are too large."""

import asyncio
import contextlib
import hashlib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import httpx
import pytest

from tests.livefleet.door.requests.doors import DoorFactory, Object, StoodDoor, chat
from tests.livefleet.door.requests.planned import KEYS, SECRET, models, planned

MIB = 2**20
WINDOW = 2**16
"""Of HTTP/2 unless it is said otherwise: 65,535 bytes (RFC 9113, 6.9.2), for which Envoy Gateway puts 64 KiB for a
stream and 1 MiB for a connection."""
TWO: dict[str, Any] = {"http1": False, "http2": True}
"""A client that speaks HTTP/2 from the first byte."""


def large(size: int) -> Object:
    """A chat with so many bytes of prompt, no two stretches of it alike."""
    words = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(size // 64 + 1))
    return chat("m", messages=[{"role": "user", "content": words[:size]}])


def without_windows(objects: tuple[Object, ...]) -> tuple[Object, ...]:
    """The objects as they were before the windows were set."""
    found = deepcopy(objects)
    (policy,) = [body for body in found if body["kind"] == "ClientTrafficPolicy"]
    del policy["spec"]["http2"]
    return found


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    objects = planned(*models("m")).door.objects
    with stand(objects, [SECRET]) as found:
        yield found


def asked(door: StoodDoor, body: Object, **client: Any) -> httpx.Response:
    with door.client(KEYS["alice"], **client) as found:
        return found.post("/v1/chat/completions", json=body)


def status_of(door: StoodDoor, body: Object, **client: Any) -> int:
    """The status of an answer, from the door's own log.

    Envoy refuses a body before it has all of it, and the client may miss the answer: its connection is reset, or it
    waits for a window that nobody opens any more (httpcore 1.0 does not look at answers meanwhile).
    """
    with (
        door.logging() as lines,
        contextlib.suppress(httpx.WriteError, httpx.ProtocolError, httpx.ReadTimeout),
    ):
        asked(door, body, timeout=10, **client)
    (line,) = lines
    return int(line["response_code"])


@pytest.mark.parametrize("client", [{}, TWO], ids=["HTTP/1.1", "HTTP/2"])
@pytest.mark.parametrize("size", [WINDOW - 200, 2 * WINDOW, 10 * MIB])
def test_a_large_body_arrives_whole(door: StoodDoor, client: dict[str, bool], size: int) -> None:
    body = large(size)
    answer = asked(door, body, **client)
    assert (answer.status_code, answer.http_version) == (200, "HTTP/2" if client else "HTTP/1.1")
    assert door.engines.last.fields == body


def test_a_large_body_that_is_rewritten_arrives_whole(door: StoodDoor) -> None:
    """A streamed chat is told to say what it took: the processor replaces the body, and says its length again."""
    body = {**large(10 * MIB), "stream": True}
    answer = asked(door, body, **TWO)
    assert answer.text.endswith("data: [DONE]\n\n")
    assert door.engines.last.fields == {**body, "stream_options": {"include_usage": True}}


def test_twenty_large_bodies_at_once_on_one_connection(door: StoodDoor) -> None:
    """All share the window of the connection."""
    body = large(MIB)

    async def ask() -> list[int]:
        headers = {"authorization": f"Bearer {KEYS['bob']}"}
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(
            base_url=door.url, headers=headers, timeout=60, limits=limits, trust_env=False, **TWO
        ) as client:
            answers = await asyncio.gather(*(client.post("/v1/chat/completions", json=body) for _ in range(20)))
            return [answer.status_code for answer in answers]

    assert asyncio.run(ask()) == [200] * 20


@pytest.fixture(scope="module")
def small(stand: DoorFactory) -> Iterator[StoodDoor]:
    objects = planned(*models("m"), max_body_size="1Mi").door.objects
    with stand(objects, [SECRET]) as found:
        yield found


@pytest.mark.parametrize("client", [{}, TWO], ids=["HTTP/1.1", "HTTP/2"])
@pytest.mark.parametrize(("size", "status"), [(MIB - 1000, 200), (MIB + 1000, 413), (10 * MIB, 413)])
def test_the_limit_of_the_settings_holds(small: StoodDoor, client: dict[str, bool], size: int, status: int) -> None:
    before = len(small.engines.arrived)
    assert status_of(small, large(size), **client) == status
    assert len(small.engines.since(before)) == (1 if status == 200 else 0)


def test_without_the_windows_a_body_of_http2_is_too_large(stand: DoorFactory) -> None:
    """The defect that the windows are for: the tests above would not pass without them."""
    objects = without_windows(planned(*models("m")).door.objects)
    with stand(objects, [SECRET]) as door:
        assert status_of(door, large(2 * WINDOW), **TWO) == 413
        assert door.engines.arrived == []
        assert status_of(door, large(2 * WINDOW)) == 200
