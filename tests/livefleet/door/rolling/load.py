"""Load on a gateway: clients that stream answers of different lengths one after the other, and remember each end."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from tests.livefleet.door.requests.doors import chat

_TOKENS_A_SECOND = 4
_DONE = "data: [DONE]"


@dataclass(frozen=True, slots=True)
class Answer:
    """How one request ended.

    Attributes:
        end: ``whole``, ``cut`` in the middle of the stream, ``refused`` before any answer, or a status.
        began: When it was sent.
        took: Seconds until it ended.
    """

    end: str
    began: float
    took: float


@dataclass(slots=True)
class Load:
    """Clients that keep their connections, and clients that open one for each request, in equal parts.

    Args:
        url: Of the gateway.
        headers: Of each request.
        longest: Seconds of the longest stream; the shortest is a twentieth.
        clients: How many stream at once.
    """

    url: str
    headers: Mapping[str, str]
    longest: float
    clients: int
    answers: list[Answer] = field(default_factory=list)
    _stopping: bool = False

    async def run(self) -> None:
        await asyncio.gather(*(self._client(number) for number in range(self.clients)))

    def stop(self) -> None:
        """Have each client begin nothing more."""
        self._stopping = True

    async def _client(self, number: int) -> None:
        chance = random.Random(number)
        kept = httpx.Limits() if number % 2 else httpx.Limits(max_keepalive_connections=0)
        timeout = httpx.Timeout(60, connect=10)
        async with httpx.AsyncClient(
            base_url=self.url, headers=dict(self.headers), limits=kept, timeout=timeout, trust_env=False
        ) as client:
            while not self._stopping:
                await self._stream(client, chance.uniform(self.longest / 20, self.longest))

    async def _stream(self, client: httpx.AsyncClient, length: float) -> None:
        began, end = time.monotonic(), "refused"
        tokens = max(1, round(length * _TOKENS_A_SECOND))
        body = chat("m", stream=True, max_tokens=tokens, pause=length / tokens)
        try:
            async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
                end = "cut" if answer.status_code == httpx.codes.OK else str(answer.status_code)
                async for line in answer.aiter_lines():
                    if line == _DONE:
                        end = "whole"
        except httpx.TransportError:
            # Refused at once, a client would be too busy with it to do anything else.
            await asyncio.sleep(0.2)
        self.answers.append(Answer(end, began, time.monotonic() - began))


@contextmanager
def loading(load: Load) -> Iterator[None]:
    """Run the clients in a thread; at the end wait for the answers that are under way."""
    thread = threading.Thread(target=lambda: asyncio.run(load.run()), daemon=True)
    thread.start()
    try:
        yield
    finally:
        load.stop()
        thread.join(120)
    assert not thread.is_alive(), "a client waits for an answer that does not come"
