"""vLLM's own paths, in addition to OpenAI's.

Sources: ``vllm/entrypoints/openai/api_server.py`` and ``vllm/entrypoints/serve/tokenize``, documented in
``docs/serving/openai_compatible_server.md``.
"""

from typing import TYPE_CHECKING

from aiohttp import web

from .. import bodies
from ..bodies import MAX_TEXT_BYTES, ApiError, read_object
from ..openai.dialect import VLLM
from ..openai.requests import MARKS, contents_of, model_in
from ..replies import json_reply
from ..tokens import IDS

if TYPE_CHECKING:
    from ...pods.pod import LivePod


async def version(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /version``."""
    return json_reply(pod, {"version": pod.workload.version.removeprefix("v")})


async def load(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    """Answer ``GET /load``."""
    return json_reply(pod, {"server_load": pod.replica.waiting + pod.replica.running})


async def tokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /tokenize`` for a text, or for a chat."""
    body = await read_object(request, MAX_TEXT_BYTES)
    model_in(pod, VLLM, body)
    prompt = bodies.text(body, "prompt")
    if prompt is not None:
        tokens = IDS.of(prompt)
    elif body.get("messages"):
        # Zeros stand for the special tokens of the chat template around each message.
        tokens = [number for content in contents_of(body) for number in (*[0] * MARKS, *IDS.of(content))]
    else:
        raise ApiError(400, "prompt or messages: one of them must be there", "prompt", "body")
    return json_reply(
        pod, {"count": len(tokens), "max_model_len": pod.workload.context, "tokens": tokens, "token_strs": None}
    )


async def detokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /detokenize``."""
    body = await read_object(request, MAX_TEXT_BYTES)
    model_in(pod, VLLM, body)
    return json_reply(pod, {"prompt": IDS.text(bodies.integers(body, "tokens"))})
