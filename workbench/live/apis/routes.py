"""Which paths an engine answers, and how it refuses."""

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from components.engines.registry import engines

from ..served import ServedWorkload
from .openai.dialect import Dialect, ErrorForm, dialect_of
from .openai.embeddings import embed
from .openai.models import list_models, show_model
from .openai.texts import chat, complete
from .replies import text_reply

if TYPE_CHECKING:
    from ..pods.pod import LivePod

Handler = Callable[["LivePod", web.Request], Awaitable[web.StreamResponse]]
Handlers = Mapping[str, Mapping[str, Handler]]
"""By path and method."""
_MODELS = "/v1/models/"


def handlers_of(workload: ServedWorkload, path: str) -> Mapping[str, Handler]:
    """Return the handlers of a path by method; none where the engine has no such path."""
    handlers = _handlers(workload.engine)
    return handlers.get(_MODELS if path.startswith(_MODELS) else path, {})


def errors_of(workload: ServedWorkload, path: str) -> ErrorForm:  # noqa: ARG001
    """Return how an engine refuses on a path."""
    return dialect_of(workload.engine).error


@functools.cache
def _handlers(engine: str) -> Handlers:
    known = engines().get(engine)
    health = known.health if known else "/health"
    return {**_openai(dialect_of(engine)), health: {"GET": _healthy}}


def _openai(dialect: Dialect) -> Handlers:
    def bound(handler: Callable[["LivePod", web.Request, Dialect], Awaitable[web.StreamResponse]]) -> Handler:
        return lambda pod, request: handler(pod, request, dialect)

    return {
        "/v1/chat/completions": {"POST": bound(chat)},
        "/v1/completions": {"POST": bound(complete)},
        "/v1/embeddings": {"POST": bound(embed)},
        "/v1/models": {"GET": bound(list_models)},
        _MODELS: {"GET": bound(show_model)},
    }


async def _healthy(pod: "LivePod", _request: web.Request) -> web.StreamResponse:
    return text_reply(pod, "")
