"""Checks one object of a known kind, as the API server's admission does."""

import copy
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from .base import Json
from .kinds import Kind
from .meta import Resource
from .problems import Hints
from .rules import NameRule

_ROUNDS = 8
"""How often wrong fields are removed: those that another one hid are found after that."""
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
        from .schema.structural import normalize, schema_graph

        schema = schema_graph(kind)
        value = normalize(value, schema, schema.root)
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


def without_faults(
    value: dict[str, Any], kind: Kind, found: list[Found], *, odd: bool = True
) -> tuple[Resource | None, list[Found]]:
    """Return what is left of a refused object without its wrong fields, and what the unknown ones among them hid.

    Args:
        value: The object in wire form; it is not changed.
        kind: Its kind.
        found: What :func:`check` found in it.
        odd: Whether nulls or floats may occur in it.

    Returns:
        The resource, or None where a field that must be there is wrong itself. What was found beside: rules over
        several fields are checked only where each field is right, so an unknown field hides them. Those that a wrong
        value hides stay hidden, as they may hold once it is corrected.
    """
    from .schema.embedded import UNKNOWN

    left, more = copy.deepcopy(value), list[Found]()
    unknown = [each for each in found if each[1].startswith(UNKNOWN)]
    wrong, hidden = unknown or found, bool(unknown)
    for _ in range(_ROUNDS):
        if not all(_removed(left, path) for path, _ in wrong):
            return None, more
        resource, wrong = check(left, kind, odd=odd)
        if hidden:
            # What an object lacks may be in the misspelled field.
            owners = {path[:depth] for path, _ in unknown for depth in range(len(path))}
            more += [each for each in wrong if each not in found and each[0] not in owners]
            hidden = False
        if resource is not None:
            return resource, more
    return None, more


def _removed(value: Json, path: tuple[str | int, ...]) -> bool:
    """Remove the field at a path, or the nearest map entry above it; tell whether an object is left.

    An item of a list is not removed by itself: the others would get other places.
    """
    steps = list(path)
    while len(steps) > 1:
        owner, is_there = value, True
        for step in steps[:-1]:
            try:
                owner = owner[step]
            except (KeyError, IndexError, TypeError):
                is_there = False
                break
        if is_there and isinstance(owner, dict) and steps[-1] in owner:
            del owner[steps[-1]]
            return True
        steps.pop()
    return False


def _unknown_status(status: Json, kind: Kind) -> Iterator[Found]:
    from .messages import later_field
    from .schema.structural import schema_graph, unknown_fields

    schema, hints = schema_graph(kind), Hints()
    for path in unknown_fields(status, schema, schema.root["properties"]["status"], ("status",)):
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
