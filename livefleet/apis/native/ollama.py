"""ollama's own API: chats, completions, embeddings and the list of models.

Sources: ``api/types.go``, ``server/routes.go`` and ``docs/api.md`` of ollama as of August 2026.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .. import bodies
from ..bodies import ApiError, Body, read_object
from ..generation import Generation
from ..openai.embeddings import MAX_DIMENSIONS, check_size, compute, dimensions_of
from ..openai.requests import MARKS
from ..planning import Form, Prompt, Sampling
from ..replies import StreamReply, json_reply, line, quoted, text_reply
from ..structured_output import any_object_form, json_form
from ..texts import embedding
from ..tokens import IDS, counted
from .single import answer_one, nanoseconds, stream_one, times

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_PICTURE = 256
"""Tokens of an image; an estimate."""


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
    before = bodies.integers(body, "context")
    tokens = len(before) + await counted(system) + await counted(prompt)
    tokens += _pictures(pod, body)
    if not bodies.flag(body, "raw"):
        tokens += MARKS * (2 if system else 1)
    return await _answer(
        pod, request, body=body, model=model, prompt=Prompt(tokens, (before, system, prompt)), text=prompt
    )


async def _answer(
    pod: "LivePod", request: web.Request, body: Body, model: str, prompt: Prompt, text: str | None = None
) -> web.StreamResponse:
    """Send an answer: that of ``/api/generate`` if there is a text to continue, otherwise that of ``/api/chat``."""
    options, form = bodies.json_object(body, "options"), _form(body)
    limit = bodies.integer(options, "num_predict")
    sampling = Sampling(
        max_tokens=limit if limit is not None and limit > 0 else None,  # a negative ``num_predict`` is no limit
        stops=bodies.texts(options, "stop"),
        seed=bodies.integer(options, "seed"),
        truncate=True,
        form=form,
    )

    def pieces(generation: Generation, new: range) -> Iterator[str]:
        start = f'{{"model":{quoted(model)},"created_at":"{now_text()}",'
        for number in new:
            piece = quoted(generation.planned.piece(number))
            if text is None:
                yield f'{start}"message":{{"role":"assistant","content":{piece}}},"done":false}}\n'
            else:
                yield f'{start}"response":{piece},"done":false}}\n'
        if generation.over:
            yield line(_end(model, generation, text, ""))

    if bodies.flag(body, "stream", default=True):
        return await stream_one(
            pod, request, model=model, completion=(prompt, sampling), pieces=pieces, kind=StreamReply.LINES
        )
    generation = await answer_one(pod, request, model, prompt, sampling)
    return json_reply(pod, _end(model, generation, text, generation.planned.sent_text))


def _end(model: str, generation: Generation, prompt: str | None, text: str) -> dict[str, Any]:
    """Return the last object of an answer, with its statistics; for ``/api/chat`` if ``prompt`` is None."""
    content = {"message": {"role": "assistant", "content": text}} if prompt is None else {"response": text}
    context = {} if prompt is None else {"context": IDS.of(prompt + generation.planned.sent_text)}
    queued, prefill, decode = times(generation)
    return {
        "model": model,
        "created_at": now_text(),
        **content,
        "done": True,
        "done_reason": generation.planned.finish,
        **context,
        "total_duration": nanoseconds(queued + prefill + decode),
        "load_duration": nanoseconds(queued),
        "prompt_eval_count": generation.prompt,
        "prompt_eval_duration": nanoseconds(prefill),
        "eval_count": generation.planned.tokens,
        "eval_duration": nanoseconds(decode),
    }


def _pictures(pod: "LivePod", body: Body) -> int:
    """Return the tokens of the images in a request.

    Raises:
        ApiError: the model does not support images.
    """
    pictures = bodies.array(body, "images") or []
    if pictures and pod.workload.images is False and pod.workload.image_refusal:
        raise ApiError(500, pod.workload.image_refusal, "images")
    return _PICTURE * len(pictures)


def _form(body: Body) -> Form | None:
    """Return the form of structured output: ``json``, or a schema (``format`` of ``api/types.go``)."""
    value = body.get("format")
    if value is None or value == "":
        return None
    if value == "json":
        return any_object_form("format")
    if not isinstance(value, dict):
        raise ApiError(
            400, f'invalid format: {str(value)[:80]!r}; expected "json" or a valid JSON Schema object', "format"
        )
    return json_form(value, "format")


def model_called(pod: "LivePod", body: Body) -> str:
    """Return the model's name in a request; a name without a tag means the tag ``latest``.

    Raises:
        ApiError: the request names no model, or one that the server does not have.
    """
    name = bodies.text(body, "model") or bodies.text(body, "name") or ""
    if not name:
        raise ApiError(400, "model is required", "model")
    if _tagged(name) not in map(_tagged, pod.workload.models):
        raise ApiError(404, f"model '{name}' not found", "model", "model")
    return name


def _tagged(name: str) -> str:
    """Return a name with its tag, in lower case: names are case-insensitive (``types/model/name.go``)."""
    name = name.casefold()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


_KEPT = timedelta(minutes=5)
"""How long a model stays loaded (``OLLAMA_KEEP_ALIVE``)."""


def now_text() -> str:
    """Return the current time in ollama's format."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


