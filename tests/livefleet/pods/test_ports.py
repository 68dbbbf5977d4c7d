"""Connections whose clients send half of a request, or nothing."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from aiohttp import web

from livefleet.apis import bodies
from livefleet.apis.dispatch import answer
from livefleet.pods import ports
from livefleet.pods.ports import Loopback, LoopbackConnection, LoopbackPort
from tests.livefleet.pods_by_hand import pod_by_hand
from toolkit.ports import LOOPBACK

Found = TypeVar("Found")
WHOLE = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


def talking(talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Found]]) -> tuple[Found, int]:
    """Open a connection to an engine, and return what came of it, and how many connections the engine has then."""

    async def run() -> tuple[Found, int]:
        pod = pod_by_hand(speed=50.0)

        async def answered(request: web.Request, _: LoopbackConnection) -> web.StreamResponse:
            return await answer(pod, request)

        hub, port = Loopback(), LoopbackPort(answered)
        await hub.start()
        await port.open(hub)
        try:
            reader, writer = await asyncio.open_connection(LOOPBACK, port.number)
            try:
                found = await talk(reader, writer)
                await asyncio.sleep(0.05)
                return found, len(port.connections)
            finally:
                writer.close()
                with contextlib.suppress(ConnectionError):
                    await writer.wait_closed()
        finally:
            port.end()
            await hub.close()

    return asyncio.run(run())


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.read(), 30)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.2)


@pytest.mark.parametrize("part", [b"P", b"POST /v1/chat/completions HTTP/1.1\r\nHo", WHOLE[:-2]])
def test_half_of_the_headers_end_the_connection(part: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(part)
        return await until_closed(reader)

    found, held = talking(talk)
    assert found.startswith(b"HTTP/1.1 408 ")
    assert held == 0


def test_headers_that_trickle_are_no_different() -> None:
    """The bound is for all of them: a byte now and then does not move it."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[bytes, float]:
        loop = asyncio.get_running_loop()
        started = loop.time()

        async def trickle() -> None:
            for byte in WHOLE[:-2] * 13:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.05)

        trickling = asyncio.ensure_future(trickle())
        try:
            return await until_closed(reader), loop.time() - started
        finally:
            trickling.cancel()

    (found, took), held = talking(talk)
    assert found.startswith(b"HTTP/1.1 408 ")
    assert took < 10  # all bytes take twice as long
    assert held == 0


def test_a_connection_on_which_nothing_comes_is_ended() -> None:
    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> bytes:
        return await until_closed(reader)

    assert talking(talk) == (b"", 0)


def test_half_of_a_body_is_refused() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
        writer.write(head + b'{"model": ')
        return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)

    found, _ = talking(talk)
    assert found.startswith(b"HTTP/1.1 408 ")


def test_whole_requests_are_answered_however_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first request a connection may rest: for that the HTTP library has a bound of its own."""
    # So long that on a busy machine the second half of the headers is not late.
    monkeypatch.setattr(ports, "HEADER_SECONDS", 1.5)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        found = []
        for _ in range(2):
            writer.write(WHOLE[:20])
            await asyncio.sleep(0.1)
            writer.write(WHOLE[20:])
            found.append((await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5))[:12])
            await asyncio.sleep(1.6)
        return found

    assert talking(talk) == ([b"HTTP/1.1 200"] * 2, 1)


def test_an_answer_may_take_longer_than_headers() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        body = b'{"messages":[{"role":"user","content":"x"}],"max_tokens":4000,"ignore_eos":true,"stream":true}'
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        writer.write(head + body)
        found, started = b"", asyncio.get_running_loop().time()
        while b"[DONE]" not in found:
            found += await asyncio.wait_for(reader.read(2**16), 20)
        assert asyncio.get_running_loop().time() - started > 2 * ports.HEADER_SECONDS
        return found

    assert talking(talk)[0].startswith(b"HTTP/1.1 200")
