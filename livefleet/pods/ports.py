"""Loopback ports whose connections can be reset at once, as by the kernel when a process is killed."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from aiohttp import web

from toolkit.ports import LOOPBACK

_MAX_BODY_BYTES = 64 * 2**20
"""Maximum size of a request body. The engines have no limit, and images are sent in the body."""
_BACKLOG = 1024
HEADER_SECONDS = 60.0
"""Timeout of the headers of a request, and of the first request of a connection. The HTTP library has none, so an
incomplete request would hold its connection until the process exits."""
_REQUEST_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
Answer = Callable[[web.Request, "LoopbackConnection"], Awaitable[web.StreamResponse]]


class AnsweringPod(Protocol):
    """A pod that may answer on connections of other ports than its own: those of endpoints and routers."""

    connections: "set[LoopbackConnection]"
    terminating: bool


class LoopbackConnection(web.RequestHandler):
    """A client connection."""

    __slots__ = ("_deadline", "answering", "pod", "port", "receiving")

    def __init__(self, port: "LoopbackPort", manager: web.Server, **options: Any) -> None:  # noqa: ANN401 - aiohttp's
        super().__init__(manager, **options)
        self.port = port
        self.pod: AnsweringPod | None = None
        """The pod that answers on it, once it is chosen."""
        self.answering = False
        """Whether a handler runs for a request whose headers are complete."""
        self.receiving = False
        """Whether a request, or part of it, has arrived whose answer is not completely written."""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.port.connections.add(self)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        if not self.receiving:
            self._wait_for_headers()
        self.receiving = True
        super().data_received(data)

    def begin(self) -> None:
        """Called when the headers of a request are complete."""
        self.answering = True
        self._stop_waiting()

    def _wait_for_headers(self) -> None:
        self._stop_waiting()
        self._deadline = asyncio.get_running_loop().call_later(HEADER_SECONDS, self._time_out)

    def _stop_waiting(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        """Close a connection whose headers timed out; with 408 if a part of them arrived."""
        if self.transport is None or self.transport.is_closing():
            return
        if self.receiving:
            self.transport.write(_REQUEST_TIMEOUT)
        self.transport.close()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write the rest of an answer."""
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self.receiving = False

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)
        self.port.connections.discard(self)
        self.assign(None)

    def assign(self, pod: AnsweringPod | None) -> None:
        """Move the connection to a pod, or to none."""
        if self.pod:
            self.pod.connections.discard(self)
        self.pod = pod
        if pod:
            pod.connections.add(self)

    def abort(self) -> None:
        """Reset it, as the kernel does when a process dies."""
        if self.transport:
            self.transport.abort()


class LoopbackPort:
    """A port, its handler and its connections."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.connections: set[LoopbackConnection] = set()
        self.number = 0
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.number}"

    def close(self) -> None:
        """Stop accepting connections; open ones stay."""
        if self._server:
            self._server.close()
            self._server = None

    def end(self) -> None:
        """Stop accepting connections, and reset the open ones."""
        self.close()
        for connection in tuple(self.connections):
            connection.abort()

    async def open(self, hub: "Loopback", number: int = 0) -> None:
        """Listen on a port; 0 for a free one.

        Raises:
            OSError: the port is in use.
        """
        # The socket is created before the first await, so that a cancellation does not leak it.
        listening = socket.create_server((LOOPBACK, number), backlog=_BACKLOG)
        self.number = listening.getsockname()[1]
        self._server = await asyncio.get_running_loop().create_server(
            lambda: hub.connection(self), sock=listening, start_serving=False, backlog=_BACKLOG
        )
        await self._server.start_serving()


class Loopback:
    """One HTTP server for all ports: the connection of a request knows its port."""

    def __init__(self) -> None:
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", _answer)
        app.on_response_prepare.append(_close_if_terminating)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None)

    async def start(self) -> None:
        await self._runner.setup()

    async def close(self) -> None:
        await self._runner.cleanup()

    def connection(self, port: LoopbackPort) -> LoopbackConnection:
        """Return the handler of a new connection."""
        manager = self._runner.server
        if manager is None:
            raise RuntimeError("the server has not been started")
        return LoopbackConnection(port, manager, loop=asyncio.get_running_loop(), access_log=None)


async def _answer(request: web.Request) -> web.StreamResponse:
    connection = request.protocol
    if not isinstance(connection, LoopbackConnection):
        raise web.HTTPNotFound
    connection.begin()
    try:
        return await connection.port.answer(request, connection)
    finally:
        connection.answering = False


async def _close_if_terminating(request: web.Request, response: web.StreamResponse) -> None:
    """Make the client open a new connection if the pod is terminating."""
    connection = request.protocol
    if isinstance(connection, LoopbackConnection) and connection.pod and connection.pod.terminating:
        response.force_close()
        response.headers["Connection"] = "close"
