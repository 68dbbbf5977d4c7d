"""Text Generation Inference's own API: ``/generate`` and the paths beside it.

Sources: ``router/src/server.rs``, ``router/src/lib.rs`` (GenerateResponse, StreamResponse, Info) and
``router/src/validation.rs`` of release 3.3.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aiohttp import web

from ...pace.replica import QueueFullError
from .. import bodies
from ..bodies import FULL, ApiError, Body, read_object
from ..generation import Generation
from ..openai.dialect import tgi_error
from ..planning import Prompt, Sampling
from ..replies import StreamReply, event, json_reply
from ..structured_output import response_format
from ..texts import PlannedText
from ..tokens import IDS, counted, pieces
from .single import answer_one, stream_one

if TYPE_CHECKING:
    from ...pods.pod import LivePod

MAX_BYTES = 2_000_000
"""Maximum size of a body (``payload_limit``)."""
_MAX_STOPS = 4


async def generate(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /generate``."""
    return await _generate(pod, request, await read_object(request, MAX_BYTES))


async def generate_stream(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /generate_stream``."""
    return await _stream(pod, request, await read_object(request, MAX_BYTES))


async def generate_either(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /``: streamed or not, depending on ``stream`` in the body."""
    body = await read_object(request, MAX_BYTES)
    if bodies.flag(body, "stream"):
        return await _stream(pod, request, body)
    return await _generate(pod, request, body, as_list=True)


async def info(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /info``."""
    workload = pod.workload
    context = workload.context or 0
    response = {
        "model_id": workload.loaded or workload.models[0],
        "model_sha": None,
        "model_pipeline_tag": "text-generation",
        "max_concurrent_requests": workload.in_flight or workload.queue or 0,
        "max_best_of": 2,
        "max_stop_sequences": _MAX_STOPS,
        "max_input_tokens": max(context - 1, 0),
        "max_total_tokens": context,
        "validation_workers": 2,
        "max_client_batch_size": 4,
        "router": "simulated-text-generation-router",
        "version": workload.version,
        "sha": None,
        "docker_label": None,
    }
    return json_reply(pod, response)


async def tokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /tokenize``."""
    text = _inputs(await read_object(request, MAX_BYTES))
    tokens, start = [], 0
    for number, piece in zip(IDS.of(text), pieces(text), strict=True):
        tokens.append({"id": number, "text": piece, "start": start, "stop": start + len(piece)})
        start += len(piece)
    return json_reply(pod, tokens)


async def _generate(pod: "LivePod", request: web.Request, body: Body, *, as_list: bool = False) -> web.StreamResponse:
    text, model = _inputs(body), pod.workload.models[0]
    generation = await answer_one(pod, request, model, await _prompt(text), _sampling(body))
    parameters, planned = bodies.json_object(body, "parameters"), generation.planned
    prefix = text if bodies.flag(parameters, "return_full_text") else ""
    response: dict[str, Any] = {"generated_text": prefix + planned.sent_text}
    if bodies.flag(parameters, "details"):
        tokens = [_token(planned, number) for number in range(planned.tokens)]
        seed = bodies.integer(parameters, "seed")
        response["details"] = {**_end(planned), "seed": seed, "prefill": [], "tokens": tokens}
    return json_reply(pod, [response] if as_list else response)


async def _stream(pod: "LivePod", request: web.Request, body: Body) -> web.StreamResponse:
    prompt, sampling = await _prompt(_inputs(body)), _sampling(body)

    def events(generation: Generation, new: range) -> Iterator[str]:
        planned = generation.planned
        for number in new:
            chunk = {"index": number + 1, "token": _token(planned, number), "generated_text": None, "details": None}
            if number == planned.tokens - 1:
                chunk["generated_text"] = planned.sent_text
                chunk["details"] = {**_end(planned), "seed": sampling.seed, "input_length": generation.prompt}
            yield event(json.dumps(chunk, separators=(",", ":")))

    try:
        return await stream_one(pod, request, pod.workload.models[0], (prompt, sampling), events)
    except (ApiError, QueueFullError) as refused:
        # The real server starts the stream before it validates the request: an error is an event of the stream.
        error = refused if isinstance(refused, ApiError) else FULL
    pod.refused += 1
    reply = StreamReply(pod, request)
    await reply.write([event(json.dumps(tgi_error(error)[1]))])
    return reply.response


def _inputs(body: Body) -> str:
    text = bodies.text(body, "inputs")
    if text is None:
        raise ApiError(400, "missing field `inputs`", "inputs", "body")
    if not text:
        raise ApiError(422, "`inputs` cannot be empty", "inputs")
    return text


async def _prompt(text: str) -> Prompt:
    return Prompt(await counted(text), text)


def _sampling(body: Body) -> Sampling:
    parameters = bodies.json_object(body, "parameters")
    most = bodies.integer(parameters, "max_new_tokens")
    if most is not None and most < 1:
        raise ApiError(422, "`max_new_tokens` must be strictly positive", "max_new_tokens")
    stops = bodies.texts(parameters, "stop")
    if len(stops) > _MAX_STOPS:
        raise ApiError(422, f"`stop` supports up to {_MAX_STOPS} stop sequences. Given: {len(stops)}", "stop")
    form = response_format(parameters, "grammar")
    return Sampling(max_tokens=most, stops=stops, seed=bodies.integer(parameters, "seed"), form=form)


def _token(planned: PlannedText, number: int) -> dict[str, Any]:
    text = planned.piece(number)
    return {"id": next(iter(IDS.of(text)), 0), "text": text, "logprob": 0.0, "special": False}


def _end(planned: PlannedText) -> dict[str, Any]:
    natural = "stop_sequence" if planned.stop is not None else "eos_token"
    reason = "length" if planned.finish == "length" else natural
    return {"finish_reason": reason, "generated_tokens": planned.tokens}
