"""Answers in time: tokens come when they are due, whatever the speed; who hangs up leaves the batch."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from livefleet.fleet import TokenPace
from livefleet.pace.replica import Job
from livefleet.pods.pod import LivePod, SimulatedClock
from livefleet.standalone import serve_pod
from tests.livefleet.pods_by_hand import pod_by_hand

PACE = TokenPace(alpha=0.02, beta=0.0, prefill=0.0, batch=2)
"""A token every 20 ms, two answers at once."""
LONG = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1000, "ignore_eos": True}


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen"
        await asyncio.sleep(0.005)


def played(pod: LivePod, play: Callable[[str, aiohttp.ClientSession], Awaitable[None]]) -> None:
    async def run() -> None:
        async with serve_pod(pod) as url, aiohttp.ClientSession() as session:
            await play(f"{url}/v1/chat/completions", session)

    asyncio.run(run())


async def arrivals(url: str, session: aiohttp.ClientSession, body: dict[str, Any]) -> list[float]:
    """Return when each token of a stream came, after the request."""
    start, found = time.monotonic(), []
    async with session.post(url, json={**body, "stream": True}) as response:
        async for line in response.content:
            has_token = b'"content":"' in line and b'"content":""' not in line
            found += [time.monotonic() - start] if has_token else []
    return found


def test_tokens_come_when_they_are_due() -> None:
    pod = pod_by_hand(pace=PACE)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        found = await arrivals(url, session, {**LONG, "max_tokens": 25})
        assert len(found) == 25
        assert found == sorted(found)
        # Never early; the machine may be slow.
        for number, moment in enumerate(found, 1):
            assert moment >= 0.02 * number - 0.001
        assert found[-1] < 0.5 + 5.0

    played(pod, play)


def test_a_fast_clock_sends_several_tokens_at_once() -> None:
    # A token each 0.2 ms: no more than a hundred writes a second.
    pod = pod_by_hand(pace=PACE, speed=100.0)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        async with session.post(url, json={**LONG, "stream": True}) as response:
            writes = [chunk async for chunk, _ in response.content.iter_chunks()]
        tokens = b"".join(writes).count(b'"content":"') - 1
        assert tokens == 1000
        # 1000 tokens take 0.2 s.
        assert len(writes) <= 30

    played(pod, play)


def test_the_first_token_does_not_wait_for_others() -> None:
    # The first token is due after 0.2 ms; the machine may be slow, but not each time.
    pod = pod_by_hand(pace=PACE, speed=100.0)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        firsts = [(await arrivals(url, session, {**LONG, "max_tokens": 2}))[0] for _ in range(30)]
        assert min(firsts) < 0.009

    played(pod, play)


def test_the_speed_may_change_while_an_answer_is_written() -> None:
    clock = SimulatedClock(1.0)
    pod = pod_by_hand(pace=PACE, clock=clock)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        start = time.monotonic()
        streamed = asyncio.create_task(arrivals(url, session, LONG))
        whole = asyncio.create_task(session.post(url, json=LONG))
        await until(lambda: pod.replica.running == 2)
        clock.speed = 1000.0
        assert len(await streamed) == 1000
        async with await whole as response:
            assert (await response.json())["usage"]["completion_tokens"] == 1000
        # Twenty seconds without the change.
        assert time.monotonic() - start < 10

    played(pod, play)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_a_client_that_hangs_up_leaves_the_batch(stream: bool) -> None:
    pod = pod_by_hand(pace=PACE)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        asking = asyncio.create_task(session.post(url, json={**LONG, "stream": stream}))
        await until(lambda: pod.replica.running == 1)
        if stream:
            (await asking).close()
        asking.cancel()
        await until(lambda: pod.replica.running == 0)
        await until(lambda: pod.refused == 1)
        assert pod.meter.finished["abort"] == 1
        assert pod.answered == 0
        assert pod.meter.open == set()

    played(pod, play)


def test_one_that_waits_comes_after_one_that_hung_up() -> None:
    pod = pod_by_hand(pace=PACE)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        first = asyncio.create_task(session.post(url, json=LONG))
        second = asyncio.create_task(session.post(url, json=LONG))
        await until(lambda: pod.replica.running == 2)
        third = asyncio.create_task(arrivals(url, session, {**LONG, "max_tokens": 3}))
        await until(lambda: pod.replica.waiting == 1)
        first.cancel()
        assert len(await asyncio.wait_for(third, 15)) == 3
        second.cancel()
        await until(lambda: pod.replica.running == 0)

    played(pod, play)


REFUSALS = [
    ("vllm", {"queue": 1}, 503),
    ("sglang", {"queue": 1}, 503),
    ("tgi", {"in_flight": 3}, 429),
    ("llamacpp", {"queue": 1}, 503),
    ("ollama", {"queue": 1}, 503),
]


@pytest.mark.parametrize(("engine", "bound", "status"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_a_full_engine_refuses(engine: str, bound: dict[str, Any], status: int) -> None:
    pod = pod_by_hand(engine, pace=PACE, **bound)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        # Two are computed and one waits.
        tasks = [asyncio.create_task(session.post(url, json=LONG)) for _ in range(3)]
        await until(lambda: pod.replica.running + pod.replica.waiting == 3)
        async with session.post(url, json=LONG) as response:
            assert response.status == status
            error = await response.json()
        assert "error" in error or error["object"] == "error"
        for task in tasks:
            task.cancel()
        await until(lambda: pod.replica.running + pod.replica.waiting == 0)

    played(pod, play)


def test_of_several_answers_none_is_kept_when_there_is_no_room_for_all() -> None:
    pod = pod_by_hand(pace=PACE, queue=1)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        async with session.post(url, json={**LONG, "n": 4}) as response:
            assert response.status == 503
        await until(lambda: pod.replica.running + pod.replica.waiting == 0)

    played(pod, play)


def test_several_answers_are_streamed_side_by_side() -> None:
    pod = pod_by_hand(pace=PACE, speed=1000.0)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        async with session.post(url, json={**LONG, "n": 2, "max_tokens": 40}) as response:
            whole = [choice["message"]["content"] for choice in (await response.json())["choices"]]
        assert whole[0] != whole[1]
        async with session.post(url, json={**LONG, "n": 2, "max_tokens": 40, "stream": True}) as response:
            text = await response.text()
        assert [text.count(f'"index":{index},"delta":{{"content":') for index in (0, 1)] == [40, 40]

    played(pod, play)


def test_the_clock_never_goes_back() -> None:
    now = 100.0
    clock = SimulatedClock(2.0, real=lambda: now)
    now = 101.0
    assert clock() == 2.0
    clock.speed = 10.0
    assert clock() == 2.0
    now = 102.0
    assert clock() == 12.0
    assert clock.speed == 10.0


def test_a_long_queue_is_served_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two at once, two tokens each: two more are taken in every 40 ms, the last of 200 after 4 s, 20 times as fast.
    pod, jobs = pod_by_hand(pace=PACE, speed=20.0), []
    submit = pod.replica.submit

    def noted(*arguments: Any) -> Job:
        jobs.append(submit(*arguments))
        return jobs[-1]

    monkeypatch.setattr(pod.replica, "submit", noted)

    async def play(url: str, session: aiohttp.ClientSession) -> None:
        async def ask() -> None:
            async with session.post(url, json={**LONG, "max_tokens": 2}) as response:
                assert response.status == 200
                await response.read()

        start = time.monotonic()
        await asyncio.gather(*(ask() for _ in range(200)))
        assert time.monotonic() - start >= 0.2 - 0.01

    played(pod, play)
    assert pod.answered == 200
    starts = [job.started for job in jobs]
    assert starts == sorted(starts, key=lambda moment: moment or 0.0)
    waited = sum((job.started or 0.0) - job.arrived for job in jobs)
    assert pod.meter.histograms["queue_time"].sum == pytest.approx(waited)
