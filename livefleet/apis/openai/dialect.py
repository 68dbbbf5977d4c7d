"""Differences between the engines in the OpenAI API: errors, names of models, the end of a stream.

Sources: vLLM ``vllm/entrypoints/openai/engine/protocol.py`` (ErrorResponse) and ``models/serving.py``; SGLang
``python/sglang/srt/entrypoints/openai/serving_base.py``; TGI ``router/src/lib.rs`` (ErrorResponse); llama.cpp
``tools/server/utils.hpp`` (format_error_response); ollama ``openai/openai.go`` (NewError).
"""

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from components.engines.registry import engines
from components.engines.versions import Version

from ..bodies import ApiError

ErrorForm = Callable[[ApiError], tuple[int, Any]]
"""Returns status and body of an error."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's implementation of the OpenAI API.

    Attributes:
        error: Error format.
        strict: Whether it rejects unknown model names; otherwise it accepts any name.
        finish_in_last_chunk: Whether a stream has the finish reason in the chunk of the last token; otherwise in one
            after it.
        truncates: Whether it truncates answers at the end of the context; otherwise it rejects such requests.
        default_max_tokens: Default ``max_tokens`` of completions; None for no limit.
        embedding_error: Error for embeddings of a text model; None if it serves them anyway.
        tool_finish: Finish reasons of a tool call: of a tool named by the client, and of any tool.
        ignores_tool_choice: Whether it ignores ``tool_choice`` and leaves the choice to the model.
        guided: Whether it has vLLM's own fields for structured output.
        image_status: Status for images that the model does not accept.
        image_text: Text that replaces an image that the model does not accept, with ``<url>``; empty to drop it.
        stream_error: Error event, if the engine validates a request after the stream has started; None if it rejects
            the request with a status.
    """

    error: ErrorForm
    strict: bool = True
    finish_in_last_chunk: bool = False
    truncates: bool = False
    default_max_tokens: int | None = None
    embedding_error: ApiError | None = None
    tool_finish: tuple[str, str] = ("stop", "tool_calls")
    ignores_tool_choice: bool = False
    guided: bool = False
    image_status: int = 400
    image_text: str = ""
    stream_error: Callable[[ApiError], Any] | None = None


_VLLM_TYPES = {"model": "NotFoundError", "body": "Bad Request", "full": "ServiceUnavailableError"}


def vllm_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of vLLM (``create_error_response``)."""
    if error.kind in ("path", "method"):
        return error.status, {"detail": error.message}
    return error.status, {"error": _vllm_fields(error)}


def old_vllm_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of vLLM before 0.10, whose fields are at the top level of the body."""
    if error.kind in ("path", "method"):
        return vllm_error(error)
    return error.status, {"object": "error", **_vllm_fields(error)}


def _vllm_fields(error: ApiError) -> dict[str, Any]:
    kind = _VLLM_TYPES.get(error.kind, "BadRequestError")
    return {"message": error.message, "type": kind, "param": error.field or None, "code": error.status}


def sglang_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of SGLang (``create_error_response`` of ``OpenAIServingBase``)."""
    if error.kind in ("path", "method"):
        return error.status, {"detail": error.message}
    kind = "Bad Request" if error.kind == "body" else "BadRequestError" if error.status == 400 else str(error.status)
    inner = {"object": "error", "message": error.message, "type": kind, "param": error.field or None}
    return error.status, {**inner, "code": error.status}


def tgi_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of Text Generation Inference.

    Invalid values have status 422 (``InferError``). Malformed bodies are rejected in plain text by its framework
    (axum's ``JsonRejection``).
    """
    match error.kind:
        case "full":
            return 429, {"error": "Model is overloaded", "error_type": "overloaded"}
        case "path" | "method":
            return error.status, ""
        case "size":
            return 413, "Failed to buffer the request body: length limit exceeded"
        case "body" if error.field:
            return 422, f"Failed to deserialize the JSON body into the target type: {error.message}"
        case "body":
            return 400, f"Failed to parse the request body as JSON: {error.message}"
    status = 422 if error.status == 400 else error.status
    return status, {"error": f"Input validation error: {error.message}", "error_type": "validation"}


def sglang_stream_error(error: ApiError) -> Any:  # noqa: ANN401  any JSON
    """Return an error event of SGLang (``create_streaming_error_response``)."""
    return {"error": sglang_error(error)[1]}


def tgi_stream_error(error: ApiError) -> Any:  # noqa: ANN401  any JSON
    """Return an error event of Text Generation Inference (``into_openai_event``)."""
    return {"error": {"message": tgi_error(error)[1]["error"], "http_status_code": 422}}


_LLAMACPP_TYPES = {
    404: "not_found_error",
    500: "server_error",
    501: "not_supported_error",
    503: "unavailable_error",
}


