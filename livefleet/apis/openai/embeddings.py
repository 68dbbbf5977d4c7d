"""``/v1/embeddings`` (OpenAI API reference, "Embeddings")."""

import base64
import struct
from typing import TYPE_CHECKING

from aiohttp import web

from .. import bodies
from ..bodies import ApiError, read_object
from ..generation import PodRequest
from ..planning import ASSUMED_CONTEXT
from ..replies import json_reply
from ..texts import AnswerText, embedding, planned_text
from .dialect import Dialect
from .requests import model_in, read_embedding_inputs

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_ASSUMED_DIMENSIONS = 1024
"""Of a model whose dimensions are unknown."""
MAX_DIMENSIONS = 8192
_MAX_VALUES = 2**20
"""Of all vectors of a request together."""


async def embed(pod: "LivePod", request: web.Request, dialect: Dialect) -> web.StreamResponse:
    """Answer ``POST /v1/embeddings``."""
    if dialect.embedding_error and not pod.workload.embeds:
        raise ApiError(dialect.embedding_error.status, dialect.embedding_error.message)
    body = await read_object(request)
    model = model_in(pod, dialect, body)
    inputs = await read_embedding_inputs(body)
    form = bodies.text(body, "encoding_format") or "float"
    if form not in ("float", "base64"):
        raise ApiError(400, "encoding_format: must be float or base64", "encoding_format")
    dimensions = bodies.integer(body, "dimensions", 1) or dimensions_of(pod)
    limit = pod.workload.dimensions or MAX_DIMENSIONS
    if dimensions > limit:
        raise ApiError(400, f"dimensions: at most {limit}, found {dimensions}", "dimensions")
    check_size(len(inputs), dimensions)
    await compute(pod, request, model, [tokens for tokens, _ in inputs])
    vectors = [embedding(model, repr(content), dimensions) for _, content in inputs]
    data = [
        {"object": "embedding", "index": index, "embedding": vector if form == "float" else packed(vector)}
        for index, vector in enumerate(vectors)
    ]
    used = sum(tokens for tokens, _ in inputs)
    usage = {"prompt_tokens": used, "total_tokens": used}
    return json_reply(pod, {"object": "list", "data": data, "model": model, "usage": usage})


def dimensions_of(pod: "LivePod") -> int:
    """Return the length of a model's vectors; if it is unknown, an assumed one, which the response header notes."""
    return pod.workload.dimensions or _ASSUMED_DIMENSIONS


def check_size(inputs: int, dimensions: int) -> None:
    """Reject requests whose vectors would block the event loop, and with it all other requests, for too long.

    Raises:
        ApiError: there are too many values.
    """
    if inputs * dimensions > _MAX_VALUES:
        raise ApiError(400, f"input: {inputs} vectors of {dimensions} values are more than {_MAX_VALUES}", "input")


async def compute(pod: "LivePod", request: web.Request, model: str, prompts: list[int]) -> None:
    """Wait as long as embeddings take: one prompt and one step.

    Raises:
        ApiError: a prompt does not fit into the model's context.
    """
    context = pod.workload.context or ASSUMED_CONTEXT
    if max(prompts) > context:
        message = f"This model's maximum context length is {context} tokens. However, your input has {max(prompts)}."
        raise ApiError(400, message, "input", "context")
    one_token = planned_text(AnswerText(model, 0), 1, 1)
    with PodRequest(pod, request, [(prompt, one_token) for prompt in prompts], model) as running:
        await running.all()


def packed(vector: list[float]) -> str:
    """Return a vector in base64: single precision, little endian, as the official client decodes it."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
