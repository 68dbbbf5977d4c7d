"""How engines differ in OpenAI's API: errors, names of models, the end of a stream.

Sources: vLLM ``vllm/entrypoints/openai/engine/protocol.py`` (ErrorResponse) and ``models/serving.py``; SGLang
``python/sglang/srt/entrypoints/openai/serving_base.py``; TGI ``router/src/lib.rs`` (ErrorResponse); llama.cpp
``tools/server/utils.hpp`` (format_error_response); ollama ``openai/openai.go`` (NewError).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from components.engines.registry import engines

from ..bodies import ApiError

ErrorForm = Callable[[ApiError], tuple[int, Any]]
"""Returns status and body of an error."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's way of speaking OpenAI's API.

    Attributes:
        error: How it refuses.
        strict: Whether it knows the names of its models; another one answers to every name.
        joined: Whether the reason of the end comes with the last token of a stream; otherwise after it.
        fitted: Whether an answer that does not fit into the context ends there; otherwise it is refused.
        short: Tokens of a completion for which the client says nothing; None if it ends by itself.
        embeds: What it says to a request for embeddings where the model makes texts; None if it makes them all the
            same.
        late: What is sent of an error where the stream has begun before the engine looks at the request; None where
            the request is refused with a status.
    """

    error: ErrorForm
    strict: bool = True
    joined: bool = False
    fitted: bool = False
    short: int | None = None
    embeds: ApiError | None = None
    late: Callable[[ApiError], Any] | None = None


_VLLM_TYPES = {"model": "NotFoundError", "body": "Bad Request", "full": "ServiceUnavailableError"}


def vllm_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of vLLM (``create_error_response``)."""
    if error.kind in ("path", "method"):
        return error.status, {"detail": error.message}
    return error.status, {"error": _vllm_fields(error)}


def old_vllm_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of vLLM before 0.10, which has the fields of an error on top."""
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

    What does not validate is unprocessable (``InferError``). Of bodies that are not what they should be its framework
    speaks in plain text (axum's ``JsonRejection``).
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


def sglang_late(error: ApiError) -> Any:  # noqa: ANN401  any JSON
    """Return an error within a stream of SGLang (``create_streaming_error_response``)."""
    return {"error": sglang_error(error)[1]}


def tgi_late(error: ApiError) -> Any:  # noqa: ANN401  any JSON
    """Return an error within a stream of Text Generation Inference (``into_openai_event``)."""
    return {"error": {"message": tgi_error(error)[1]["error"], "http_status_code": 422}}


_LLAMACPP_TYPES = {404: "not_found_error", 501: "not_supported_error", 503: "unavailable_error"}


def llamacpp_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of llama.cpp (``format_error_response``)."""
    if error.kind in ("path", "method"):
        return 404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}
    kind = _LLAMACPP_TYPES.get(error.status, "invalid_request_error")
    if error.kind == "context":
        kind = "exceed_context_size_error"
    return error.status, {"error": {"code": error.status, "message": error.message, "type": kind}}


def ollama_own_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of ollama's own API; of paths its framework speaks in plain text (gin)."""
    match error.kind:
        case "path":
            return 404, "404 page not found"
        case "method":
            return 405, "405 method not allowed"
        case "full":
            return 503, {"error": "server busy, please try again.  maximum pending requests exceeded"}
        case _:
            return error.status, {"error": error.message}


def sglang_own_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of SGLang's own API (``_create_error_response`` of ``http_server.py``)."""
    if error.kind in ("path", "method"):
        return sglang_error(error)
    return error.status, {"error": {"message": error.message}}


_OLLAMA_TYPES = {400: "invalid_request_error", 404: "not_found_error"}


def ollama_error(error: ApiError) -> tuple[int, Any]:
    """Return an error of ollama's ``/v1`` (``openai.NewError``)."""
    if error.kind in ("path", "method", "full"):
        return ollama_own_error(error)
    kind = _OLLAMA_TYPES.get(error.status, "api_error")
    return error.status, {"error": {"message": error.message, "type": kind, "param": None, "code": None}}


_NESTED = (0, 10)
"""The version of vLLM from which an error is an object of its own in the answer."""
_NO_EMBEDDINGS = ApiError(400, "The model does not support Embeddings API")
VLLM = Dialect(vllm_error, joined=True, short=16, embeds=_NO_EMBEDDINGS)
DIALECTS: Mapping[str, Dialect] = {
    "vllm": VLLM,
    "sglang": Dialect(sglang_error, strict=False, short=16, embeds=_NO_EMBEDDINGS, late=sglang_late),
    "tgi": Dialect(tgi_error, strict=False, joined=True, late=tgi_late),
    "llamacpp": Dialect(
        llamacpp_error,
        strict=False,
        fitted=True,
        embeds=ApiError(501, "This server does not support embeddings: it was started without them"),
    ),
    "ollama": Dialect(ollama_error, fitted=True),
}


def dialect_of(engine: str) -> Dialect:
    """Return how an engine speaks; one that is not known speaks as vLLM does."""
    return DIALECTS.get(engine, VLLM)


def error_of(engine: str, version: str) -> ErrorForm:
    """Return how a version of an engine refuses in OpenAI's API."""
    known = engines()["vllm"].version(version) if engine == "vllm" else None
    return old_vllm_error if known and known < _NESTED else dialect_of(engine).error
