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
"""Of a vector of a model whose own are not known."""
MOST_DIMENSIONS = 8192
_MOST_VALUES = 2**20
"""Of all vectors together."""


async def embed(pod: "LivePod", request: web.Request, dialect: Dialect) -> web.StreamResponse:
    """Answer ``POST /v1/embeddings``."""
    if dialect.embeds and not pod.workload.embeds:
        raise ApiError(dialect.embeds.status, dialect.embeds.message)
    body = await read_object(request)
    model = model_in(pod, dialect, body)
    inputs = await read_embedding_inputs(body)
    form = bodies.text(body, "encoding_format") or "float"
    if form not in ("float", "base64"):
        raise ApiError(400, "encoding_format: must be float or base64", "encoding_format")
    dimensions = bodies.whole(body, "dimensions", 1) or dimensions_of(pod)
    most = pod.workload.dimensions or MOST_DIMENSIONS
    if dimensions > most:
        raise ApiError(400, f"dimensions: at most {most}, found {dimensions}", "dimensions")
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
    """Return the length of a model's vectors; an assumed one where it is not known, which the header says."""
    return pod.workload.dimensions or _ASSUMED_DIMENSIONS


def check_size(inputs: int, dimensions: int) -> None:
    """Refuse what would keep all other requests waiting.

    Raises:
        ApiError: it is too much.
    """
    if inputs * dimensions > _MOST_VALUES:
        raise ApiError(400, f"input: {inputs} vectors of {dimensions} values are more than {_MOST_VALUES}", "input")


async def compute(pod: "LivePod", request: web.Request, model: str, prompts: list[int]) -> None:
    """Take the time that embeddings take: that of a prompt and one step.

    Raises:
        ApiError: one does not fit into the model's context.
    """
    context = pod.workload.context or ASSUMED_CONTEXT
    if max(prompts) > context:
        message = f"This model's maximum context length is {context} tokens. However, your input has {max(prompts)}."
        raise ApiError(400, message, "input", "context")
    nothing = planned_text(AnswerText(model, 0), 1, 1)
    with PodRequest(pod, request, [(prompt, nothing) for prompt in prompts], model) as running:
        await running.all()


def packed(vector: list[float]) -> str:
    """Return a vector as clients unpack it: single precision, little endian."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