def llamacpp_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of llama.cpp (``format_error_response``)."""
    if error.kind in ("path", "method"):
        return 404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}
    kind = _LLAMACPP_TYPES.get(error.status, "invalid_request_error")
    if error.kind == "context":
        kind = "exceed_context_size_error"
    return error.status, {"error": {"code": error.status, "message": error.message, "type": kind}}


def ollama_native_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of ollama's native API; its framework (gin) reports unknown paths and methods in plain text."""
    match error.kind:
        case "path":
            return 404, "404 page not found"
        case "method":
            return 405, "405 method not allowed"
        case "full":
            return 503, {"error": "server busy, please try again.  maximum pending requests exceeded"}
        case _:
            return error.status, {"error": error.message}


def sglang_native_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of SGLang's native API (``_create_error_response`` of ``http_server.py``)."""
    if error.kind in ("path", "method"):
        return sglang_error(error)
    return error.status, {"error": {"message": error.message}}


_OLLAMA_TYPES = {400: "invalid_request_error", 404: "not_found_error"}


def ollama_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of ollama's ``/v1`` (``openai.NewError``)."""
    if error.kind in ("path", "method", "full"):
        return ollama_native_error(error)
    kind = _OLLAMA_TYPES.get(error.status, "api_error")
    return error.status, {"error": {"message": error.message, "type": kind, "param": None, "code": None}}


def tei_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of text-embeddings-inference (``ErrorResponse`` of ``router/src/lib.rs``)."""
    match error.kind:
        case "full":
            return 429, {"error": "Model is overloaded", "error_type": "Overloaded"}
        case "path" | "method" | "size" | "body":
            return tgi_error(error)
    status = 400 if error.kind == "empty" else 422
    return status, {"error": error.message, "error_type": "Empty" if error.kind == "empty" else "Validation"}


def old_tei_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of text-embeddings-inference before 1.9: status 413 for invalid values."""
    status, content = tei_error(error)
    # A text comes from the framework, which has its own statuses.
    is_invalid_value = status == 422 and isinstance(content, dict)
    return (413 if is_invalid_value else status), content


def tei_openai_error(error: ApiError, form: ErrorForm = tei_error) -> tuple[int, Any]:
    """Return an error of text-embeddings-inference's ``/v1`` (``OpenAICompatErrorResponse``)."""
    status, content = form(error)
    if isinstance(content, str):
        return status, content
    return status, {"message": content["error"], "code": status, "type": content["error_type"]}


_UNPROCESSABLE = (1, 9)
"""The version of text-embeddings-inference since which invalid values have status 422 (``From<&ErrorType>``)."""


def tei_native_error(version: str) -> ErrorForm:
    """Return the error format of a version of text-embeddings-inference; of the newest if unknown."""
    numbers = tuple(map(int, re.findall(r"\d+", version)))
    return old_tei_error if numbers and numbers < _UNPROCESSABLE else tei_error


_NESTED = (0, 10)
"""The version of vLLM since which an error is nested in the body (``error``)."""
_NO_EMBEDDINGS = ApiError(400, "The model does not support Embeddings API")
_TOOL_CALLS = ("tool_calls", "tool_calls")
# Finish reasons of tool calls: vLLM since pull request 25054 as in OpenAI's API; SGLang ``serving_chat.py``
# (_process_tool_calls); llama.cpp ``tools/server/utils.hpp``; TGI ``router/src/chat.rs`` keeps that of the text.
# Images: SGLang ``jinja_template_utils.py`` drops them if the chat template only has text, and has no processor for a
# model without images; TGI ``router/src/lib.rs`` writes them as Markdown (its issue 2565); the others reject them.
VLLM = Dialect(
    vllm_error, finish_in_last_chunk=True, default_max_tokens=16, embedding_error=_NO_EMBEDDINGS, guided=True
)
DIALECTS: Mapping[str, Dialect] = {
    "vllm": VLLM,
    "sglang": Dialect(
        sglang_error,
        strict=False,
        default_max_tokens=16,
        embedding_error=_NO_EMBEDDINGS,
        tool_finish=_TOOL_CALLS,
        stream_error=sglang_stream_error,
    ),
    "tgi": Dialect(
        tgi_error,
        strict=False,
        finish_in_last_chunk=True,
        tool_finish=("stop", "stop"),
        image_text="![](<url>)",
        stream_error=tgi_stream_error,
    ),
    "llamacpp": Dialect(
        llamacpp_error,
        strict=False,
        truncates=True,
        embedding_error=ApiError(501, "This server does not support embeddings: it was started without them"),
        tool_finish=_TOOL_CALLS,
        image_status=500,
    ),
    "ollama": Dialect(ollama_error, truncates=True, ignores_tool_choice=True, image_status=500),
    "tei": Dialect(tei_openai_error, strict=False),
}


def dialect_of(engine: str) -> Dialect:
    """Return the dialect of an engine; vLLM's for an unknown one."""
    return DIALECTS.get(engine, VLLM)


def vllm_version(version: str) -> Version | None:
    """Return a version of vLLM; None for the newest."""
    return engines()["vllm"].version(version)


def error_of(engine: str, version: str) -> ErrorForm:
    """Return the error format of an engine's version in the OpenAI API."""
    if engine == "tei":
        return functools.partial(tei_openai_error, form=tei_native_error(version))
    known = vllm_version(version) if engine == "vllm" else None
    return old_vllm_error if known and known < _NESTED else dialect_of(engine).error
