"""Parse and validate the bodies of requests.

A stand-in for ai-gateway v1.1.0 ``internal/endpointspec/endpointspec.go`` and ``internal/apischema/openai``. It
checks the types of the fields that decide where a request goes, and the roles of messages; engines check the rest.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class AiPath(StrEnum):
    """The paths that the stand-in supports."""

    CHAT = "/v1/chat/completions"
    COMPLETIONS = "/v1/completions"
    EMBEDDINGS = "/v1/embeddings"
    MODELS = "/v1/models"

    @property
    def suffix(self) -> str:
        """The path after the prefix of a backend."""
        return self.value.removeprefix("/v1/")


UNSUPPORTED = frozenset(
    {
        "/v1/responses",
        "/v1/responses/input_tokens",
        "/v1/audio/speech",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/v1/images/generations",
        "/cohere/v2/rerank",
        "/anthropic/v1/models",
        "/anthropic/v1/messages",
        "/anthropic/v1/messages/count_tokens",
        "/tokenize",
    }
)
"""Paths that only the real one supports (``cmd/extproc/mainlib/main.go``, with its default prefixes)."""

_INTEGERS = ("max_tokens", "max_completion_tokens", "n", "top_logprobs")
_ROLES = ("user", "assistant", "system", "developer", "tool")
_INT64 = 2**63
_IN_A_HEADER = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
"""Characters that the value of a header may have (RFC 9110, section 5.5) and UTF-8 can encode."""
_LONGEST_MODEL = 4096
"""Characters: routes match header values up to this length (HTTPHeaderMatch of the Gateway API)."""


class MalformedRequestError(Exception):
    """A body is not valid for its path; the message goes to the client."""


@dataclass(frozen=True, slots=True)
class AiRequest:
    """The part of a request that the gateway uses.

    Attributes:
        model: Empty if the request names none.
        body: The body to forward; if ``rewritten``, it differs from the client's.
    """

    path: AiPath
    model: str
    stream: bool
    body: bytes
    rewritten: bool = False


def read_request(path: AiPath, body: bytes, *, counted: bool) -> AiRequest:
    """Parse a request.

    Args:
        path: The path of the request.
        body: The client's body.
        counted: Whether tokens are counted, for which a streamed chat must report its usage.

    Raises:
        MalformedRequestError: the body is invalid.
    """
    reason = f"malformed request: failed to parse JSON for {path}: "
    try:
        fields = json.loads(body, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedRequestError(reason + (str(error) or "nested too deeply")) from None
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        raise MalformedRequestError(f"{reason}must be an object")
    if problem := _problem(path, fields):
        raise MalformedRequestError(reason + problem)
    model, stream = fields.get("model") or "", bool(fields.get("stream")) and path != AiPath.EMBEDDINGS
    if path == AiPath.CHAT and stream and counted:
        options = fields.get("stream_options") or {}
        if not options.get("include_usage"):
            extended = {**fields, "stream_options": {**options, "include_usage": True}}
            return AiRequest(
                path, model, stream, json.dumps(extended, separators=(",", ":")).encode(), rewritten=True
            )
    return AiRequest(path, model, stream, body)


def _reject_constant(constant: str) -> None:
    """Reject NaN and Infinity, which Python's parser accepts."""
    raise ValueError(f"{constant} is no JSON")


def _problem(path: AiPath, fields: Mapping[str, Any]) -> str:
    """Return what is wrong with a body; empty if it is valid."""
    if not isinstance(fields.get("model"), str | None):
        return "model must be a string"
    if not _IN_A_HEADER.fullmatch(fields.get("model") or ""):
        # Routes match a header with the model's name. The real one forwards any value, and Envoy responds with 500.
        return "model must not have control characters"
    if len(fields.get("model") or "") > _LONGEST_MODEL:
        return f"model must have at most {_LONGEST_MODEL} characters"
    if not isinstance(fields.get("stream"), bool | None) and path != AiPath.EMBEDDINGS:
        return "stream must be true or false"
    options = fields.get("stream_options")
    if not isinstance(options, dict | None) or not isinstance((options or {}).get("include_usage"), bool | None):
        return "stream_options must be an object"
    for name in _INTEGERS:
        value = fields.get(name)
        if value is not None and (type(value) is not int or not -_INT64 <= value < _INT64):
            return f"{name} must be a whole number"
    if path == AiPath.EMBEDDINGS and "input" in fields and "messages" in fields:
        return "embedding request must have either 'input' or 'messages', not both"
    messages = fields.get("messages")
    return "" if messages is None or path == AiPath.COMPLETIONS else _messages_problem(messages)


def _messages_problem(messages: object) -> str:
    if not isinstance(messages, list):
        return "messages must be a list"
    for message in messages:
        if not isinstance(message, dict) or "role" not in message:
            return "chat message does not have role"
        if message["role"] not in _ROLES:
            return f"unknown ChatCompletionMessageParam type: {message['role']}"
        if not isinstance(message.get("content"), str | list | None):
            return "content must be a string or a list"
    return ""
