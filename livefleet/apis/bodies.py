"""Read and validate request bodies; errors are rendered in the engine's format later."""

import asyncio
import json
import math
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

MOST_BYTES = 64 * 2**20
"""Maximum size of a body. Most engines accept more."""
BODY_SECONDS = 60.0
"""Timeout for the next part of a body, in seconds."""
MOST_TEXT = 2_000_000
"""Maximum size of a body whose text is tokenized."""
Body = dict[str, Any]
_Found = TypeVar("_Found")
_MOST_TEXTS = 1024
_MOST_WHOLE = 2**31 - 1


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


async def read_object(request: web.Request, most: int = MOST_BYTES) -> Body:
    """Return the JSON object in the body of a request.

    Raises:
        ApiError: the body is not a JSON object.
    """
    try:
        found = json.loads(await read_bytes(request, most), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise ApiError(400, "the body is not UTF-8", kind="body") from None
    except RecursionError:
        raise ApiError(400, "the body is nested too deeply", kind="body") from None
    except ValueError as error:
        raise ApiError(400, f"the body is not JSON: {error}", kind="body") from None
    if not isinstance(found, dict):
        raise ApiError(400, f"the body must be a JSON object, found {_type_name(found)}", kind="body")
    return found


async def read_bytes(request: web.Request, most: int = MOST_BYTES) -> bytes:
    """Return the body of a request.

    Raises:
        ApiError: it is too large, or stalls.
    """
    found = bytearray()
    try:
        while True:
            async with asyncio.timeout(BODY_SECONDS):
                chunk = await request.content.readany()
            if not chunk:
                break
            found += chunk
            if len(found) > most:
                raise ApiError(413, f"the body has more than {most} bytes", kind="size")
    except TimeoutError:
        raise ApiError(408, f"no more of the body came within {BODY_SECONDS:g} s", kind="body") from None
    except web.RequestPayloadError as error:
        raise ApiError(400, f"the body cannot be read: {error}", kind="body") from None
    return bytes(found)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def text(body: Body, name: str) -> str | None:
    """Return a string field; None if it is missing."""
    return _of(body, name, str, "a string")


def flag(body: Body, name: str, *, default: bool = False) -> bool:
    found = _of(body, name, bool, "a boolean")
    return default if found is None else found


def whole(body: Body, name: str, least: int | None = None) -> int | None:
    """Return an integer field; None if it is missing."""
    found = body.get(name)
    if isinstance(found, float) and found.is_integer() and math.isfinite(found):
        found = int(found)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int)):
        raise ApiError(400, f"{name}: must be an integer, found {_type_name(found)}", name, "body")
    if found is None:
        return None
    if abs(found) > _MOST_WHOLE:
        raise ApiError(400, f"{name}: must be below {_MOST_WHOLE + 1}", name)
    if least is not None and found < least:
        raise ApiError(400, f"{name} must be at least {least}, got {found}.", name)
    return found


def array(body: Body, name: str) -> list[Any] | None:
    """Return an array field; None if it is missing."""
    return _of(body, name, list, "an array")


def inner(body: Body, name: str) -> Body:
    """Return an object field; empty if it is missing."""
    return _of(body, name, dict, "an object") or {}


def texts(body: Body, name: str) -> tuple[str, ...]:
    """Return a field that is a string or an array of strings; empty if it is missing."""
    found = body.get(name)
    several = [found] if isinstance(found, str) else (array(body, name) or [])
    if len(several) > _MOST_TEXTS:
        raise ApiError(400, f"{name}: at most {_MOST_TEXTS}, found {len(several)}", name)
    for each in several:
        if not isinstance(each, str):
            raise ApiError(400, f"{name}: must be strings, found {_type_name(each)}", name, "body")
    return tuple(several)


def numbers(body: Body, name: str) -> list[int]:
    """Return an array of integers, such as tokens; empty if it is missing."""
    found = array(body, name) or []
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in found):
        raise ApiError(400, f"{name}: must be an array of integers", name, "body")
    return found


def _of(body: Body, name: str, kind: type[_Found], title: str) -> _Found | None:
    found = body.get(name)
    if found is None or isinstance(found, kind):
        return found
    raise ApiError(400, f"{name}: must be {title}, found {_type_name(found)}", name, "body")


def _type_name(value: object) -> str:
    """Return the type of a value for messages: the value itself may be megabytes."""
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "an array"}
    return "null" if value is None else names.get(type(value), "an object")
