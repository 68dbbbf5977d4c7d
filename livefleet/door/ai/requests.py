"""What a request asks for, read from its body.

A stand-in for ai-gateway v1.1.0 ``internal/endpointspec/endpointspec.go`` and ``internal/apischema/openai``: the
fields that decide where a request goes have their types checked, as do the roles of messages; the rest of the
schemas is left to the engines.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class AiPath(StrEnum):
    """What clients may ask for at the gateway, of what the real one knows."""

    CHAT = "/v1/chat/completions"
    COMPLETIONS = "/v1/completions"
    EMBEDDINGS = "/v1/embeddings"
    MODELS = "/v1/models"

    @property
    def suffix(self) -> str:
        """What comes after the prefix of a backend."""
        return self.value.removeprefix("/v1/")


UNPLAYED = frozenset(
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
"""Paths that the real one knows as well (``cmd/extproc/mainlib/main.go``, with its default prefixes)."""

_WHOLE = ("max_tokens", "max_completion_tokens", "n", "top_logprobs")
_ROLES = ("user", "assistant", "system", "developer", "tool")
_INT64 = 2**63
_IN_A_HEADER = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
"""What the value of a header may be (RFC 9110, section 5.5), and UTF-8 can say."""
_LONGEST_MODEL = 4096
"""Characters of a model's name: routes match no longer value of a header (HTTPHeaderMatch of the Gateway API)."""


class MalformedRequestError(Exception):
    """A body that is not what its path takes; the message goes to the client."""


@dataclass(frozen=True, slots=True)
class AiRequest:
    """A request, as far as the gateway reads it.

    Attributes:
        model: Empty if it names none.
        body: As it goes on; differs from what the client sent where ``rewritten``.
    """

    path: AiPath
    model: str
    stream: bool
    body: bytes
    rewritten: bool = False


def read_request(path: AiPath, body: bytes, *, counted: bool) -> AiRequest:
    """Read a request.

    Args:
        path: What is asked for.
        body: What the client sent.
        counted: Whether tokens are counted: then a streamed chat has to say what it took.

    Raises:
        MalformedRequestError: it is none.
    """
    fields = _fields(path, body)
    model, stream = fields.get("model") or "", bool(fields.get("stream")) and path != AiPath.EMBEDDINGS
    if path == AiPath.CHAT and stream and counted:
        options = fields.get("stream_options") or {}
        if not options.get("include_usage"):
            extended = {**fields, "stream_options": {**options, "include_usage": True}}
            return AiRequest(
                path, model, stream, json.dumps(extended, separators=(",", ":")).encode(), rewritten=True
            )
    return AiRequest(path, model, stream, body)


def _fields(path: AiPath, body: bytes) -> Mapping[str, Any]:
    reason = f"malformed request: failed to parse JSON for {path}: "
    try:
        found = json.loads(body, parse_constant=_refused)
    except (ValueError, RecursionError) as problem:
        raise MalformedRequestError(reason + (str(problem) or "nested too deeply")) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise MalformedRequestError(f"{reason}must be an object")
    wrong = _problem(path, found)
    if wrong:
        raise MalformedRequestError(reason + wrong)
    return found


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _problem(path: AiPath, fields: Mapping[str, Any]) -> str:
    """Say what is wrong with a body; nothing if it is right."""
    if not isinstance(fields.get("model"), str | None):
        return "model must be a string"
    if not _IN_A_HEADER.fullmatch(fields.get("model") or ""):
        # Routes choose by a header with the model's name. The real one hands it over, and Envoy breaks off with 500.
        return "model must not have control characters"
    if len(fields.get("model") or "") > _LONGEST_MODEL:
        return f"model must have at most {_LONGEST_MODEL} characters"
    if not isinstance(fields.get("stream"), bool | None) and path != AiPath.EMBEDDINGS:
        return "stream must be true or false"
    options = fields.get("stream_options")
    if not isinstance(options, dict | None) or not isinstance((options or {}).get("include_usage"), bool | None):
        return "stream_options must be an object"
    for name in _WHOLE:
        value = fields.get(name)
        if value is not None and (type(value) is not int or not -_INT64 <= value < _INT64):
            return f"{name} must be a whole number"
    if path == AiPath.EMBEDDINGS and "input" in fields and "messages" in fields:
        return "embedding request must have either 'input' or 'messages', not both"
    return _wrong_messages(fields.get("messages")) if path != AiPath.COMPLETIONS else ""


def _wrong_messages(messages: object) -> str:
    if messages is None:
        return ""
    if not isinstance(messages, list):
        return "messages must be a list"
    for each in messages:
        if not isinstance(each, dict) or "role" not in each:
            return "chat message does not have role"
        if each["role"] not in _ROLES:
            return f"unknown ChatCompletionMessageParam type: {each['role']}"
        if not isinstance(each.get("content"), str | list | None):
            return "content must be a string or a list"
    return ""
