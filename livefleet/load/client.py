"""A streaming client of the OpenAI API that records when each chunk arrives."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..fleet import TIMES_HEADER
from .arrivals import DueRequest
from .outcomes import CONNECTION_LOST, CUT_OFF, EngineTimes, RequestOutcome, Tally

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

_WORD = "word "
"""A word that most tokenizers encode as one token."""
_MAX_LINE_BYTES = 2**20
_DATA, _DONE, _TIMES = b"data:", b"[DONE]", b": simulated "
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """The server and the model under load.

    Attributes:
        url: Base URL of the API, such as ``http://127.0.0.1:8000/v1``.
        chat: Whether to send chats instead of completions.
        whole: Whether to request the full length with ``ignore_eos`` (vLLM, SGLang).
        timeout: Timeout of a request in seconds.
        authority: CA certificate that is trusted in addition to the system's.
        simulated: Whether the engine is simulated and reports its own times.
    """

    url: str
    model: str
    chat: bool = True
    whole: bool = False
    timeout: float = 300.0
    authority: Path | None = None
    simulated: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """Additional request headers."""
        return {TIMES_HEADER: "1"} if self.simulated else {}

    @property
    def address(self) -> str:
        return f"{self.url}/chat/completions" if self.chat else f"{self.url}/completions"

    def body(self, request: DueRequest, number: int) -> dict[str, Any]:
        """Return the body of a request. Each prompt starts differently, so that prefix caches do not hit."""
        prompt = f"{number} " + _WORD * max(request.input_tokens - 1, 0)
        return {
            "model": self.model,
            **({"messages": [{"role": "user", "content": prompt}]} if self.chat else {"prompt": prompt}),
            "max_tokens": request.output_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"ignore_eos": True} if self.whole else {}),
        }


class IncompleteAnswer(Exception):  # noqa: N818  not an error of the program, but a result
    """The response is not a complete answer; the message becomes the cause in the report."""


async def send(
    session: "ClientSession", target: LoadTarget, request: DueRequest, number: int, clock: Clock, tally: Tally
) -> None:
    """Send a request, and record its outcome."""
    import aiohttp

    outcome = RequestOutcome(request.at, clock(), number=number)
    tally.begin()
    try:
        async with asyncio.timeout(target.timeout):
            body = target.body(request, number)
            async with session.post(target.address, json=body, headers=target.headers) as response:
                await _read(response, outcome, clock, tally)
    except TimeoutError:
        outcome.error = f"no end within {target.timeout:g} s"
    except IncompleteAnswer as error:
        outcome.error = str(error)
    except aiohttp.ClientConnectorCertificateError:
        outcome.error = "certificate that is not trusted"
    except aiohttp.ClientConnectorError:
        outcome.error = "no connection"
    except (aiohttp.ClientError, ConnectionError):
        outcome.error = CONNECTION_LOST
    except asyncio.CancelledError:
        outcome.error = "given up at the end"
        raise
    finally:
        outcome.ended = clock()
        tally.end(outcome)


async def _read(response: "ClientResponse", outcome: RequestOutcome, clock: Clock, tally: Tally) -> None:
    """Read a stream to its end, and record when its chunks arrive."""
    import aiohttp

    if response.status != 200:
        raise IncompleteAnswer(f"HTTP {response.status}")
    if not response.content_type.startswith("text/event-stream"):
        raise IncompleteAnswer(f"no stream, but {response.content_type}")
    previous, is_done = None, False
    try:
        # To the end of the body, which follows the last event at once: otherwise aiohttp closes the connection,
        # unless both arrived together.
        async for line in _lines(response):
            if is_done:
                continue
            if line.startswith(_TIMES):
                outcome.engine = _engine_times(line.removeprefix(_TIMES))
            if not line.startswith(_DATA):
                continue
            data = line.removeprefix(_DATA).strip()
            if data == _DONE:
                if previous is None:
                    raise IncompleteAnswer("empty answer")
                is_done = True
            elif _record_event(data, outcome):
                now = clock()
                if previous is None:
                    outcome.first = now
                else:
                    tally.add_gap(now, now - previous)
                previous = now
    except aiohttp.ClientError:
        if not is_done:
            raise
    if not is_done:
        raise IncompleteAnswer(CUT_OFF)


async def _lines(response: "ClientResponse") -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in response.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > _MAX_LINE_BYTES:
            raise IncompleteAnswer("line without an end")
        for line in lines:
            yield line


def _engine_times(data: bytes) -> EngineTimes | None:
    """Parse the comment in which a simulated engine sends its own times; None for any other comment."""
    try:
        times = json.loads(data)
        return EngineTimes(*(float(times[name]) for name in ("first", "between", "took")))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _record_event(data: bytes, outcome: RequestOutcome) -> bool:
    """Record an event of OpenAI's API, and tell whether it has content."""
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise IncompleteAnswer("stream that is no JSON")
    if event.get("error"):
        raise IncompleteAnswer("error within the stream")
    usage = _object(event.get("usage"))
    outcome.input_tokens = _count(usage.get("prompt_tokens")) or outcome.input_tokens
    choices = event.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    delta = _object(choice.get("delta"))
    content = choice.get("text") or delta.get("content") or delta.get("reasoning_content") or delta.get("reasoning")
    if content:
        outcome.output_tokens += 1
    # The server's count, where it sends one, replaces the number of chunks.
    outcome.output_tokens = _count(usage.get("completion_tokens")) or outcome.output_tokens
    return bool(content)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
