"""How many requests a proxy has under way at once: what engines can take is up to them."""

import asyncio
import resource
import time
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy

import httpx
import pytest

from tests.livefleet.door.requests.doors import DoorFactory, Object, StoodDoor, chat
from tests.livefleet.door.requests.planned import KEYS, SECRET, models, planned
from tests.monitoring.programs.daemon import eventually

AT_ONCE = 1100
"""More than 1,024, Envoy's default for each cluster: those of the models, and that of the external processor."""
REUSED = 5.5
"""Seconds after which no connection is reused."""
LOST = 0
"""In place of a status: Envoy answers before it has the body, and the client may miss that."""
PROCESSOR = "ai-gateway-extproc-uds"


def asked_at_once(door: StoodDoor) -> Counter[int]:
    """The statuses of requests of which none ends before all have come, or one was refused.

    A hundred share a connection. An engine waits longer for all of them than a busy machine takes to send them.
    """
    body = chat("m", gather=AT_ONCE, wait=45)
    eventually(lambda: door.engines.running == 0, "an idle engine")
    door.engines.most, door.engines.released = 0, False

    async def status_of(client: httpx.AsyncClient) -> int:
        try:
            status = (await client.post("/v1/chat/completions", json=body)).status_code
        except httpx.HTTPError:
            status = LOST
        door.engines.released |= status != httpx.codes.OK
        return status

    async def ask() -> list[int]:
        headers = {"authorization": f"Bearer {KEYS['alice']}"}
        async with httpx.AsyncClient(
            base_url=door.url, headers=headers, timeout=60, http1=False, http2=True, trust_env=False
        ) as client:
            return await asyncio.gather(*(status_of(client) for _ in range(100)))

    async def all_of_them() -> list[list[int]]:
        return await asyncio.gather(*(ask() for _ in range(AT_ONCE // 100)))

    return Counter(status for found in asyncio.run(all_of_them()) for status in found)


def bounds(door: StoodDoor) -> dict[tuple[str, str], int]:
    """What Envoy says that it lets through at once, by cluster and kind."""
    page = door.admin.request("GET", "/clusters") or ""
    lines = (line.split("::") for line in page.splitlines() if "::default_priority::" in line)
    return {(name, kind): int(value) for name, _, kind, value in lines}


@pytest.fixture(scope="module", autouse=True)
def many_sockets() -> Iterator[None]:
    """The engines of this process have one for each request."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] if before[1] < 2**16 else 2**16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture(scope="module")
def door(stand: DoorFactory) -> Iterator[StoodDoor]:
    with stand(planned(*models("m")).door.objects, [SECRET]) as found:
        yield found


def test_more_than_a_thousand_requests_are_answered_at_once(door: StoodDoor) -> None:
    # Envoy answers 500 if the external processor is late with a message, as on a busy machine. A bound
    # would fail in each attempt.
    assert any(asked_at_once(door) == {200: AT_ONCE} for _ in range(3))
    assert door.engines.most == AT_ONCE
    eventually(lambda: door.engines.running == 0, "an idle engine")


@pytest.mark.parametrize("cluster", ["httproute/envoy-gateway-system/inference-gateway/rule/0", PROCESSOR])
@pytest.mark.parametrize("kind", ["max_requests", "max_pending_requests"])
def test_envoys_own_bounds_are_lifted(door: StoodDoor, cluster: str, kind: str) -> None:
    assert bounds(door)[cluster, kind] == 2**31 - 1


def as_before(objects: tuple[Object, ...]) -> tuple[Object, ...]:
    """The objects as they were before the bounds were lifted."""
    found = deepcopy(objects)
    for body in found:
        body["spec"].pop("bootstrap", None)
        body["spec"].get("connection", {}).pop("maxConnectionDuration", None)
    return tuple(body for body in found if body["kind"] != "BackendTrafficPolicy")


def test_with_envoys_own_bounds_they_would_fail(stand: DoorFactory) -> None:
    """The defect: the external processor is out of streams (500), or the model of requests (503)."""
    with stand(as_before(planned(*models("m")).door.objects), [SECRET]) as door:
        assert bounds(door)[PROCESSOR, "max_requests"] == 1024
        found = asked_at_once(door)
        assert door.engines.most <= 1024
        assert found[500] + found[503] + found[LOST] == AT_ONCE - found[200] > 0


def most_on_a_connection(door: StoodDoor, requests: int) -> int:
    """The most requests that came to an engine on one connection, of some that were sent one after the other."""
    before = len(door.engines.arrived)
    headers = {"authorization": f"Bearer {KEYS['alice']}"}
    with httpx.Client(base_url=door.url, headers=headers, trust_env=False) as client:
        for _ in range(requests):
            assert client.post("/v1/chat/completions", json=chat("m")).status_code == 200
    return max(Counter(each.connection for each in door.engines.since(before)).values())


def test_a_connection_to_a_model_ends_after_some_requests(door: StoodDoor, stand: DoorFactory) -> None:
    """So that load reaches pods that an autoscaler adds: a Service gives a pod to a connection, not to a request."""
    requests = 60
    assert 1 < most_on_a_connection(door, requests) <= 10
    with stand(as_before(planned(*models("m")).door.objects), [SECRET]) as before:
        assert most_on_a_connection(before, requests) > 10


def connections_of_two(door: StoodDoor) -> int:
    """On how many connections two requests come to an engine, with some seconds between them."""
    before = len(door.engines.arrived)
    headers = {"authorization": f"Bearer {KEYS['alice']}"}
    # Another connection of the client may belong to another thread of Envoy, with connections of its own to engines.
    limits = httpx.Limits(keepalive_expiry=10 * REUSED)
    with httpx.Client(base_url=door.url, headers=headers, trust_env=False, limits=limits) as client:
        for pause in (REUSED, 0.0):
            assert client.post("/v1/chat/completions", json=chat("m")).status_code == 200
            time.sleep(pause)
    return len({each.connection for each in door.engines.since(before)})


def test_a_connection_to_a_model_is_not_reused_after_some_seconds(door: StoodDoor, stand: DoorFactory) -> None:
    """So that a terminating pod, to which connections of a Service stay open, gets no new requests for long."""
    assert connections_of_two(door) == 2
    with stand(as_before(planned(*models("m")).door.objects), [SECRET]) as before:
        assert connections_of_two(before) == 1
