"""Asks a pod as a client does, and returns what came."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import aiohttp

from livefleet.pods.pod import LivePod
from livefleet.standalone import serve_pod

Found = TypeVar("Found")
FAST = 1000.0
"""A second in a millisecond."""


class Client:
    """A client of one pod."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self.session = url, session

    async def get(self, path: str) -> tuple[int, str]:
        async with self.session.get(self.url + path) as response:
            return response.status, await response.text()

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        """Send JSON, or bytes as they are; return the status and the JSON that came."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        async with self.session.post(self.url + path, data=io.BytesIO(data), headers=headers) as response:
            assert "x-simulated" in response.headers
            return response.status, json.loads(await response.text())

    async def events(self, path: str, body: dict[str, Any]) -> list[Any]:
        """Return the server-sent events of a stream as JSON, and its end as None."""
        async with self.session.post(self.url + path, json=body) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == "text/event-stream"
            assert "x-simulated" in response.headers
            text = await response.text()
        assert text.endswith("\n\n")
        found = text.removesuffix("\n\n").split("\n\n")
        assert all(each.startswith("data:") for each in found), found
        data = [each.removeprefix("data:").strip() for each in found]
        return [None if each == "[DONE]" else json.loads(each) for each in data]

    async def lines(self, path: str, body: dict[str, Any]) -> list[Any]:
        """Return the lines of a stream as JSON."""
        async with self.session.post(self.url + path, json=body) as response:
            assert response.status == 200, await response.text()
            assert response.content_type == "application/x-ndjson"
            assert "x-simulated" in response.headers
            return [json.loads(line) async for line in response.content]


def asked(pod: LivePod, ask: Callable[[Client], Awaitable[Found]]) -> Found:
    """Serve a pod, ask it, and return what came."""

    async def run() -> Found:
        async with serve_pod(pod) as url, aiohttp.ClientSession() as session:
            return await ask(Client(url, session))

    return asyncio.run(run())
