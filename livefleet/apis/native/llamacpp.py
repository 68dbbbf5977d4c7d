"""llama.cpp's own API.

Sources: ``tools/server/README.md`` and ``tools/server/server.cpp`` (result_timings, server_task_result_cmpl_final) as
of build 6500.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .. import bodies
from ..bodies import MAX_TEXT_BYTES, ApiError, Body, read_object
from ..generation import Generation
from ..planning import Prompt, Sampling
from ..replies import event, json_reply
from ..structured_output import json_form, unknown_form
from ..tokens import IDS, counted
from .single import answer_one, stream_one, times

if TYPE_CHECKING:
    from ...pods.pod import LivePod


async def health(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /health``."""
    return json_reply(pod, {"status": "ok"})


async def complete(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /completion``."""
    body, model = await read_object(request), pod.workload.models[0]
    if pod.workload.embeds:
        raise ApiError(501, "This server does not support completions.")
    text_or_tokens = body.get("prompt")
    if isinstance(text_or_tokens, str):
        prompt = Prompt(max(await counted(text_or_tokens), 1), text_or_tokens)
    elif text_or_tokens is None:
        raise ApiError(400, '"prompt" is missing', "prompt")
    else:
        prompt = Prompt(max(len(bodies.integers(body, "prompt")), 1), text_or_tokens)
    sampling = _sampling(body)

    def events(generation: Generation, new: range) -> Iterator[str]:
        for number in new:
            text = generation.planned.piece(number)
            chunk = {
                "index": 0,
                "content": text,
                "tokens": IDS.of(text),
                "stop": False,
                "id_slot": -1,
                "tokens_predicted": number + 1,
                "tokens_evaluated": generation.prompt,
            }
            yield event(json.dumps(chunk, separators=(",", ":")))
        if generation.over:
            yield event(json.dumps(_end(model, body, generation, ""), separators=(",", ":")))

    if bodies.flag(body, "stream"):
        return await stream_one(pod, request, model, (prompt, sampling), events)
    generation = await answer_one(pod, request, model, prompt, sampling)
    return json_reply(pod, _end(model, body, generation, generation.planned.sent_text))


async def props(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /props``."""
    workload = pod.workload
    properties = {
        "default_generation_settings": {"n_ctx": workload.context or 0},
        "total_slots": pod.pace.batch,
        "model_path": workload.loaded,
        "chat_template": "",
        "modalities": {"vision": bool(workload.images), "audio": False},
        "build_info": f"{workload.version or 'simulated'}-simulated",
    }
    return json_reply(pod, properties)


async def slots(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``GET /slots``."""
    pod.replica.advance(pod.clock())
    running = pod.replica.running
    if "fail_on_no_slot" in request.query and running >= pod.pace.batch:
        raise ApiError(503, "no slot available")
    context = pod.workload.context or 0
    return json_reply(
        pod, [{"id": slot, "n_ctx": context, "is_processing": slot < running} for slot in range(pod.pace.batch)]
    )


async def tokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /tokenize``."""
    body = await read_object(request, MAX_TEXT_BYTES)
    return json_reply(pod, {"tokens": IDS.of(bodies.text(body, "content") or "")})


async def detokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /detokenize``."""
    return json_reply(
        pod, {"content": IDS.text(bodies.integers(await read_object(request, MAX_TEXT_BYTES), "tokens"))}
    )


def _sampling(body: Body) -> Sampling:
    most = bodies.integer(body, "n_predict")
    most = bodies.integer(body, "max_tokens") if most is None else most
    if body.get("grammar"):
        raise unknown_form("grammar", "grammars")
    schema = body.get("json_schema")
    return Sampling(
        max_tokens=most if most is not None and most > 0 else None,
        ignore_eos=bodies.flag(body, "ignore_eos"),
        stops=bodies.texts(body, "stop"),
        seed=bodies.integer(body, "seed"),
        truncate=True,
        form=None if schema is None else json_form(schema, "json_schema"),
    )


def _end(model: str, body: Body, generation: Generation, text: str) -> dict[str, Any]:
    planned = generation.planned
    natural = "word" if planned.stop is not None else "eos"
    return {
        "index": 0,
        "content": text,
        "tokens": [],
        "id_slot": -1,
        "stop": True,
        "model": model,
        "tokens_predicted": planned.tokens,
        "tokens_evaluated": generation.prompt,
        "generation_settings": {},
        "prompt": body.get("prompt"),
        "has_new_line": False,
        "truncated": False,
        "stop_type": "limit" if planned.finish == "length" else natural,
        "stopping_word": planned.stop or "",
        "tokens_cached": generation.prompt + planned.tokens - 1,
        "timings": _timings(generation),
    }


def _timings(generation: Generation) -> dict[str, Any]:
    """Return the times of prefill and decode in milliseconds, and their speeds (``result_timings``)."""
    _, prefill, decode = times(generation)
    timings: dict[str, Any] = {}
    for name, tokens, seconds in (
        ("prompt", generation.prompt, prefill),
        ("predicted", generation.planned.tokens, decode),
    ):
        milliseconds = seconds * 1000
        timings |= {
            f"{name}_n": tokens,
            f"{name}_ms": milliseconds,
            f"{name}_per_token_ms": milliseconds / max(tokens, 1),
            f"{name}_per_second": tokens / seconds if seconds else 0.0,
        }
    return timings
