"""ollama's own API: chats and texts, streamed as lines unless the client says otherwise.

Sources: ``api/types.go``, ``server/routes.go`` and ``docs/api.md`` of ollama as of August 2026.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .. import bodies
from ..bodies import ApiError, Body, read_object
from ..forms import any_object_form, json_form
from ..generating import Generation
from ..openai.asking import MARKS
from ..planning import Form, Prompt, Sampling
from ..replies import StreamReply, json_reply, line, quoted
from ..tokens import IDS, counted
from .ollama_lists import now_text
from .ollama_names import model_called
from .single import answer_one, nanoseconds, stream_one, times

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_PICTURE = 256
"""Tokens of a picture, about."""


async def chat(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/chat``."""
    body = await read_object(request)
    model = model_called(pod, body)
    messages = bodies.array(body, "messages") or []
    if not messages:
        nothing = {"message": {"role": "assistant", "content": ""}, "done_reason": "load", "done": True}
        return json_reply(pod, {"model": model, "created_at": now_text(), **nothing})
    tokens, contents = 0, []
    for message in messages:
        if not isinstance(message, dict):
            raise ApiError(400, "messages: each must be an object", "messages", "body")
        content = bodies.text(message, "content") or ""
        contents.append((bodies.text(message, "role"), content))
        tokens += MARKS + await counted(content) + _pictures(pod, message)
    tools = bodies.array(body, "tools")
    tokens += await counted(json.dumps(tools)) if tools else 0
    return await _answer(pod, request, body, model, Prompt(tokens, contents))


async def generate(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/generate``."""
    body = await read_object(request)
    model = model_called(pod, body)
    prompt, system = bodies.text(body, "prompt") or "", bodies.text(body, "system") or ""
    if not prompt:
        nothing = {"response": "", "done": True, "done_reason": "load"}
        return json_reply(pod, {"model": model, "created_at": now_text(), **nothing})
    before = bodies.numbers(body, "context")
    tokens = len(before) + await counted(system) + await counted(prompt)
    tokens += _pictures(pod, body)
    if not bodies.flag(body, "raw"):
        tokens += MARKS * (2 if system else 1)
    return await _answer(pod, request, body, model, Prompt(tokens, (before, system, prompt)), prompt)


async def _answer(
    pod: "LivePod", request: web.Request, body: Body, model: str, prompt: Prompt, text: str | None = None
) -> web.StreamResponse:
    """Send an answer: that of ``/api/generate`` if there is a text to continue, otherwise that of ``/api/chat``."""
    sampling = _sampling(bodies.inner(body, "options"), _form(body))

    def pieces(generation: Generation, new: range) -> Iterator[str]:
        start = f'{{"model":{quoted(model)},"created_at":"{now_text()}",'
        for number in new:
            yield f'{start}{_piece(text is None, generation.planned.piece(number))},"done":false}}\n'
        if generation.over:
            yield line(_end(model, generation, text, ""))

    if bodies.flag(body, "stream", default=True):
        return await stream_one(pod, request, model, (prompt, sampling), pieces, StreamReply.LINES)
    generation = await answer_one(pod, request, model, prompt, sampling)
    return json_reply(pod, _end(model, generation, text, generation.planned.whole))


def _piece(is_chat: bool, text: str) -> str:  # noqa: FBT001
    if is_chat:
        return f'"message":{{"role":"assistant","content":{quoted(text)}}}'
    return f'"response":{quoted(text)}'


def _end(model: str, generation: Generation, prompt: str | None, text: str) -> dict[str, Any]:
    """Return the last object of an answer, with its figures; without a prompt it is one of ``/api/chat``."""
    content = {"message": {"role": "assistant", "content": text}} if prompt is None else {"response": text}
    seen = {} if prompt is None else {"context": IDS.of(prompt + generation.planned.whole)}
    waiting, reading, writing = times(generation)
    return {
        "model": model,
        "created_at": now_text(),
        **content,
        "done": True,
        "done_reason": generation.planned.finish,
        **seen,
        "total_duration": nanoseconds(waiting + reading + writing),
        "load_duration": nanoseconds(waiting),
        "prompt_eval_count": generation.prompt,
        "prompt_eval_duration": nanoseconds(reading),
        "eval_count": generation.planned.tokens,
        "eval_duration": nanoseconds(writing),
    }


def _pictures(pod: "LivePod", body: Body) -> int:
    """Return the tokens of pictures.

    Raises:
        ApiError: the model does not read any.
    """
    pictures = bodies.array(body, "images") or []
    if pictures and pod.workload.images is False and pod.workload.image_refusal:
        raise ApiError(500, pod.workload.image_refusal, "images")
    return _PICTURE * len(pictures)


def _form(body: Body) -> Form | None:
    """Return the form of an answer: ``json``, or a schema (``format`` of ``api/types.go``)."""
    found = body.get("format")
    if found is None or found == "":
        return None
    if found == "json":
        return any_object_form("format")
    if not isinstance(found, dict):
        raise ApiError(
            400, f'invalid format: {str(found)[:80]!r}; expected "json" or a valid JSON Schema object', "format"
        )
    return json_form(found, "format")


def _sampling(options: Body, form: Form | None) -> Sampling:
    """Return what the options say; a negative ``num_predict`` is no bound."""
    most = bodies.whole(options, "num_predict")
    return Sampling(
        most=most if most is not None and most > 0 else None,
        stops=bodies.texts(options, "stop"),
        seed=bodies.whole(options, "seed"),
        fitted=True,
        form=form,
    )
