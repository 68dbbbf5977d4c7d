"""A pod that takes requests: its port, its connections, and its two ends, killed or drained."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from aiohttp import web

from .pod import LivePod
from .ports import Loopback, LoopbackConnection, LoopbackPort

Engine = Callable[[LivePod, web.Request], Awaitable[web.StreamResponse]]
LATE = 5.0
"""Real seconds for which a pod that ends takes requests: until those who send them know of it, as a preStop hook that
sleeps has it in life."""

_PAUSE = 0.01
_LOOK = 0.2
"""Real seconds between two looks at a simulated moment, whose speed may change."""


class ServingPod:
    """A pod whose engine answers.

    Args:
        live: The pod.
        engine: Answers a request for it.
        route: Returns who answers in its place, for a pod that only passes requests on; itself if it answers.
    """

    def __init__(
        self, live: LivePod, engine: Engine, route: Callable[["ServingPod", web.Request], "ServingPod | None"]
    ) -> None:
        self.live = live
        self.port = LoopbackPort(self._answer)
        self.connections: set[LoopbackConnection] = set()
        self.leaving = False
        self.ended = False
        self.running = 0
        self._engine, self._route = engine, route
        self._idle = asyncio.Event()
        self._idle.set()

    async def open(self, hub: Loopback) -> None:
        """Listen."""
        await self.port.open(hub)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request as the engine of this pod."""
        self.running += 1
        self._idle.clear()
        try:
            return await self._engine(self.live, request)
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    async def _answer(self, request: web.Request, connection: LoopbackConnection) -> web.StreamResponse:
        behind = self._route(self, request)
        connection.hold(behind or self)
        if behind is None:
            return unavailable(f"pod {self.live.name} passes requests on, and no pod that would take them is Ready")
        return await behind.answer(request)

    def kill(self) -> int:
        """End at once; return how many requests that broke."""
        self.leaving = self.ended = True
        broken = self.running
        self.port.end()
        for connection in tuple(self.connections):
            connection.abort()
        return broken

    def break_off(self) -> int:
        """Break what runs, and go on: an engine loses its requests with a worker. Return how many there were."""
        broken = self.running
        for connection in (*self.port.connections, *self.connections):
            if connection.busy:
                connection.abort()
        return broken

    async def settled(self) -> None:
        """Wait until nothing runs: requests that were broken off end a moment later."""
        await self._idle.wait()

    async def drain(self, grace: float) -> None:
        """Take late requests for a moment, finish what runs, then end.

        Args:
            grace: Simulated seconds, after which what still runs is broken off.
        """
        self.leaving = True
        end = self.live.clock() + grace
        await asyncio.sleep(LATE)
        self.port.close()
        for connection in tuple(self.port.connections):
            if not connection.heard:
                connection.force_close()
        while self._is_asked() and self.live.clock() < end and not self.ended:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._idle.wait()
            await asyncio.sleep(_PAUSE)
        self._let_go()
        self.kill()

    def _is_asked(self) -> bool:
        return self.running > 0 or any(each.heard for each in (*self.port.connections, *self.connections))

    def _let_go(self) -> None:
        """Leave idle connections of endpoints to the next pod: a client may be about to send a request on one."""
        for connection in tuple(self.connections):
            if not connection.busy and connection.port is not self.port:
                connection.hold(None)


def unavailable(reason: str) -> web.Response:
    """Return the answer where nobody can: in the form that clients of OpenAI's API show to people."""
    error = {"message": reason, "type": "service_unavailable", "param": None, "code": 503}
    return web.json_response({"error": error}, status=503)
