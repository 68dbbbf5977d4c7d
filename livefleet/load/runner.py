"""Sends requests: in an open loop at given times, or in a closed loop of users who wait for each answer."""

import asyncio
import itertools
import ssl
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from .arrivals import Arrivals, DueRequest, Lengths, Range, planned
from .client import Clock, LoadTarget, send
from .fleet.record import FleetRecord
from .outcomes import Tally
from .summary import LoadSummary, summary

SendRequest = Callable[[DueRequest], Coroutine[Any, Any, None]]
Watch = Callable[[float, Tally], None]
"""Called every second with the elapsed seconds and the measurements."""
_TICK = 1.0


@dataclass(frozen=True, slots=True)
class Users:
    """A closed loop.

    Attributes:
        count: Number of users.
        think: Seconds between an answer and the next request.
        seconds: Duration.
    """

    count: int
    think: float
    seconds: float
    lengths: Lengths
    seed: int


Load = Users | Iterable[DueRequest]


@dataclass(frozen=True, slots=True)
class Watched:
    """A live fleet that is recorded during the load.

    Attributes:
        record: Receives its states.
        after: Seconds to continue recording after the last request.
    """

    record: FleetRecord
    after: float


def run(target: LoadTarget, load: Load, key: str, watch: Watch, watched: Watched | None = None) -> tuple[Tally, bool]:
    """Send a load; return the measurements, and whether it ran to its end.

    Args:
        target: Server and model.
        load: Users, or requests ordered by time.
        key: Bearer token; empty for none.
        watch: Receives the progress.
        watched: The live fleet behind the target; None for any other server.
    """
    tally = Tally()
    try:
        asyncio.run(_run(target, load, key=key, watch=watch, tally=tally, watched=watched))
    except KeyboardInterrupt:
        return tally, False
    return tally, True


async def _run(target: LoadTarget, load: Load, key: str, watch: Watch, tally: Tally, watched: Watched | None) -> None:
    import aiohttp

    tls = ssl.create_default_context()
    if target.authority:
        tls.load_verify_locations(target.authority)
    async with aiohttp.ClientSession(
        # No connection limit: a client that waits for a connection would measure itself.
        connector=aiohttp.TCPConnector(limit=0, ssl=tls),
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        begin, numbers = time.monotonic(), itertools.count()

        def clock() -> float:
            return time.monotonic() - begin

        def send_request(request: DueRequest) -> Coroutine[Any, Any, None]:
            return send(session, target, request=request, number=next(numbers), clock=clock, tally=tally)

        async def report_progress() -> None:
            while True:
                await asyncio.sleep(_TICK)
                watch(clock(), tally)

        watching = [asyncio.create_task(report_progress())]
        if watched:
            watching.append(asyncio.create_task(watched.record.follow(clock)))
        try:
            if isinstance(load, Users):
                await _run_closed_loop(load, send_request, clock)
            else:
                await _run_open_loop(load, send_request, clock)
            await asyncio.sleep(watched.after if watched else 0)
        finally:
            for task in watching:
                task.cancel()
        if watched:
            await watched.record.poll(clock)
        watch(clock(), tally)


async def _run_open_loop(requests: Iterable[DueRequest], send_request: SendRequest, clock: Clock) -> None:
    """Send each request when it is due, and wait for the last answer."""
    async with asyncio.TaskGroup() as group:
        for request in requests:
            left = request.at - clock()
            if left > 0:
                await asyncio.sleep(left)
            group.create_task(send_request(request))


async def _run_closed_loop(users: Users, send_request: SendRequest, clock: Clock) -> None:
    """Run users who wait for each answer before the next request."""

    async def user(rng: Random) -> None:
        while (at := clock()) < users.seconds:
            await send_request(DueRequest(at, *users.lengths.draw(rng)))
            await asyncio.sleep(users.think)

    async with asyncio.TaskGroup() as group:
        for number in range(users.count):
            # A string seed, so that no two users of different loads share one.
            group.create_task(user(Random(f"{users.seed}:{number}")))  # noqa: S311  nothing here is secret


def put_load(
    url: str,
    model: str,
    *,
    rate: float,
    seconds: float,
    input_tokens: int = 200,
    output_tokens: int = 100,
    key: str = "",
    timeout: float = 300.0,
    seed: int = 0,
    simulated: bool = False,
) -> LoadSummary:
    """Send streamed chats to an OpenAI-compatible endpoint and return what its clients saw. Ctrl-C ends it early.

    Requests are sent at random times (a Poisson process), independent of the answers.

    Args:
        url: Base URL of the API, such as ``http://127.0.0.1:8000/v1``.
        model: Name of the model.
        rate: Requests per second.
        seconds: Duration.
        input_tokens: Approximate tokens of a request.
        output_tokens: Maximum tokens of an answer.
        key: Bearer token; empty for none.
        timeout: Timeout of a request in seconds.
        seed: The same seed sends the same requests at the same times.
        simulated: Whether a simulated engine answers: then ``engine`` of the result has its own times.
    """
    lengths = Lengths(Range(input_tokens, input_tokens), Range(output_tokens, output_tokens))
    requests = planned(Range(rate, rate), seconds, arrivals=Arrivals.POISSON, burst=1, lengths=lengths, seed=seed)
    target = LoadTarget(url.rstrip("/"), model, chat=True, whole=False, timeout=timeout, simulated=simulated)
    tally, _ = run(target, requests, key, lambda _seconds, _tally: None)
    return summary(tally)
