"""The entry point of a simulated engine: route a request to a handler, and render errors as the engine does."""

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from components.engines.registry import engines

from ..fleet import ServedWorkload
from ..pace.replica import QueueFullError
from .bodies import FULL, ApiError
from .generation import ClientGoneError, settle_all
from .metrics import metrics_response
from .native import llamacpp, ollama, sglang, tei, tgi, vllm
from .openai.completions import chat, complete
from .openai.dialect import (
    Dialect,
    ErrorForm,
    dialect_of,
    error_of,
    ollama_native_error,
    sglang_native_error,
    tei_native_error,
)
from .openai.embeddings import embed
from .openai.models import list_models, show_model
from .pages import page_of
from .replies import json_reply, text_reply

if TYPE_CHECKING:
    from ..pods.pod import LivePod

Handler = Callable[["LivePod", web.Request], Awaitable[web.StreamResponse]]
Handlers = Mapping[str, Mapping[str, Handler]]
"""By path and method."""
_MODELS = "/v1/models/"
_NATIVE_ERRORS: Mapping[str, tuple[str, Callable[[str], ErrorForm]]] = {
    "ollama": ("/v1/", lambda _: ollama_native_error),
    "sglang": ("/v1/", lambda _: sglang_native_error),
    "tei": ("/v1/", tei_native_error),
}
"""By engine: path prefix of its OpenAI API, and the error format of a version on other paths."""


def handlers_of(workload: ServedWorkload, path: str) -> Mapping[str, Handler]:
    """Return the handlers of a path by method; empty if the engine has no such path."""
    handlers = _handlers(workload.simulated_server)
    return handlers.get(_MODELS if path.startswith(_MODELS) else path, {})


def errors_of(workload: ServedWorkload, path: str) -> ErrorForm:
    """Return the error format of an engine on a path."""
    prefix, native_error = _NATIVE_ERRORS.get(workload.simulated_server, ("/", None))
    if native_error and not path.startswith(prefix):
        return native_error(workload.version)
    return error_of(workload.simulated_server, workload.version)


@functools.cache
def _handlers(engine: str) -> Handlers:
    dialect = dialect_of(engine)

    def bound(handler: Callable[["LivePod", web.Request, Dialect], Awaitable[web.StreamResponse]]) -> Handler:
        return lambda pod, request: handler(pod, request, dialect)

    facts = engines().get(engine)
    health = facts.health if facts else "/health"
    return {
        "/v1/chat/completions": {"POST": bound(chat)},
        "/v1/completions": {"POST": bound(complete)},
        "/v1/embeddings": {"POST": bound(embed)},
        "/v1/models": {"GET": bound(list_models)},
        _MODELS: {"GET": bound(show_model)},
        **({health: {"GET": _healthy}} if health else {}),
        **_NATIVE.get(engine, _VLLM),
    }


