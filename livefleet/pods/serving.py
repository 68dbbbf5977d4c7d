"""A pod that serves requests: its port, its connections, and its end, which is a kill or a drain."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from .pod import LivePod
from .ports import Loopback, LoopbackConnection, LoopbackPort

Engine = Callable[[LivePod, web.Request], Awaitable[web.StreamResponse]]
LINGER_SECONDS = 5.0
"""Real seconds without a new request after which a terminating pod accepts no more: clients know of its end. In a
cluster, preStop hooks wait for that (``components/engines/draining.py``)."""

_LOG = logging.getLogger(__name__)
_PAUSE = 0.01
_POLL_SECONDS = 0.2
"""Real seconds between two checks of a simulated deadline, because the speed may change."""


class ServingPod:
    """A pod with a running engine.

    Args:
        live: The pod.
        engine: Answers a request to it.
        route: Returns the pod that answers for it: itself unless it is a router, None if no pod is available.
    """

    def __init__(
        self, live: LivePod, engine: Engine, route: Callable[["ServingPod", web.Request], "ServingPod | None"]
    ) -> None:
        self.live = live
        self.port = LoopbackPort(self._answer)
        self.connections: set[LoopbackConnection] = set()
        self.terminating = False
        self.ended = False
        self.running = 0
        self._engine, self._route = engine, route
        self._arrived = time.monotonic()
        self._idle = asyncio.Event()
        self._idle.set()

    async def open(self, hub: Loopback) -> None:
        await self.port.open(hub)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request as the engine of this pod."""
        self.running += 1
        self._arrived = time.monotonic()
        self._idle.clear()
        try:
            return await self._engine(self.live, request)
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    async def _answer(self, request: web.Request, connection: LoopbackConnection) -> web.StreamResponse:
        target = self._route(self, request)
        connection.assign(target or self)
        if target is None:
            return unavailable(f"pod {self.live.name} is a router, and no pod behind it is Ready")
        return await target.answer(request)

    def kill(self, reason: str) -> int:
        """End at once; return the number of aborted requests, which the log of the process lists with the reason."""
        self.terminating = self.ended = True
        aborted = self.running
        if aborted:
            _LOG.warning("pod %s ended with %d running: %s", self.live.name, aborted, reason)
        self.port.end()
        for connection in tuple(self.connections):
            connection.abort()
        return aborted

    def abort_requests(self) -> int:
        """Abort the running requests but keep serving, as an engine that loses a worker; return their number."""
        aborted = self.running
        for connection in (*self.port.connections, *self.connections):
            if connection.answering:
                connection.abort()
        return aborted

    async def wait_idle(self) -> None:
        """Wait until no request runs: aborted ones end a moment later."""
        await self._idle.wait()

    async def drain(self, grace: float) -> None:
        """Accept requests while more arrive, finish the running ones, then end.

        Args:
            grace: Simulated seconds after which running requests are aborted; 0 for an engine that aborts them on
                SIGTERM, without a hook that delays it.
        """
        if grace <= 0:
            self.kill("its engine aborts requests on SIGTERM")
            return
        self.terminating = True
        begin = self._arrived = time.monotonic()
        while (left := min(self._arrived + LINGER_SECONDS, begin + grace) - time.monotonic()) > 0:
            await asyncio.sleep(left)
        # Clients learn of the end in real time. At any speed, this takes as much of the grace as in a cluster.
        end = self.live.clock() + grace - (time.monotonic() - begin)
        self.port.close()
        # What has arrived on accepted connections is read first, if this process was busy.
        await asyncio.sleep(_PAUSE)
        for connection in tuple(self.port.connections):
            if not connection.receiving:
                connection.force_close()
        while (
            (self.running or any(connection.receiving for connection in (*self.port.connections, *self.connections)))
            and self.live.clock() < end
            and not self.ended
        ):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await self._idle.wait()
            await asyncio.sleep(_PAUSE)
        # Idle connections of endpoints move to the next pod: a client may be about to send a request.
        for connection in tuple(self.connections):
            if not connection.answering and connection.port is not self.port:
                connection.assign(None)
        self.kill("its grace period is over")


def unavailable(reason: str) -> web.Response:
    """Return a 503 in the format of the OpenAI API, which clients display."""
    error = {"message": reason, "type": "service_unavailable", "param": None, "code": 503}
    return web.json_response({"error": error}, status=503)
