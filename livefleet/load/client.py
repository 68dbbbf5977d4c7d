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
_LONGEST_LINE = 2**20
_DATA, _DONE, _TIMES = b"data:", b"[DONE]", b": simulated "
_OWN = ": simulated"
"""Key for the times of a simulated engine, which are sent in a comment; no server sends data with this key."""
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
        asked = {"messages": [{"role": "user", "content": prompt}]} if self.chat else {"prompt": prompt}
        return {
            "model": self.model,
            **asked,
            "max_tokens": request.output_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"ignore_eos": True} if self.whole else {}),
        }


class Unanswered(Exception):  # noqa: N818  not an error of the program, but a result
    """The response is not a complete answer; the message becomes the cause in the report."""


async def send(
    session: "ClientSession", target: LoadTarget, request: DueRequest, number: int, clock: Clock, tally: Tally
) -> None:
    """Send a request, and record its outcome."""
    import aiohttp

    outcome = RequestOutcome(request.at, clock(), number=number)
    tally.begun()
    try:
        async with asyncio.timeout(target.timeout):
            body = target.body(request, number)
            async with session.post(target.address, json=body, headers=target.headers) as response:
                await _read(response, outcome, clock, tally)
    except TimeoutError:
        outcome.error = f"no end within {target.timeout:g} s"
    except Unanswered as error:
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
        tally.over(outcome)


async def _read(response: "ClientResponse", outcome: RequestOutcome, clock: Clock, tally: Tally) -> None:
    if response.status != 200:
        raise Unanswered(f"HTTP {response.status}")
    if not response.content_type.startswith("text/event-stream"):
        raise Unanswered(f"no stream, but {response.content_type}")
    before = ended = None
    async for event in _events(response):
        if event is None:
            ended = True
            break
        if _note(event, outcome):
            now = clock()
            if before is None:
                outcome.first = now
            else:
                tally.piece(now, now - before)
            before = now
    if not ended:
        raise Unanswered(CUT_OFF)
    if before is None:
        raise Unanswered("empty answer")


async def _events(response: "ClientResponse") -> AsyncIterator[dict[str, Any] | None]:
    """Yield the events of a stream, and None at its end (server-sent events of the OpenAI API)."""
    rest = b""
    async for chunk in response.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            raise Unanswered("line without an end")
        for line in lines:
            if line.startswith(_TIMES):
                yield {_OWN: _own_times(line[len(_TIMES) :])}
            if not line.startswith(_DATA):
                continue
            data = line[len(_DATA) :].strip()
            if data == _DONE:
                yield None
                return
            yield _parsed(data)


def _own_times(data: bytes) -> EngineTimes | None:
    """Return the times in a simulated engine's comment; None for any other comment."""
    try:
        found = json.loads(data)
        return EngineTimes(*(float(found[name]) for name in ("first", "between", "took")))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise Unanswered("stream that is no JSON")
    if event.get("error"):
        raise Unanswered("error within the stream")
    return event


def _note(event: dict[str, Any], outcome: RequestOutcome) -> bool:
    """Record an event, and tell whether it has content."""
    if _OWN in event:
        outcome.engine = event[_OWN]
        return False
    usage = _object(event.get("usage"))
    outcome.input_tokens = _count(usage.get("prompt_tokens")) or outcome.input_tokens
    choices = event.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    delta = _object(choice.get("delta"))
    piece = choice.get("text") or delta.get("content") or delta.get("reasoning_content") or delta.get("reasoning")
    if piece:
        outcome.output_tokens += 1
    outcome.output_tokens = _count(usage.get("completion_tokens")) or outcome.output_tokens
    return bool(piece)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
