"""text-embeddings-inference's own API, and its subset of OpenAI's.

Sources: ``router/src/http/server.rs``, ``router/src/http/types.rs``, ``router/src/lib.rs`` (Info) and
``core/src/infer.rs`` of huggingface/text-embeddings-inference at 0d124dc (1.9.3). It does not support ``/predict``,
``/rerank``, ``/similarity``, ``/embed_sparse`` and ``/embed_all``: most need models of another kind.
"""

from typing import TYPE_CHECKING, Any

from aiohttp import web

from .. import bodies
from ..bodies import ApiError, Body, read_object
from ..openai.embeddings import check_size, compute, dimensions_of, packed
from ..replies import json_reply
from ..texts import embedding
from ..tokens import IDS, counted, pieces

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_MAX_BYTES = 2_000_000
"""Maximum size of a body (``payload_limit``)."""
_SPECIAL = 2
"""Special tokens around a text."""


async def embed(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /embed``."""
    body = await read_object(request, _MAX_BYTES)
    truncates = bodies.flag(body, "truncate", default=pod.workload.truncates)
    vectors, _ = await _vectors(pod, request, body, "inputs", truncates=truncates)
    return json_reply(pod, vectors)


async def openai_embed(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /v1/embeddings``. The server has one model and ignores the ``model`` field."""
    body = await read_object(request, _MAX_BYTES)
    form = bodies.text(body, "encoding_format") or "float"
    if form not in ("float", "base64"):
        raise ApiError(400, f"unknown variant `{form[:40]}`, expected `float` or `base64`", "encoding_format", "body")
    vectors, used = await _vectors(pod, request, body, "input", truncates=pod.workload.truncates)
    data = [
        {"object": "embedding", "index": index, "embedding": vector if form == "float" else packed(vector)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": used, "total_tokens": used}
    return json_reply(pod, {"object": "list", "data": data, "model": pod.workload.models[0], "usage": usage})


async def info(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /info``."""
    workload = pod.workload
    response = {
        "model_id": workload.loaded or workload.models[0],
        "model_sha": None,
        "model_dtype": "float32",
        "served_model_name": workload.models[0],
        "model_type": {"embedding": {"pooling": "cls"}},
        "max_concurrent_requests": workload.in_flight or 0,
        "max_input_length": workload.context or 0,
        "max_batch_tokens": 16384,
        "max_batch_requests": None,
        "max_client_batch_size": workload.inputs or 0,
        "auto_truncate": workload.truncates,
        "tokenization_workers": 1,
        "version": workload.version,
        "sha": None,
        "docker_label": None,
    }
    return json_reply(pod, response)


async def tokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /tokenize``."""
    texts = _texts(pod, await read_object(request, _MAX_BYTES), "inputs")
    response = []
    for text in texts:
        tokens, start = [], 0
        for number, piece in zip(IDS.of(text), pieces(text), strict=True):
            stop = start + len(piece)
            tokens.append({"id": number, "text": piece, "special": False, "start": start, "stop": stop})
            start = stop
        response.append(tokens)
    return json_reply(pod, response)


async def _vectors(
    pod: "LivePod", request: web.Request, body: Body, field: str, *, truncates: bool
) -> tuple[list[list[float]], int]:
    """Return a vector for each text, and the total number of tokens."""
    texts, context = _texts(pod, body, field), pod.workload.context
    maximum, dimensions = dimensions_of(pod), bodies.integer(body, "dimensions")
    if dimensions is not None and dimensions < 1:
        raise ApiError(422, "`dimensions` should be positive", "dimensions")
    if dimensions is not None and dimensions > maximum:
        raise ApiError(422, "`dimensions` should be smaller than the maximum embedding dimension.", "dimensions")
    check_size(len(texts), maximum)
    prompts = [await counted(text) + _SPECIAL for text in texts]
    for index, tokens in enumerate(prompts):
        if context is not None and tokens > context:
            if not truncates:
                message = f"`inputs` must have less than {context} tokens. Given: {tokens}"
                raise ApiError(422, message, field, "context")
            prompts[index] = context
    pod.meter.counts["single" if isinstance(body.get(field), str) else "batch"] += 1
    await compute(pod, request, pod.workload.models[0], prompts)
    pod.meter.counts["single_success" if isinstance(body.get(field), str) else "batch_success"] += 1
    return [embedding(pod.workload.models[0], text, dimensions or maximum) for text in texts], sum(prompts)


def _texts(pod: "LivePod", body: Body, field: str) -> list[str]:
    value: Any = body.get(field)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ApiError(400, f"data did not match any variant of untagged enum Input: `{field}`", field, "body")
    if not texts or not all(texts):
        raise ApiError(400, "`inputs` cannot be empty", field, "empty")
    maximum = pod.workload.inputs
    if maximum is not None and len(texts) > maximum:
        raise ApiError(422, f"batch size {len(texts)} > maximum allowed batch size {maximum}", field)
    return texts
