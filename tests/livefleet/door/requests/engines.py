"""Engines that remember what reached them: one port for each Service, so that an answer says who gave it."""

import asyncio
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
"""What every answer says that it took."""
_TOKEN = 'data: {"model": "m", "choices": [{"index": 0, "delta": {"content": "%d "}}]}\n\n'


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request, as an engine got it; names of headers are in lower case. The connection has a port at the client."""

    service: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int = 0

    @property
    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass(slots=True)
class Engines:
    """The engines of a fleet. Fields of a request's body say what becomes of it.

    ``wait``: seconds before the answer; less where ``gather`` requests have been under way at once, or ``released``.
    ``pause``: seconds between the tokens of a stream of ``max_tokens``; ``paced`` where the test ``allowed`` them.
    ``status``: of a plain text in place of an answer.
    """

    ports: dict[str, int] = field(default_factory=dict)
    arrived: list[Arrived] = field(default_factory=list)
    running: int = 0
    most: int = 0
    """Requests that were under way at once."""
    broken: int = 0
    """Requests whose client hung up."""
    released: bool = False
    """Whether nothing gathers any more."""
    allowed: int = 0
    """Tokens of a paced stream that are computed by now."""

    def since(self, count: int) -> list[Arrived]:
        """Return what arrived after the first ``count``."""
        return self.arrived[count:]

    @property
    def last(self) -> Arrived:
        return self.arrived[-1]

    async def answer(self, service: str, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        port = request.transport.get_extra_info("peername")[1] if request.transport else 0
        self.arrived.append(Arrived(service, request.path, headers, body, port))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self._answered(request, json.loads(body) if body else {})
        except (asyncio.CancelledError, ConnectionResetError):
            self.broken += 1
            raise
        finally:
            self.running -= 1

    async def _waited(self, seconds: float, gather: int | None) -> None:
        if gather is None:
            await asyncio.sleep(seconds)
            return
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self.most < gather and not self.released and loop.time() < deadline:
            await asyncio.sleep(0.05)

    async def _answered(self, request: web.Request, asked: Mapping[str, Any]) -> web.StreamResponse:
        await self._waited(asked.get("wait", 0), asked.get("gather"))
        if "status" in asked:
            return web.Response(status=asked["status"], text="out of memory")
        if not asked.get("stream"):
            return web.json_response({"model": asked.get("model"), "choices": [], "usage": USAGE})
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        for number in range(asked.get("max_tokens", 5)):
            while asked.get("paced") and number >= self.allowed:
                await asyncio.sleep(0.005)
            await answer.write((_TOKEN % number).encode())
            await asyncio.sleep(asked.get("pause", 0))
        last = {"model": "m", "choices": [], "usage": USAGE}
        if asked.get("stream_options", {}).get("include_usage"):
            await answer.write(f"data: {json.dumps(last)}\n\n".encode())
        await answer.write(b"data: [DONE]\n\n")
        return answer


@contextmanager
def engines_of(services: Iterable[str]) -> Iterator[Engines]:
    """Serve for Services, each at a port of loopback of its own, in a thread."""
    loop, engines = asyncio.new_event_loop(), Engines()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> list[web.AppRunner]:
        return [await _served(engines, service) for service in sorted(set(services))]

    runners = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield engines
    finally:

        async def stop() -> None:
            await asyncio.gather(*(runner.cleanup() for runner in runners))

        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _served(engines: Engines, service: str) -> web.AppRunner:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await engines.answer(service, request)

    application = web.Application(client_max_size=2**30)
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    engines.ports[service] = runner.addresses[0][1]
    return runner
