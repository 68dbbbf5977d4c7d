"""SGLang's own API.

Sources: ``docs/basic_usage/native_api.ipynb``, ``python/sglang/srt/entrypoints/http_server.py`` and
``python/sglang/srt/managers/tokenizer_manager.py`` (meta_info) of SGLang 0.5.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .. import bodies
from ..bodies import ApiError, Body, read_object
from ..generation import Generation
from ..planning import Prompt, Sampling
from ..replies import event, json_reply, text_reply
from ..structured_output import json_form, only_form, pattern_form, unknown_form
from ..tokens import IDS, counted
from .single import answer_one, stream_one, times

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_DEFAULT_MAX_TOKENS = 128
"""Default of ``max_new_tokens`` (``sampling_params.py``)."""


async def generate(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /generate``; each event of a stream contains the whole text so far."""
    body, model = await read_object(request), pod.workload.models[0]
    prompt, sampling = await _prompt(body), _sampling(bodies.json_object(body, "sampling_params"))
    name = pod.next_id()

    text, numbers = "", []

    def events(generation: Generation, new: range) -> Iterator[str]:
        nonlocal text
        for number in new:
            piece = generation.planned.piece(number)
            text += piece
            numbers.extend(IDS.of(piece))
            over = number == generation.planned.tokens - 1
            yield event(
                json.dumps({"text": text, "output_ids": numbers, **_meta(name, generation, number + 1, over)})
            )
        if generation.over:
            yield event("[DONE]")

    if bodies.flag(body, "stream"):
        return await stream_one(pod, request, model, (prompt, sampling), events)
    generation = await answer_one(pod, request, model, prompt, sampling)
    text = generation.planned.sent_text
    meta = _meta(name, generation, generation.planned.tokens, over=True)
    return json_reply(pod, {"text": text, "output_ids": IDS.of(text), **meta})


async def health_generate(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``GET /health_generate``, after the generation of one token."""
    await answer_one(pod, request, pod.workload.models[0], Prompt(1, "health"), Sampling(max_tokens=1))
    return text_reply(pod, "")


async def model_info(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /get_model_info``."""
    workload = pod.workload
    path = workload.loaded or workload.models[0]
    info = {
        "model_path": path,
        "tokenizer_path": path,
        "is_generation": not workload.embeds,
        "preferred_sampling_params": None,
        "weight_version": "default",
    }
    return json_reply(pod, info)


def _meta(name: str, generation: Generation, tokens: int, over: bool) -> dict[str, Any]:  # noqa: FBT001
    planned, finish = generation.planned, None
    if over:
        is_cut = planned.finish == "length"
        finish = {"type": "length", "length": planned.tokens} if is_cut else {"type": "stop", "matched": planned.stop}
    meta: dict[str, Any] = {
        "id": name,
        "finish_reason": finish,
        "prompt_tokens": generation.prompt,
        "completion_tokens": tokens,
        "cached_tokens": 0,
    }
    if over and generation.over:
        meta["e2e_latency"] = sum(times(generation))
    return {"meta_info": meta}


async def _prompt(body: Body) -> Prompt:
    text = bodies.text(body, "text")
    if text is not None:
        return Prompt(max(await counted(text), 1), text)
    if body.get("input_ids") is None:
        raise ApiError(400, "Either text, input_ids or input_embeds should be provided.", "text")
    numbers = bodies.integers(body, "input_ids")
    return Prompt(max(len(numbers), 1), numbers)


def _sampling(parameters: Body) -> Sampling:
    forms = [
        json_form(parameters["json_schema"], "json_schema") if parameters.get("json_schema") is not None else None,
        pattern_form(parameters["regex"], "regex") if parameters.get("regex") is not None else None,
    ]
    if parameters.get("ebnf") or parameters.get("structural_tag"):
        raise unknown_form("sampling_params", "grammars and structural tags")
    return Sampling(
        max_tokens=bodies.integer(parameters, "max_new_tokens", 1) or _DEFAULT_MAX_TOKENS,
        min_tokens=bodies.integer(parameters, "min_new_tokens", 0) or 0,
        ignore_eos=bodies.flag(parameters, "ignore_eos"),
        stops=bodies.texts(parameters, "stop"),
        seed=bodies.integer(parameters, "sampling_seed"),
        form=only_form(forms, "sampling_params"),
    )
