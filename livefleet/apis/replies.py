"""How answers go out: as one JSON object, as server-sent events, or as a JSON object on each line."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from ..pods.pod import LivePod

HEADER = "x-simulated"
quoted = json.encoder.encode_basestring_ascii
"""Returns a text as JSON: the fast way for a token."""


def simulated(pod: "LivePod") -> dict[str, str]:
    """Return the header by which every answer says what about it is simulated."""
    notes = [f"text, tokens and time; pace: {pod.pace.source}; speed: {pod.clock.speed:g}"]
    if pod.workload.embeds and pod.workload.dimensions is None:
        notes.append("dimensions: assumed")
    if pod.workload.context is None:
        notes.append("context: assumed")
    return {HEADER: "; ".join(notes)}


def json_reply(pod: "LivePod", content: Any, status: int = 200) -> web.Response:  # noqa: ANN401  any JSON
    """Return an answer in one piece."""
    body = json.dumps(content, separators=(",", ":")).encode()
    return web.Response(body=body, status=status, content_type="application/json", headers=simulated(pod))


def text_reply(pod: "LivePod", content: str, status: int = 200) -> web.Response:
    """Return plain text."""
    return web.Response(text=content, status=status, headers=simulated(pod))


class StreamReply:
    """An answer in pieces.

    Args:
        pod: Who answers.
        request: What is answered.
        kind: Its content type.
    """

    EVENTS = "text/event-stream; charset=utf-8"
    LINES = "application/x-ndjson"

    def __init__(self, pod: "LivePod", request: web.Request, kind: str = EVENTS) -> None:
        self._request = request
        headers = {"Content-Type": kind, "Cache-Control": "no-cache", **simulated(pod)}
        self.response = web.StreamResponse(headers=headers)

    async def write(self, pieces: Iterable[str]) -> None:
        """Send some pieces in one write."""
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
