"""``/v1/models``: every model name that the engine accepts.

Sources: vLLM ``vllm/entrypoints/openai/models/serving.py`` (show_available_models: the base model's names, then
adapters with their parent) and ``engine/protocol.py`` (ModelCard, ModelPermission); SGLang
``python/sglang/srt/entrypoints/http_server.py`` (available_models); TGI ``router/src/server.rs``
(openai_get_model_info); llama.cpp ``tools/server/server.cpp`` (handle_models); ollama ``openai/openai.go``
(ToListCompletion).
"""

from typing import TYPE_CHECKING, Any

from aiohttp import web

from ..bodies import ApiError
from ..replies import json_reply
from .dialect import Dialect

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_OWNERS = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llamacpp", "ollama": "library"}


async def list_models(
    pod: "LivePod",
    request: web.Request,  # noqa: ARG001
    dialect: Dialect,  # noqa: ARG001
) -> web.StreamResponse:
    """Answer ``GET /v1/models``."""
    names = pod.workload.models if pod.workload.engine != "tgi" else (pod.workload.loaded or pod.workload.models[0],)
    cards = [_card(pod, name) for name in names]
    return json_reply(pod, {"object": "list", "data": cards})


async def show_model(pod: "LivePod", request: web.Request, dialect: Dialect) -> web.StreamResponse:  # noqa: ARG001
    """Answer ``GET /v1/models/<name>``."""
    name = request.path.removeprefix("/v1/models/")
    if name not in pod.workload.models:
        raise ApiError(404, f"The model `{name}` does not exist.", "model", "model")
    return json_reply(pod, _card(pod, name))


def _card(pod: "LivePod", name: str) -> dict[str, Any]:
    workload = pod.workload
    owner = _OWNERS.get(workload.engine, "vllm")
    card: dict[str, Any] = {"id": name, "object": "model", "created": pod.started_at, "owned_by": owner}
    if workload.engine == "tgi":
        return {**card, "created": 0, "owned_by": name}
    if workload.engine in ("ollama", "llamacpp"):
        return card
    adapter = name in workload.adapters
    parent = workload.models[0] if adapter else None
    root = name if adapter else workload.loaded or name
    context = None if adapter else workload.context
    return {**card, "root": root, "parent": parent, "max_model_len": context}