async def tags(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /api/tags``."""
    modified = datetime.fromtimestamp(pod.started_at, UTC).isoformat().replace("+00:00", "Z")
    return json_reply(pod, {"models": [{**_model(name), "modified_at": modified} for name in pod.workload.models]})


async def loaded(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /api/ps``."""
    until = (datetime.now(UTC) + _KEPT).isoformat().replace("+00:00", "Z")
    more = {"expires_at": until, "size_vram": 0, "context_length": pod.workload.context or 0}
    return json_reply(pod, {"models": [{**_model(name), **more} for name in pod.workload.models]})


async def show(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/show``."""
    name = model_called(pod, await read_object(request))
    capabilities = ["embedding"] if pod.workload.embeds else ["completion"]
    known = {"general.basename": name, "general.simulated": True}
    return json_reply(pod, {"details": _details(), "model_info": known, "capabilities": capabilities})


async def version(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /api/version``."""
    return json_reply(pod, {"version": pod.workload.version.removeprefix("v") or "0.0.0"})


async def running(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /``, which probes request."""
    return text_reply(pod, "Ollama is running")


async def embed(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/embed``."""
    body = await read_object(request)
    model = model_called(pod, body)
    inputs = bodies.texts(body, "input")
    size = bodies.integer(body, "dimensions") or dimensions_of(pod)
    if not 0 < size <= MAX_DIMENSIONS:
        raise ApiError(400, f"dimensions: must be 1 to {MAX_DIMENSIONS}", "dimensions")
    check_size(len(inputs), size)
    prompts = [max(await counted(text), 1) for text in inputs]
    started = pod.clock()
    if prompts:
        await compute(pod, request, model, _fitting(pod, prompts))
    response: dict[str, Any] = {
        "model": model,
        "embeddings": [embedding(model, text, size) for text in inputs],
        "total_duration": round((pod.clock() - started) * 1e9),
        "load_duration": 0,
        "prompt_eval_count": sum(prompts),
    }
    return json_reply(pod, response)


async def embed_one(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/embeddings``, the predecessor of ``/api/embed``."""
    body = await read_object(request)
    model = model_called(pod, body)
    prompt = bodies.text(body, "prompt") or ""
    if not prompt:
        return json_reply(pod, {"embedding": []})
    await compute(pod, request, model, _fitting(pod, [await counted(prompt)]))
    return json_reply(pod, {"embedding": embedding(model, prompt, dimensions_of(pod))})


def _fitting(pod: "LivePod", prompts: list[int]) -> list[int]:
    """Return the tokens of each prompt after truncation to the context (``truncate``)."""
    context = pod.workload.context
    return prompts if context is None else [min(tokens, context) for tokens in prompts]


def _model(name: str) -> dict[str, Any]:
    tagged = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    digest = hashlib.sha256(tagged.encode()).hexdigest()
    return {"name": tagged, "model": tagged, "size": 0, "digest": digest, "details": _details()}


def _details() -> dict[str, Any]:
    """Return a model's details; the live fleet does not know them and says so."""
    nothing = {"parent_model": "", "format": "gguf", "parameter_size": "", "quantization_level": ""}
    return {**nothing, "family": "simulated", "families": ["simulated"]}
