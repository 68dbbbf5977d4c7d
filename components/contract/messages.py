"""Converts pydantic errors to this project's messages: what is allowed, what was found, what to do."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from .base import whole_float_to_int
from .kinds import Kind
from .problems import MOST_HINTS, did_you_mean, near_or_some
from .schema.embedded import UNKNOWN, format_value
from .schema.narrowing import schema_graph

Found = tuple[tuple[str | int, ...], str]

_TYPES = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "bool_type": "true or false",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
}
_IN_QUOTES = "; put it in quotes"
_MANY_CORES = 256
_MOST_NUMBER = 10**15
"""Larger numbers are no amounts, and Python does not write those of thousands of digits."""
_LAST_PORT = 65535
_SHOULD = re.compile(r"\A\w+ should\b")
"""The start of pydantic's messages, such as ``Input should be`` or ``String should match``."""
_BOUNDS = {"greater_than_equal": ("at least", "ge"), "less_than_equal": ("at most", "le")}


def explain(error: ValidationError, kind: Kind) -> Iterator[Found]:
    """Yield the path and reason of every problem of one object, without duplicates."""
    seen = set()
    hints = MOST_HINTS
    for item in error.errors(include_url=False):
        for path, reason in _paths_and_reasons(dict(item)):
            if (path, reason) in seen:
                continue
            seen.add((path, reason))
            if reason == UNKNOWN and hints > 0:
                hints -= 1
                known = sorted(schema_graph(kind).fields_at(path[:-1]))
                all_fields = f"`workbench explain --field {kind.kind}` shows all"
                reason += near_or_some(str(path[-1]), known, "known fields", all_fields) if known else ""
            elif item["type"] == "string_type" and reason.endswith(_IN_QUOTES):
                reason = reason.removesuffix(_IN_QUOTES) + _as_text(item["input"], path, kind)
            yield path, reason


def _as_text(number: object, path: tuple[str | int, ...], kind: Kind) -> str:
    """Return how to write a number in a field of texts."""
    pattern = (schema_graph(kind).schema_at(path) or {}).get("pattern", "")
    if isinstance(number, int) and abs(number) > _MOST_NUMBER:
        return _IN_QUOTES
    if path[-1] == "cpu" and isinstance(number, int) and number >= _MANY_CORES:
        return f"; that many whole cores are rare: write '{number}m' for {number / 1000:g} cores"
    if pattern and not _matches(pattern, str(number)) and _matches(pattern, f"{number}s"):
        return f"; add the unit, in quotes: '{number}s' for seconds, '{number}m' for minutes"
    return _IN_QUOTES


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern of a schema matches; patterns of Go with classes that Python does not know match nothing."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def _share_hint(item: Mapping[str, Any]) -> str:
    """Return what to write in place of a share where a percentage is expected, or the other way round."""
    value, field = item["input"], str(item.get("loc", ("",))[-1:]).lower()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if (
        item["type"] in ("int_type", "int_from_float")
        and 0 < value < 1
        and ("percent" in field or "utilization" in field)
    ):
        return f"; write {value * 100:.0f}: it is in percent"
    if item["type"] == "less_than_equal" and item["ctx"]["le"] == _LAST_PORT and "port" in field:
        near = f"; did you mean {int(value) // 10}?" if value // 10 <= _LAST_PORT else ""
        return f", the last port{near}"
    if item["type"] == "less_than_equal" and item["ctx"]["le"] == 1 and 1 < value <= 100:
        return f"; write {value / 100:g}: it is a share, not a percentage"
    return ""


def _paths_and_reasons(item: dict[str, Any]) -> Iterator[Found]:
    loc: tuple[str | int, ...] = item["loc"]
    context = item.get("ctx", {})
    if item["type"] == "several":
        for path, reason in context["items"]:
            yield (*loc, *path), reason
    elif item["type"] == "extra_forbidden":
        yield loc, UNKNOWN
    elif item["type"] == "union_error" or loc[-1:] in (("int",), ("str",)):
        yield loc[:-1], f"must be an integer or a string, found {format_value(item['input'])}"
    else:
        yield loc, reason_of(item)


def reason_of(item: Mapping[str, Any], formatted: Callable[[object], str] = format_value) -> str:
    """Return the message for one pydantic error."""
    context: Mapping[str, Any] = item.get("ctx", {})
    suffix = f", found {formatted(item['input'])}"
    kind = item["type"]
    if kind == "missing":
        return "is required; set it"
    if kind in _TYPES:
        hint = ""
        if kind == "string_type" and isinstance(item["input"], bool | int | float):
            hint = _IN_QUOTES
        elif kind == "int_type" and isinstance(item["input"], str):
            hint = "; write it without quotes" if item["input"].strip().isdecimal() else ""
        return f"must be {_TYPES[kind]}{suffix}{hint or _share_hint(item)}"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"must be {words} {whole_float_to_int(context[key])}{suffix}{_share_hint(item)}"
    if kind in ("literal_error", "enum"):
        options = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        hint = did_you_mean(item["input"], options) if isinstance(item["input"], str) else ""
        return f"must be {context['expected']}{suffix}{hint}"
    if kind in ("too_short", "too_long"):
        limit = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        return f"must have {words} {limit} item{'s' * (limit != 1)}, found {context['actual_length']}"
    if kind in ("string_too_short", "string_too_long"):
        limit = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "string_too_short" else "at most"
        return f"must have {words} {limit} character{'s' * (limit != 1)}{suffix}"
    reason = _SHOULD.sub("must", str(item["msg"]).removeprefix("Value error, "))
    return f"{reason}{suffix}"