async def _healthy(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    return text_reply(pod, "")


def _get(handler: Handler) -> Mapping[str, Handler]:
    return {"GET": handler, "HEAD": handler}


_VLLM: Handlers = {
    "/ping": {"GET": _healthy, "POST": _healthy},
    "/version": {"GET": vllm.version},
    "/load": {"GET": vllm.load},
    "/tokenize": {"POST": vllm.tokenize},
    "/detokenize": {"POST": vllm.detokenize},
}
_NATIVE: Mapping[str, Handlers] = {
    "sglang": {
        "/generate": {"POST": sglang.generate, "PUT": sglang.generate},
        "/health_generate": {"GET": sglang.health_generate},
        "/get_model_info": {"GET": sglang.model_info},
        "/model_info": {"GET": sglang.model_info},
        "/ping": {"GET": _healthy},
    },
    "tgi": {
        "/": {"POST": tgi.generate_either, "GET": _healthy},
        "/generate": {"POST": tgi.generate},
        "/generate_stream": {"POST": tgi.generate_stream},
        "/tokenize": {"POST": tgi.tokenize},
        "/info": {"GET": tgi.info},
        "/ping": {"GET": _healthy},
        "/v1/embeddings": {},
        _MODELS: {},
    },
    "llamacpp": {
        "/health": {"GET": llamacpp.health},
        "/v1/health": {"GET": llamacpp.health},
        "/completion": {"POST": llamacpp.complete},
        "/completions": {"POST": llamacpp.complete},
        "/props": {"GET": llamacpp.props},
        "/slots": {"GET": llamacpp.slots},
        "/tokenize": {"POST": llamacpp.tokenize},
        "/detokenize": {"POST": llamacpp.detokenize},
        _MODELS: {},
    },
    "ollama": {
        "/": _get(ollama.running),
        "/api/version": _get(ollama.version),
        "/api/tags": _get(ollama.tags),
        "/api/ps": {"GET": ollama.loaded},
        "/api/show": {"POST": ollama.show},
        "/api/chat": {"POST": ollama.chat},
        "/api/generate": {"POST": ollama.generate},
        "/api/embed": {"POST": ollama.embed},
        "/api/embeddings": {"POST": ollama.embed_one},
    },
    "tei": {
        "/": {"GET": _healthy, "POST": tei.embed},
        "/health": {"GET": _healthy},
        "/ping": {"GET": _healthy},
        "/info": {"GET": tei.info},
        "/embed": {"POST": tei.embed},
        "/tokenize": {"POST": tei.tokenize},
        "/embeddings": {"POST": tei.openai_embed},
        "/v1/embeddings": {"POST": tei.openai_embed},
        "/v1/chat/completions": {},
        "/v1/completions": {},
        "/v1/models": {},
        _MODELS: {},
    },
}
"""Paths of the native APIs, which may override those of the OpenAI API; an empty mapping removes a path."""


_CLIENT_CLOSED_REQUEST = 499
"""nginx's status for a client that disconnected (``NGX_HTTP_CLIENT_CLOSED_REQUEST``). Only the metrics show it."""


async def answer(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer a request to a pod, in simulated time; never raises because of a client's input.

    Cancellation, as by a server whose client disconnected, aborts the request.
    """
    path = request.path
    workload = pod.workload
    metrics_page = page_of(workload.simulated_server, workload.version, workload.context)
    if path == metrics_page.path and request.method == "GET":
        settle_all(pod)
        try:
            page = metrics_response(pod)
        except ApiError as error:
            return _error_reply(pod, request, error)
        if page is not None:
            return page
    handlers, started = handlers_of(workload, path), pod.clock()
    handler = handlers.get(request.method)
    response: web.StreamResponse
    try:
        if handler is not None:
            response = await handler(pod, request)
        elif handlers:
            response = _error_reply(pod, request, ApiError(405, "Method Not Allowed", kind="method"))
        else:
            response = _error_reply(pod, request, ApiError(404, "Not Found", kind="path"))
    except (ClientGoneError, ConnectionError):
        response = web.Response(status=_CLIENT_CLOSED_REQUEST)
    except QueueFullError:
        response = _error_reply(pod, request, FULL)
    except ApiError as error:
        response = _error_reply(pod, request, error)
    except RecursionError:
        response = _error_reply(pod, request, ApiError(400, "the body is nested too deeply", kind="body"))
    # Labels of prometheus-fastapi-instrumentator: unknown paths are one handler, and statuses are grouped.
    label, status = path if handlers else "none", str(response.status)[0] + "xx"
    pod.meter.statuses[label, request.method, status] += 1
    counts = pod.meter.http[label, request.method]
    counts.number += 1
    counts.seconds.observe(pod.clock() - started)
    counts.received += request.content_length or 0
    counts.sent += response.content_length or 0
    return response


def _error_reply(pod: "LivePod", request: web.Request, error: ApiError) -> web.StreamResponse:
    if request.method == "POST":
        pod.refused += 1
        pod.meter.failures["overloaded" if error.kind == "full" else "validation"] += 1
    status, content = errors_of(pod.workload, request.path)(error)
    return text_reply(pod, content, status) if isinstance(content, str) else json_reply(pod, content, status)
