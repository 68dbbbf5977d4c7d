"""``/v1/chat/completions`` and ``/v1/completions``, streamed or not (OpenAI API reference)."""

import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from ...fleet import TIMES_HEADER
from ...pace.replica import QueueFullError
from ..bodies import FULL, ApiError, Body, read_object
from ..generation import PodRequest
from ..replies import StreamReply, comment, event, json_reply, line, quoted
from ..texts import PlannedText
from .dialect import Dialect
from .requests import CompletionRequest, read_chat, read_completion

if TYPE_CHECKING:
    from ...pods.pod import LivePod

DONE = event("[DONE]")
Reader = Callable[["LivePod", Dialect, Body], Awaitable[CompletionRequest]]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A chat or a completion.

    Attributes:
        prefix: Prefix of IDs.
        response: ``object`` of a response that is not streamed.
        chunk: ``object`` of a chunk of a stream.
    """

    prefix: str
    response: str
    chunk: str


_CHAT = _Kind("chatcmpl", "chat.completion", "chat.completion.chunk")
_CALL = _Kind("chatcmpl", "chat.completion", "chat.completion.chunk")
"""A chat whose answer is a tool call: its text is the arguments of the tool."""
_COMPLETION = _Kind("cmpl", "text_completion", "text_completion")
_OPEN: dict[str, Any] = {"logprobs": None, "finish_reason": None}


async def chat(pod: "LivePod", request: web.Request, dialect: Dialect) -> web.StreamResponse:
    """Answer ``POST /v1/chat/completions``."""
    _reject_embedder(pod, "Chat Completions")
    return await _answer(pod, request, dialect, read_chat, _CHAT)


async def complete(pod: "LivePod", request: web.Request, dialect: Dialect) -> web.StreamResponse:
    """Answer ``POST /v1/completions``."""
    _reject_embedder(pod, "Completions")
    return await _answer(pod, request, dialect, read_completion, _COMPLETION)


def _reject_embedder(pod: "LivePod", api: str) -> None:
    if pod.workload.embeds:
        raise ApiError(400, f"The model does not support {api} API")


async def _answer(
    pod: "LivePod", request: web.Request, dialect: Dialect, reader: Reader, kind: _Kind
) -> web.StreamResponse:
    body = await read_object(request)
    try:
        return await _respond(pod, request, dialect, await reader(pod, dialect, body), kind)
    except (ApiError, QueueFullError) as rejection:
        error = rejection if isinstance(rejection, ApiError) else FULL
        if dialect.stream_error is None or error.kind == "body" or body.get("stream") is not True:
            raise
    pod.refused += 1
    reply = StreamReply(pod, request)
    await reply.write([event(line(dialect.stream_error(error)).rstrip()), DONE])
    return reply.response


async def _respond(
    pod: "LivePod", request: web.Request, dialect: Dialect, completion: CompletionRequest, kind: _Kind
) -> web.StreamResponse:
    head = {
        "id": f"{kind.prefix}-{pod.next_id()}",
        "object": kind.chunk if completion.stream else kind.response,
        "created": int(time.time()),
        "model": completion.response_model,
    }
    with PodRequest(pod, request, list(completion.pairs), completion.model) as running:
        if completion.stream:
            return await _stream(
                pod, request, dialect=dialect, completion=completion, kind=kind, head=head, running=running
            )
        await running.all()
    choices = []
    for index, answer in enumerate(completion.answers):
        text = answer.sent_text
        if completion.call:
            function = {"name": completion.call.name, "arguments": text}
            call = {"id": _call_id(pod), "type": "function", "function": function}
            content: dict[str, Any] = {"message": {"role": "assistant", "content": None, "tool_calls": [call]}}
        else:
            content = {"message": {"role": "assistant", "content": text}} if kind is _CHAT else {"text": text}
        end = {"logprobs": None, "finish_reason": _finish(dialect, completion, answer), "stop_reason": answer.stop}
        choices.append({"index": index, **content, **end})
    return json_reply(pod, {**head, "choices": choices, "usage": completion.usage_object()})


def _call_id(pod: "LivePod") -> str:
    prefix = "chatcmpl-tool-" if pod.workload.simulated_server in ("vllm", "") else "call_"
    return f"{prefix}{pod.next_id()}"


def _finish(dialect: Dialect, completion: CompletionRequest, answer: PlannedText) -> str:
    """Return the finish reason of an answer; a truncated tool call has that of a text."""
    if completion.call is None or answer.finish != "stop":
        return answer.finish
    return dialect.tool_finish[0 if completion.call.named else 1]


async def _stream(
    pod: "LivePod",
    request: web.Request,
    dialect: Dialect,
    completion: CompletionRequest,
    kind: _Kind,
    head: dict[str, Any],
    running: PodRequest,
) -> web.StreamResponse:
    reply = StreamReply(pod, request)
    # The same for all events of a stream: encoded once, not for each token.
    start = line(head).rstrip()[:-1]
    ends = [_finish(dialect, completion, answer) for answer in completion.answers]
    calls = [_call_id(pod) if completion.call else "" for _ in completion.answers]
    while True:
        await running.more()
        over = running.over
        pieces = []
        for index, generation in enumerate(running.generations):
            new = generation.take()
            if completion.call and new and not new.start:
                opened = {"name": completion.call.name, "arguments": ""}
                call = {"index": 0, "id": calls[index], "type": "function", "function": opened}
                choice = {"index": index, "delta": {"role": "assistant", "content": None, "tool_calls": [call]}}
                pieces.append(event(f'{start},"choices":[{line(choice | _OPEN).rstrip()}]}}'))
            pieces += _events(
                _CALL if completion.call else kind,
                dialect,
                start=start,
                index=index,
                planned=generation.planned,
                new=new,
                finish=ends[index],
            )
        if over and completion.usage:
            pieces.append(event(f'{start},"choices":[],"usage":{line(completion.usage_object()).rstrip()}}}'))
        if over:
            if TIMES_HEADER in request.headers:
                pieces.append(comment(_engine_times(running)))
            pieces.append(DONE)
        await reply.write(pieces)
        if over:
            return reply.response


def _engine_times(running: PodRequest) -> dict[str, float]:
    """Return the latency of a request by the engine's own clock, in simulated seconds.

    These are the time to the first token, the mean time between two tokens, and the total.
    """
    jobs = [generation.job for generation in running.generations]
    # Without a token, or before its end, nothing is measured: the time is 0.
    first = min(0.0 if job.first is None else job.first - job.arrived for job in jobs)
    total = max(0.0 if job.ended is None else job.ended - job.arrived for job in jobs)
    intervals = max(job.wanted for job in jobs) - 1
    between = (total - first) / intervals if intervals > 0 else 0.0
    return {"first": first, "between": between, "took": total}


def _events(
    kind: _Kind, dialect: Dialect, start: str, index: int, planned: PlannedText, new: range, finish: str
) -> Iterator[str]:
    """Yield the events of new tokens; the finish reason is in the event of the last token, or in one after it."""
    if not new:
        return
    open_choice = f'{start},"choices":[{{"index":{index},'
    if kind is _CHAT and not new.start:
        yield event(f'{open_choice}"delta":{{"role":"assistant","content":""}},{_end(None)}}}]}}')
    last = planned.tokens - 1
    for number in new:
        text = planned.piece(number)
        at_end = number == last and dialect.finish_in_last_chunk
        if text or at_end:
            end = _end(planned if at_end else None, finish)
            yield event(f"{open_choice}{_delta(kind, quoted(text))},{end}}}]}}")
    if new.stop > last and not dialect.finish_in_last_chunk:
        yield event(f"{open_choice}{_delta(kind, None)},{_end(planned, finish)}}}]}}")


def _delta(kind: _Kind, text: str | None) -> str:
    if kind is _COMPLETION:
        return '"text":""' if text is None else f'"text":{text}'
    if text is None:
        return '"delta":{}'
    if kind is _CALL:
        return f'"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":{text}}}}}]}}'
    return f'"delta":{{"content":{text}}}'


def _end(planned: PlannedText | None, finish: str = "") -> str:
    if planned is None:
        return '"logprobs":null,"finish_reason":null'
    stop = "null" if planned.stop is None else quoted(planned.stop)
    return f'"logprobs":null,"finish_reason":"{finish}","stop_reason":{stop}'
