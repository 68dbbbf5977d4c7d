"""Checks one object of a known kind, as the API server's admission does."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from .base import Json
from .kinds import Kind
from .meta import Resource
from .problems import Hints
from .rules import NameRule

Found = tuple[tuple[str | int, ...], str]
"""Where something is wrong, and what."""


def check(value: dict[str, Any], kind: Kind, *, odd: bool = True) -> tuple[Resource | None, list[Found]]:
    """Check one object of a known kind as the API server's admission does.

    Args:
        value: The object in wire form; it is not changed.
        kind: Its kind.
        odd: Whether nulls or floats may occur in it.

    Returns:
        The resource, or None, and every problem as path and reason. Status is checked for unknown fields only
        and dropped, as on creation, unless the kind reads it.
    """
    found: list[Found] = []
    observed: Any = None
    if odd or "status" in value:
        from .schema.structural import clean, graph

        schema = graph(kind)
        value = clean(value, schema, schema.root)
        if "status" in value and "status" in schema.root["properties"]:
            observed = value["status"]
            found += _unknown_status(observed, kind)
            value = {key: inner for key, inner in value.items() if key != "status"}
    try:
        resource = kind.model.model_validate(value)
    except ValidationError as error:
        from .messages import explain

        reasons = list(explain(error, kind))
        return None, [*found, *_name_problems(value, kind, reasons), *reasons]
    if kind.reads_status and observed is not None:
        resource = _with_status(resource, value, observed)
    return (None if found else resource), found


def _unknown_status(status: Json, kind: Kind) -> Iterator[Found]:
    from .messages import later_field
    from .schema.structural import graph, unknown

    schema, hints = graph(kind), Hints()
    for path in unknown(status, schema, schema.root["properties"]["status"], ("status",)):
        later = later_field(path, kind)
        yield path, "unknown field" + (later or hints.did_you_mean(str(path[-1]), schema.fields_at(path[:-1])))


def _with_status(resource: Resource, value: dict[str, Any], status: Json) -> Resource:
    """Return a resource with its status; without one that has a wrong value, which the writer did not choose."""
    try:
        return type(resource).model_validate({**value, "status": status})
    except ValidationError:
        return resource


def _name_problems(value: dict[str, Any], kind: Kind, known: list[Found]) -> list[Found]:
    """Check the name although the object is broken elsewhere; pydantic leaves the outermost rules out then."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or any(path == ("metadata", "name") for path, _ in known):
        return []
    named = SimpleNamespace(metadata=SimpleNamespace(name=name))
    rules = [rule for rule in kind.model.rules if isinstance(rule, NameRule)]
    return [found for rule in rules for found in rule.problems(named)]
