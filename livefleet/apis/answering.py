"""The one entry: a pod answers a request as its engine would."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from ..pace.replica import QueueFullError
from .bodies import FULL, ApiError
from .exposition import metrics_response
from .generating import ClientGoneError, settle_all
from .pages import page_of
from .replies import json_reply, text_reply
from .routes import Handler, errors_of, handlers_of

if TYPE_CHECKING:
    from ..pods.pod import LivePod

_GONE = 499
"""What servers log where a client hung up; nobody reads it."""


async def answer(pod: "LivePod", request: web.Request) -> web.StreamResponse:
    """Answer a request to a pod, in simulated time; never raises for what a client sends.

    Cancelling it, as a server does with the requests of a client that hung up, gives the request up.
    """
    path = request.path
    workload = pod.workload
    if path == page_of(workload.played, workload.version, workload.context).path and request.method == "GET":
        settle_all(pod)
        try:
            page = metrics_response(pod)
        except ApiError as error:
            return _refusal(pod, request, error)
        if page is not None:
            return page
    handlers, began = handlers_of(workload, path), pod.clock()
    response = await _answered(pod, request, handlers)
    first, handler = str(response.status)[0] + "xx", path if handlers else "none"
    pod.meter.statuses[handler, request.method, first] += 1
    counts = pod.meter.http[handler, request.method]
    counts.number += 1
    counts.seconds.observe(pod.clock() - began)
    counts.received += request.content_length or 0
    counts.sent += response.content_length or 0
    return response


async def _answered(pod: "LivePod", request: web.Request, handlers: Mapping[str, Handler]) -> web.StreamResponse:
    try:
        handler = handlers.get(request.method)
        if handler is None:
            status, message = (405, "Method Not Allowed") if handlers else (404, "Not Found")
            return _refusal(pod, request, ApiError(status, message, kind="method" if handlers else "path"))
        response = await handler(pod, request)
    except (ClientGoneError, ConnectionError):
        return web.Response(status=_GONE)
    except QueueFullError:
        return _refusal(pod, request, FULL)
    except ApiError as error:
        return _refusal(pod, request, error)
    except RecursionError:
        return _refusal(pod, request, ApiError(400, "the body is nested too deeply", kind="body"))
    return response


def _refusal(pod: "LivePod", request: web.Request, error: ApiError) -> web.StreamResponse:
    if request.method == "POST":
        pod.refused += 1
        pod.meter.failures["overloaded" if error.kind == "full" else "validation"] += 1
    status, content = errors_of(pod.workload, request.path)(error)
    return text_reply(pod, content, status) if isinstance(content, str) else json_reply(pod, content, status)
