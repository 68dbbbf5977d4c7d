"""Checks one object of a known kind, as the API server's admission does."""

from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

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
        and dropped, as on creation.
    """
    found: list[Found] = []
    if odd or "status" in value:
        from .schema.structural import clean, graph, unknown

        schema = graph(kind)
        status = schema.root["properties"].get("status")
        if "status" in value and status is not None:
            hints = Hints()
            found += [
                (path, f"unknown field{hints.did_you_mean(str(path[-1]), schema.fields_at(path[:-1]))}")
                for path in unknown(value["status"], schema, status, ("status",))
            ]
            value = {key: inner for key, inner in value.items() if key != "status"}
        value = clean(value, schema, schema.root)
    try:
        resource = kind.model.model_validate(value)
    except ValidationError as error:
        from .messages import explain

        reasons = list(explain(error, kind))
        return None, [*found, *_name_problems(value, kind, reasons), *reasons]
    return (None if found else resource), found


def _name_problems(value: dict[str, Any], kind: Kind, known: list[Found]) -> list[Found]:
    """Check the name although the object is broken elsewhere; pydantic leaves the outermost rules out then."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or any(path == ("metadata", "name") for path, _ in known):
        return []
    named = SimpleNamespace(metadata=SimpleNamespace(name=name))
    rules = [rule for rule in kind.model.rules if isinstance(rule, NameRule)]
    return [found for rule in rules for found in rule.problems(named)]
