"""ollama's own API: what it serves, and embeddings. Sources as in :mod:`.ollama`."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .. import bodies
from ..bodies import ApiError, read_object
from ..openai.embeddings import MOST_DIMENSIONS, check_size, compute, dimensions_of
from ..replies import json_reply, text_reply
from ..texts import embedding
from ..tokens import counted
from .ollama_names import model_called

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_KEPT = timedelta(minutes=5)
"""How long a model stays loaded (``OLLAMA_KEEP_ALIVE``)."""


def now_text() -> str:
    """Return the time as ollama writes it."""
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
    """Answer ``GET /``, as probes ask."""
    return text_reply(pod, "Ollama is running")


async def embed(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/embed``."""
    body = await read_object(request)
    model = model_called(pod, body)
    inputs = bodies.texts(body, "input")
    size = bodies.whole(body, "dimensions") or dimensions_of(pod)
    if not 0 < size <= MOST_DIMENSIONS:
        raise ApiError(400, f"dimensions: must be 1 to {MOST_DIMENSIONS}", "dimensions")
    check_size(len(inputs), size)
    prompts = [max(await counted(each), 1) for each in inputs]
    started = pod.clock()
    if prompts:
        await compute(pod, request, model, _fitting(pod, prompts))
    found: dict[str, Any] = {
        "model": model,
        "embeddings": [embedding(model, each, size) for each in inputs],
        "total_duration": round((pod.clock() - started) * 1e9),
        "load_duration": 0,
        "prompt_eval_count": sum(prompts),
    }
    return json_reply(pod, found)


async def embed_one(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /api/embeddings``, which came before ``/api/embed``."""
    body = await read_object(request)
    model = model_called(pod, body)
    prompt = bodies.text(body, "prompt") or ""
    if not prompt:
        return json_reply(pod, {"embedding": []})
    await compute(pod, request, model, _fitting(pod, [await counted(prompt)]))
    return json_reply(pod, {"embedding": embedding(model, prompt, dimensions_of(pod))})


def _fitting(pod: "LivePod", prompts: list[int]) -> list[int]:
    """Return the tokens that are read of each: what does not fit is left out (``truncate``)."""
    context = pod.workload.context
    return prompts if context is None else [min(tokens, context) for tokens in prompts]


def _model(name: str) -> dict[str, Any]:
    tagged = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    digest = hashlib.sha256(tagged.encode()).hexdigest()
    return {"name": tagged, "model": tagged, "size": 0, "digest": digest, "details": _details()}


def _details() -> dict[str, Any]:
    """Return what is not known of a model, and says so."""
    nothing = {"parent_model": "", "format": "gguf", "parameter_size": "", "quantization_level": ""}
    return {**nothing, "family": "simulated", "families": ["simulated"]}
