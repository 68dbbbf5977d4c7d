"""Read and validate request bodies; errors are rendered in the engine's format later."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

MAX_BYTES = 64 * 2**20
"""Most engines accept more."""
BODY_SECONDS = 60.0
"""Timeout for the next part of a body."""
MAX_TEXT_BYTES = 2_000_000
"""Of a body whose text is only tokenized."""
Body = dict[str, Any]
_Value = TypeVar("_Value")
_MAX_TEXTS = 1024
_MAX_INTEGER = 2**31 - 1


@dataclass(eq=False)
class ApiError(Exception):
    """A rejected request, in no engine's format.

    Attributes:
        status: HTTP status.
        message: Message for users.
        field: The invalid field of the body; empty if none.
        kind: Kind of error, which the engine's format may depend on: ``body`` (no JSON, or of a wrong type),
            ``value``, ``context``, ``model``, ``full``, ``path``, ``method`` or ``size``.
    """

    status: int
    message: str
    field: str = ""
    kind: str = "value"


FULL = ApiError(503, "The request queue is full.", kind="full")
"""The queue of the engine is full."""


async def read_object(request: web.Request, limit: int = MAX_BYTES) -> Body:
    """Return the JSON object in the body of a request.

    Raises:
        ApiError: the body is not a JSON object.
    """
    try:
        body = json.loads(await read_bytes(request, limit), parse_constant=_reject_constant)
    except UnicodeDecodeError:
        raise ApiError(400, "the body is not UTF-8", kind="body") from None
    except RecursionError:
        raise ApiError(400, "the body is nested too deeply", kind="body") from None
    except ValueError as error:
        raise ApiError(400, f"the body is not JSON: {error}", kind="body") from None
    if not isinstance(body, dict):
        raise ApiError(400, f"the body must be a JSON object, found {_type_name(body)}", kind="body")
    return body


async def read_bytes(request: web.Request, limit: int = MAX_BYTES) -> bytes:
    """Return the body of a request.

    Raises:
        ApiError: it is too large, or stalls.
    """
    body = bytearray()
    try:
        while True:
            async with asyncio.timeout(BODY_SECONDS):
                chunk = await request.content.readany()
            if not chunk:
                break
            body += chunk
            if len(body) > limit:
                raise ApiError(413, f"the body has more than {limit} bytes", kind="size")
    except TimeoutError:
        raise ApiError(408, f"no more of the body came within {BODY_SECONDS:g} s", kind="body") from None
    except web.RequestPayloadError as error:
        raise ApiError(400, f"the body cannot be read: {error}", kind="body") from None
    return bytes(body)


def _reject_constant(name: str) -> float:
    """Reject NaN and Infinity, which Python's parser accepts."""
    raise ValueError(f"{name} is no number")


def text(body: Body, name: str) -> str | None:
    """Return a string field; None if it is missing."""
    return _typed(body, name, str, "a string")


def flag(body: Body, name: str, *, default: bool = False) -> bool:
    value = _typed(body, name, bool, "a boolean")
    return default if value is None else value


def integer(body: Body, name: str, minimum: int | None = None) -> int | None:
    """Return an integer field, which may be written as 1.0; None if it is missing."""
    value = body.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ApiError(400, f"{name}: must be an integer, found {_type_name(value)}", name, "body")
    if abs(value) > _MAX_INTEGER:
        raise ApiError(400, f"{name}: must be below {_MAX_INTEGER + 1}", name)
    if minimum is not None and value < minimum:
        raise ApiError(400, f"{name} must be at least {minimum}, got {value}.", name)
    return value


def array(body: Body, name: str) -> list[Any] | None:
    """Return an array field; None if it is missing."""
    return _typed(body, name, list, "an array")


def json_object(body: Body, name: str) -> Body:
    """Return an object field; empty if it is missing."""
    return _typed(body, name, dict, "an object") or {}


def texts(body: Body, name: str) -> tuple[str, ...]:
    """Return a field that is a string or an array of strings; empty if it is missing."""
    value = body.get(name)
    values = [value] if isinstance(value, str) else (array(body, name) or [])
    if len(values) > _MAX_TEXTS:
        raise ApiError(400, f"{name}: at most {_MAX_TEXTS}, found {len(values)}", name)
    for item in values:
        if not isinstance(item, str):
            raise ApiError(400, f"{name}: must be strings, found {_type_name(item)}", name, "body")
    return tuple(values)


def integers(body: Body, name: str) -> list[int]:
    """Return an array of integers, such as tokens; empty if it is missing."""
    values = array(body, name) or []
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise ApiError(400, f"{name}: must be an array of integers", name, "body")
    return values


def _typed(body: Body, name: str, kind: type[_Value], title: str) -> _Value | None:
    value = body.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise ApiError(400, f"{name}: must be {title}, found {_type_name(value)}", name, "body")


def _type_name(value: object) -> str:
    """Return the type of a value for messages: the value itself may be megabytes."""
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "an array"}
    return "null" if value is None else names.get(type(value), "an object")
