"""Processing of a request and its response.

A stand-in for ai-gateway v1.1.0 ``internal/extproc/processor_impl.go`` and ``models_processor.go``. Envoy opens two
streams for a request: one from the listener's chain, with the request and the response, and one from the chain of the
chosen backend's cluster, with the request headers.
"""

import json
from collections.abc import Mapping

from ..protocol import Message
from . import messages
from .config import MODEL_HEADER, ProcessorConfig
from .requests import UNSUPPORTED, AiPath, AiRequest, MalformedRequestError, read_request
from .usage import UsageReader

REQUEST_ID = "x-ai-eg-internal-req-id"
_ORIGINAL_PATHS = ("x-ai-eg-original-path", "x-envoy-original-path")
_UPSTREAM_HOST = "x-ai-eg-upstream-host"
_OWNER = "Envoy AI Gateway"
"""``defaultOwnedBy``, ``internal/controller/gateway.go``."""


class ProcessingError(Exception):
    """The request cannot be processed; Envoy responds with 500, as it does when the real one aborts a stream."""


def gateway_response(path: str, headers: Mapping[str, str], config: ProcessorConfig) -> Message | None:
    """Return the gateway's own response to the headers of a request; None if a backend must respond."""
    path_only = path.partition("?")[0]
    if path_only == AiPath.MODELS:
        host = headers.get(":authority", "").rsplit(":", 1)[0].lower()
        data = [{"id": model, "created": 0, "object": "model", "owned_by": _OWNER} for model in config.for_host(host)]
        return messages.immediate(200, json.dumps({"data": data, "object": "list"}).encode())
    if path_only in UNSUPPORTED:
        reason = f"the stand-in for Envoy AI Gateway does not support {path_only}"
        return messages.immediate(501, reason.encode(), None)
    if path_only not in list(AiPath):
        return messages.immediate(404, f"unsupported path: {path}".encode(), None)
    return None


class RequestProcessor:
    """One request, from its headers to the end of its response.

    Attributes:
        headers: The client's headers, with those that were added.
    """

    def __init__(self, config: ProcessorConfig, headers: dict[str, str], number: str) -> None:
        self.headers = headers
        self._config = config
        self._number = number
        self._path = AiPath(headers[":path"].partition("?")[0])
        self._request: AiRequest | None = None
        self._tries = 0
        self._target: tuple[str, str, str] = ("", "", "")
        self._response_headers: dict[str, str] = {}
        self._usage = UsageReader(stream=False)

    def on_headers(self) -> Message:
        """Add a header with the request's number, which identifies it on the stream of the backend's chain."""
        return messages.request_headers({REQUEST_ID: self._number})

    def on_body(self, body: bytes) -> Message:
        """Set the header that routes match: the model's name."""
        try:
            request = read_request(self._path, body, counted=bool(self._config.costs))
        except MalformedRequestError as problem:
            error = {"type": "BadRequest", "code": "400", "message": str(problem)}
            return messages.immediate(400, json.dumps({"type": "error", "error": error}).encode())
        self._request = request
        # These headers are the gateway's own: values that the client sent are overwritten.
        path = self.headers[":path"]
        added = {MODEL_HEADER: request.model, **dict.fromkeys(_ORIGINAL_PATHS, path)}
        self.headers |= added
        return messages.request_body(added)

    def to_backend(self, name: str, route: str) -> Message:
        """Rewrite the request for its backend, on the stream of the backend's chain.

        Raises:
            ProcessingError: the backend is unknown, or the request had no body.
        """
        backend, request = self._config.backends.get(name), self._request
        if backend is None or request is None:
            raise ProcessingError(f"unknown backend: {name}" if backend is None else "the request has no body")
        self._tries += 1
        self._usage = UsageReader(stream=request.stream)
        self._target = name, route, backend.model or request.model
        if backend.model:
            fields = {**json.loads(request.body), "model": backend.model}
            body: bytes | None = json.dumps(fields, separators=(",", ":")).encode()
        else:
            # A retry always gets its body: the first attempt may have replaced it for another backend.
            body = request.body if request.rewritten or self._tries > 1 else None
        prefix = [part for part in backend.prefix.split("/") if part]
        added = {":path": "/".join(["", *prefix, request.path.suffix]), **backend.added}
        metadata: dict[str, object] = {"backend_name": name}
        if body is not None:
            metadata["content_length"] = len(body)
        removed = [header for header in backend.removed if header in self.headers]
        return messages.request_headers(added, [*removed, _UPSTREAM_HOST], body, metadata)

    def on_response_headers(self, headers: dict[str, str]) -> Message:
        """Record the headers of the response; a stream is not buffered."""
        self._response_headers = headers
        streamed = self._request is not None and self._request.stream and headers.get(":status") == "200"
        return messages.response_headers(streamed=bool(self._tries) and streamed)

    def on_response_body(self, piece: bytes, *, ends: bool) -> Message:
        """Count the tokens of a response, or of a chunk of it.

        Raises:
            ProcessingError: the engine's response is not JSON.
        """
        if not self._tries:
            return messages.response_body()
        if not self._response_headers.get(":status", "").startswith("2"):
            return self._converted_error(piece)
        try:
            self._usage.read(piece)
        except ValueError as problem:
            raise ProcessingError(f"failed to transform response: {problem}") from None
        return messages.response_body(self._metadata() if ends else None)

    def _converted_error(self, piece: bytes) -> Message:
        """Convert an engine's error to OpenAI's format, unless it is JSON already (``convertErrorOpenAI...``)."""
        if "application/json" in self._response_headers.get("content-type", "") or self._path == AiPath.COMPLETIONS:
            return messages.response_body()
        text = piece.decode(errors="replace")
        error = {"type": "OpenAIBackendError", "code": self._response_headers[":status"], "message": text}
        body = json.dumps({"type": "error", "error": error}).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body))}
        return messages.response_body(body=body, added=headers)

    def _metadata(self) -> dict[str, object]:
        """Return the token counts and names for the access log and for rate limits."""
        if not self._config.costs:
            return {}
        name, route, model = self._target
        costs = {key: self._usage.cost(kind) for key, kind in self._config.costs.get(route, {}).items()}
        service_backend = "/".join(name.split("/")[:2])
        metadata = {
            **costs,
            "model_name_override": model,
            "ai_service_backend_name": service_backend,
            "route_name": route,
        }
        return {**metadata, "response_model": self._usage.model} if self._usage.model else metadata
