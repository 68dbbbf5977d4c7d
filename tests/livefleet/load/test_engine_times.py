"""What simulated engines say of their own times, from the engine to the client."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from livefleet.fleet import TIMES_HEADER, TokenPace
from livefleet.load.arrivals import DueRequest
from livefleet.load.client import LoadTarget, send
from livefleet.load.outcomes import RequestOutcome, Tally
from livefleet.standalone import serve_pod
from tests.livefleet.load.server import DONE, event, serving, streamed
from tests.livefleet.pods_by_hand import pod_by_hand

PACE = TokenPace(alpha=0.1, beta=0.0, prefill=0.0, batch=4)


def sent(url: str, *, simulated: bool, tokens: int = 11) -> RequestOutcome:
    async def run() -> RequestOutcome:
        tally, loop = Tally(), asyncio.get_running_loop()
        begin = loop.time()
        async with aiohttp.ClientSession() as session:
            target = LoadTarget(url, "demo", simulated=simulated)
            await send(session, target, DueRequest(0.0, 5, tokens), 0, lambda: loop.time() - begin, tally)
        (outcome,) = tally.outcomes
        return outcome

    return asyncio.run(run())


@pytest.mark.parametrize("speed", [2.0, 20.0, 500.0])
@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp", "ollama"])
def test_the_engine_tells_the_same_at_every_speed(engine: str, speed: float) -> None:
    """Steps of 100 ms: the first token after one, the last of eleven after eleven, whatever this machine takes."""

    async def run() -> RequestOutcome:
        tally, loop = Tally(), asyncio.get_running_loop()
        async with serve_pod(pod_by_hand(engine, pace=PACE, speed=speed)) as url, aiohttp.ClientSession() as session:
            target = LoadTarget(f"{url}/v1", "demo", simulated=True)
            await send(session, target, DueRequest(0.0, 5, 11), 0, loop.time, tally)
        (outcome,) = tally.outcomes
        return outcome

    outcome = asyncio.run(run())
    assert outcome.error == ""
    assert outcome.engine is not None
    told = (outcome.engine.first, outcome.engine.between, outcome.engine.took)
    assert told == pytest.approx((0.1, 0.1, 1.1))
    # The client measured at least as much.
    assert outcome.took * speed >= 1.1 - 0.011 * speed


def test_who_does_not_ask_gets_an_ordinary_stream() -> None:
    async def run(headers: dict[str, str]) -> str:
        async with serve_pod(pod_by_hand(pace=PACE, speed=1000.0)) as url, aiohttp.ClientSession() as session:
            body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 3, "stream": True}
            async with session.post(f"{url}/v1/chat/completions", json=body, headers=headers) as response:
                return await response.text()

    plain, told = asyncio.run(run({})), asyncio.run(run({TIMES_HEADER: "1"}))
    assert all(line.startswith("data: ") for line in plain.splitlines() if line)
    (comment,) = [line for line in told.splitlines() if line and not line.startswith("data: ")]
    assert comment.startswith(": simulated ")
    assert json.loads(comment.removeprefix(": simulated ")) == pytest.approx(
        {"first": 0.1, "between": 0.1, "took": 0.3}
    )


@pytest.mark.parametrize(
    ("comment", "known"),
    [
        (b': simulated {"first": 1, "between": 2, "took": 3}\n\n', True),
        (b": simulated {\n\n", False),
        (b": simulated []\n\n", False),
        (b': simulated {"first": "x", "between": 2, "took": 3}\n\n', False),
        (b": keep-alive\n\n", False),
        (b"", False),
    ],
)
def test_a_comment_that_is_none_of_theirs_is_skipped(comment: bytes, *, known: bool) -> None:
    with serving(streamed(event(), comment, DONE)) as server:
        outcome = sent(server.url, simulated=True)
    assert outcome.error == ""
    assert (outcome.engine is not None) is known


@pytest.mark.parametrize("simulated", [True, False])
def test_only_simulated_engines_are_asked(*, simulated: bool) -> None:
    seen: list[bool] = []

    async def answer(request: Any, body: dict[str, Any]) -> Any:
        seen.append(TIMES_HEADER in request.headers)
        return await streamed(event(), DONE)(request, body)

    with serving(answer) as server:
        sent(server.url, simulated=simulated)
    assert seen == [simulated]
