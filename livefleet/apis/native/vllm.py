"""vLLM's own paths beside OpenAI's.

Sources: ``vllm/entrypoints/openai/api_server.py`` and ``vllm/entrypoints/serve/tokenize``, documented in
``docs/serving/openai_compatible_server.md``.
"""

from typing import TYPE_CHECKING

from aiohttp import web

from .. import bodies
from ..bodies import MOST_TEXT, ApiError, Body, read_object
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
    """Answer ``POST /tokenize``: a text, or a chat with the marks around its messages."""
    body = await read_object(request, MOST_TEXT)
    model_in(pod, VLLM, body)
    tokens = _tokens(body)
    found = {"count": len(tokens), "max_model_len": pod.workload.context, "tokens": tokens, "token_strs": None}
    return json_reply(pod, found)


async def detokenize(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer ``POST /detokenize``."""
    body = await read_object(request, MOST_TEXT)
    model_in(pod, VLLM, body)
    return json_reply(pod, {"prompt": IDS.text(bodies.numbers(body, "tokens"))})


def _tokens(body: Body) -> list[int]:
    prompt = bodies.text(body, "prompt")
    if prompt is not None:
        return IDS.of(prompt)
    if not body.get("messages"):
        raise ApiError(400, "prompt or messages: one of them must be there", "prompt", "body")
    return [number for content in contents_of(body) for number in (*[0] * MARKS, *IDS.of(content))]
