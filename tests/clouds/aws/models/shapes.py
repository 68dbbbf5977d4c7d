"""Checks the parameters of an AWS request against botocore's model of the operation.

botocore itself checks only types, required members and some minima before it sends; enums, patterns and maxima are in
its models all the same, and the service would refuse by them.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from botocore.model import (  # type: ignore[import-untyped]
    ListShape,
    MapShape,
    ServiceModel,
    Shape,
    StructureShape,
)
from botocore.session import get_session  # type: ignore[import-untyped]

from workbench.engine.values import UNKNOWN

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "character": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "timestamp": (str, datetime),
    "blob": (str, bytes),
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
}
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def problems(service: str, operation: str, params: Mapping[str, Any]) -> list[str]:
    """Return what the model of ``operation`` forbids in ``params``; an ``UNKNOWN`` is allowed everywhere."""
    shape = model(service).operation_model(operation).input_shape
    if shape is None:
        return [f"{name}: {operation} takes no parameters" for name in params]
    return [f"{path}: {problem}" for path, problem in _walk(shape, dict(params), "")]


@functools.cache
def model(service: str) -> ServiceModel:
    """Return botocore's model of a service."""
    return get_session().get_service_model(service)


_Found = Iterator[tuple[str, str]]


def _walk(shape: Shape, value: Any, path: str) -> _Found:
    if value is UNKNOWN or shape.metadata.get("document"):
        return
    if not _is_a(shape.type_name, value):
        yield path, f"found {value!r}, allowed is a {shape.type_name}"
        return
    yield from ((path, problem) for problem in _bounds(shape, value))
    if isinstance(shape, StructureShape):
        yield from _members(shape, value, path)
    elif isinstance(shape, ListShape):
        for index, item in enumerate(value):
            yield from _walk(shape.member, item, f"{path}[{index}]")
    elif isinstance(shape, MapShape):
        for key, item in value.items():
            yield from _walk(shape.key, key, f"{path}[{key!r}] as a key")
            yield from _walk(shape.value, item, f"{path}[{key!r}]")
    else:
        yield from ((path, problem) for problem in _text(shape, value))


def _is_a(type_name: str, value: Any) -> bool:
    allowed = _TYPES[type_name]
    return isinstance(value, allowed) and (bool in allowed or not isinstance(value, bool))


def _members(shape: StructureShape, value: Mapping[str, Any], path: str) -> _Found:
    within = f"{path}." if path else ""
    for name in shape.required_members:
        # botocore makes up idempotency tokens by itself.
        if name not in value and not shape.members[name].metadata.get("idempotencyToken"):
            yield f"{within}{name}", "is required"
    if getattr(shape, "is_tagged_union", False) and len(value) != 1:
        yield path, f"found {sorted(value)}, allowed is exactly one of {sorted(shape.members)}"
    for name, item in value.items():
        if name in shape.members:
            yield from _walk(shape.members[name], item, f"{within}{name}")
        else:
            yield f"{within}{name}", f"is unknown; {shape.name} has {', '.join(shape.members)}"


def _bounds(shape: Shape, value: Any) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    number = shape.type_name in ("integer", "long", "float", "double")
    if (low is None and high is None) or not (number or hasattr(value, "__len__")):
        return
    size, what = (value, "value") if number else (len(value), "length")
    if low is not None and size < low:
        yield f"found {value!r}, its {what} {size} is less than {low}"
    if high is not None and size > high:
        yield f"found {value!r}, its {what} {size} is more than {high}"


def _text(shape: Shape, value: Any) -> Iterator[str]:
    enum = getattr(shape, "enum", None)
    if enum and value not in enum:
        yield f"found {value!r}, allowed are {', '.join(enum)}"
    pattern = shape.metadata.get("pattern")
    # The services match the whole of a value, also where the model has no anchors (or only the first one).
    if pattern and isinstance(value, str) and not compiled(pattern).fullmatch(value):
        yield f"found {value!r}, which does not match {pattern}"
    if shape.type_name == "timestamp" and isinstance(value, str) and not _TIMESTAMP.fullmatch(value):
        yield f"found {value!r}, allowed is a time such as 2026-01-31T00:00:00Z"


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of a model, which is written for Java, as Python understands it.

    Raises:
        AssertionError: the pattern has a construct that is not translated here.
    """
    # Java writes what is above the basic plane as pairs of surrogates.
    text = pattern.replace(r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010ffff")
    # A hyphen after a class of characters is itself there, and an error here.
    text = re.sub(r"(\\[wWdDsS])-(?!\])", r"\1\-", text)
    text = re.sub(r"\\p\{(\w+)\}", lambda found: _category(found[1]), text)
    try:
        return re.compile(text, re.ASCII)  # as in Java, where \w and \d are ASCII too
    except re.error as error:
        raise AssertionError(f"pattern {pattern} is not understood: {error}") from error


@functools.cache
def _category(name: str) -> str:
    r"""Return the inside of a character class with all of a category: \p{L} is every letter."""
    if name in _POSIX:
        return _POSIX[name]
    members = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith(name)]
    if not members:
        raise AssertionError(f"category {name} is not understood")
    ranges = []
    start = previous = members[0]
    for code in [*members[1:], -1]:
        if code != previous + 1:
            ranges.append(f"\\U{start:08x}-\\U{previous:08x}")
            start = code
        previous = code
    return "".join(ranges)


_POSIX = {"Alnum": "0-9A-Za-z", "Alpha": "A-Za-z", "Digit": "0-9", "ASCII": r"\x00-\x7f", "Print": r"\x20-\x7e"}
