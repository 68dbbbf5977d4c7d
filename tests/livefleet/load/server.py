"""A server of OpenAI's API that answers as a test wants: the engines themselves need a GPU."""

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


def event(content: str = "x", **rest: Any) -> bytes:
    value = {"choices": [{"index": 0, "delta": {"content": content}}], **rest}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def usage(prompt: int, completion: int) -> bytes:
    value = {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def streamed(*pieces: bytes | float, cut: bool = False) -> Answer:
    """Write these pieces; a number is a pause in seconds."""

    async def answer(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            if isinstance(piece, bytes):
                await response.write(piece)
            else:
                await asyncio.sleep(piece)
        if cut and request.transport:
            request.transport.close()
        return response

    return answer


def said(status: int, text: str = "", kind: str = "application/json") -> Answer:
    async def answer(_request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        return web.Response(status=status, text=text, content_type=kind)

    return answer


class Served:
    """What was asked, and how much at once."""

    def __init__(self, answer: Answer) -> None:
        self.url = ""
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.most = 0
        self._answer, self._flight = answer, 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self._flight += 1
        self.most = max(self.most, self._flight)
        try:
            body = await request.json()
            self.bodies.append({"path": request.path, **body})
            self.keys.append(request.headers.get("Authorization", ""))
            return await self._answer(request, body)
        finally:
            self._flight -= 1


@contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """A server on loopback for as long as a test needs it, in a thread of its own."""
    served, ready = Served(answer), threading.Event()
    loop = asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/{path:.*}", served.handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        served.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    def work() -> None:
        try:
            runner = loop.run_until_complete(start())
        finally:
            ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
