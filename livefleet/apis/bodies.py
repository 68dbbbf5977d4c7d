"""Bodies of requests: what they must hold, and what is refused in whatever form the engine has."""

import asyncio
import json
import math
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web

MOST_BYTES = 64 * 2**20
"""Of a body. The engines themselves take more, except where it is said."""
BODY_SECONDS = 60.0
"""Seconds within which the next piece of a body must come."""
MOST_TEXT = 2_000_000
"""Of a body whose text is taken to pieces."""
Body = dict[str, Any]
_Found = TypeVar("_Found")
_MOST_TEXTS = 1024
_MOST_WHOLE = 2**31 - 1


@dataclass(eq=False)
class ApiError(Exception):
    """A request that is refused; each engine has a form of its own for it.

    Attributes:
        status: HTTP status.
        message: For people.
        field: The field of the body that is wrong; empty if it is not one.
        kind: What is wrong, in a word that the engine's form may translate: ``body`` (no JSON, or of a wrong type),
            ``value``, ``context``, ``model``, ``full``, ``path``, ``method`` or ``size``.
    """

    status: int
    message: str
    field: str = ""
    kind: str = "value"


FULL = ApiError(503, "The request queue is full.", kind="full")
"""More requests wait than the engine lets."""


async def read_object(request: web.Request, most: int = MOST_BYTES) -> Body:
    """Return the JSON object in the body of a request.

    Raises:
        ApiError: there is none.
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
        raise ApiError(400, f"the body must be a JSON object, found {_named(found)}", kind="body")
    return found


async def read_bytes(request: web.Request, most: int = MOST_BYTES) -> bytes:
    """Return the body of a request.

    Raises:
        ApiError: it is too large, or does not go on.
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
    """Return a text; None where there is none."""
    return _of(body, name, str, "a string")


def flag(body: Body, name: str, *, default: bool = False) -> bool:
    """Return a boolean."""
    found = _of(body, name, bool, "a boolean")
    return default if found is None else found


def whole(body: Body, name: str, least: int | None = None) -> int | None:
    """Return a whole number; None where there is none."""
    found = body.get(name)
    if isinstance(found, float) and found.is_integer() and math.isfinite(found):
        found = int(found)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int)):
        raise ApiError(400, f"{name}: must be an integer, found {_named(found)}", name, "body")
    if found is None:
        return None
    if abs(found) > _MOST_WHOLE:
        raise ApiError(400, f"{name}: must be below {_MOST_WHOLE + 1}", name)
    if least is not None and found < least:
        raise ApiError(400, f"{name} must be at least {least}, got {found}.", name)
    return found


def array(body: Body, name: str) -> list[Any] | None:
    """Return a list; None where there is none."""
    return _of(body, name, list, "an array")


def inner(body: Body, name: str) -> Body:
    """Return an object; an empty one where there is none."""
    return _of(body, name, dict, "an object") or {}


def texts(body: Body, name: str) -> tuple[str, ...]:
    """Return a text or several; none where there is nothing."""
    found = body.get(name)
    several = [found] if isinstance(found, str) else (array(body, name) or [])
    if len(several) > _MOST_TEXTS:
        raise ApiError(400, f"{name}: at most {_MOST_TEXTS}, found {len(several)}", name)
    for each in several:
        if not isinstance(each, str):
            raise ApiError(400, f"{name}: must be strings, found {_named(each)}", name, "body")
    return tuple(several)


def numbers(body: Body, name: str) -> list[int]:
    """Return a list of whole numbers, such as tokens; an empty one where there is none."""
    found = array(body, name) or []
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in found):
        raise ApiError(400, f"{name}: must be an array of integers", name, "body")
    return found


def _of(body: Body, name: str, kind: type[_Found], title: str) -> _Found | None:
    found = body.get(name)
    if found is None or isinstance(found, kind):
        return found
    raise ApiError(400, f"{name}: must be {title}, found {_named(found)}", name, "body")


def _named(value: object) -> str:
    """Return how messages name a value of a wrong type: its type, and not what may be megabytes."""
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "an array"}
    return "null" if value is None else names.get(type(value), "an object")
