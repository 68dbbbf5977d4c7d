"""Responses: one JSON object, server-sent events, or JSON lines."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from ..pods.pod import LivePod

HEADER = "x-simulated"
quoted = json.encoder.encode_basestring_ascii
"""Encodes a string as JSON, faster than ``json.dumps``."""


def simulated(pod: "LivePod") -> dict[str, str]:
    """Return the header of every response that says what is simulated or assumed."""
    notes = [f"text, tokens and time; pace: {pod.pace.source}; speed: {pod.clock.speed:g}"]
    if pod.workload.embeds and pod.workload.dimensions is None:
        notes.append("dimensions: assumed")
    if pod.workload.context is None:
        notes.append("context: assumed")
    return {HEADER: "; ".join(notes)}


def json_reply(pod: "LivePod", content: Any, status: int = 200) -> web.Response:  # noqa: ANN401  any JSON
    body = json.dumps(content, separators=(",", ":")).encode()
    return web.Response(body=body, status=status, content_type="application/json", headers=simulated(pod))


def text_reply(pod: "LivePod", content: str, status: int = 200) -> web.Response:
    return web.Response(text=content, status=status, headers=simulated(pod))


class StreamReply:
    """A streamed response.

    Args:
        pod: The pod.
        request: The HTTP request.
        kind: Content type.
    """

    EVENTS = "text/event-stream; charset=utf-8"
    LINES = "application/x-ndjson"

    def __init__(self, pod: "LivePod", request: web.Request, kind: str = EVENTS) -> None:
        self._request = request
        headers = {"Content-Type": kind, "Cache-Control": "no-cache", **simulated(pod)}
        self.response = web.StreamResponse(headers=headers)

    async def write(self, pieces: Iterable[str]) -> None:
        """Send several pieces in one write."""
        if not self.response.prepared:
            await self.response.prepare(self._request)
        await self.response.write("".join(pieces).encode())


def comment(content: Any) -> str:  # noqa: ANN401  any JSON
    """Return a comment of a stream of server-sent events, which ordinary clients skip."""
    return f": simulated {json.dumps(content, separators=(',', ':'))}\n\n"


def event(content: str) -> str:
    """Return a server-sent event with a JSON text."""
    return f"data: {content}\n\n"


def line(content: Any) -> str:  # noqa: ANN401  any JSON
    """Return a line with a JSON object."""
    return json.dumps(content, separators=(",", ":")) + "\n"
