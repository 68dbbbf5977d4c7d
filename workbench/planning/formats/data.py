"""The JSON format of a review, and its schema."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from inspect import cleandoc
from typing import Any

from pydantic.alias_generators import to_camel

from components.plan.review.review import Review
from components.plan.review.snapshot import Snapshot

from ..wording.figures import cents, monthly
from ..wording.sentences import verdict

SCHEMA_VERSION = 1
"""Incremented if a key is renamed or removed, or changes its meaning, but not if a key is added."""

SCHEMA_ID = "urn:inference-platform:schema:plan:0.1"
"""Ends in the version of the schema: see docs/stability.md."""


def as_json(review: Review) -> str:
    """Return the document that ``docs/plan.schema.json`` describes. Amounts are strings, to avoid rounding."""
    return json.dumps(document(review), indent=2) + "\n"


def document(review: Review) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "stack": review.head.stack,
        "verdict": verdict(review),
        "changesNothing": review.changes_nothing,
        "passes": not review.failures,
        "monthlyUsd": {"before": _monthly(review.base), "after": _monthly(review.head)},
        "review": to_json(review),
    }


def to_json(value: object) -> object:
    """Convert a value to JSON types: fields of dataclasses and named tuples in camelCase, map keys unchanged."""
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(field.name): to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {to_camel(name): to_json(item) for name, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return f"{value:f}" if isinstance(value, Decimal) else value


def schema() -> dict[str, Any]:
    """Generate the JSON schema of the document from the dataclasses."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class NamedTuplesAsObjects(GenerateJsonSchema):
        def named_tuple_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401  a core schema of pydantic
            properties = {field["name"]: self.generate_inner(field["schema"]) for field in schema["fields"]}
            return {"type": "object", "properties": properties, "description": cleandoc(schema["cls"].__doc__)}

    review = TypeAdapter(Review).json_schema(
        mode="serialization", ref_template="#/$defs/{model}", schema_generator=NamedTuplesAsObjects
    )
    definitions = review.pop("$defs", {})
    money = {"anyOf": [{"$ref": "#/$defs/Month"}, {"type": "null"}]}
    properties = {
        "schemaVersion": {"const": SCHEMA_VERSION},
        "stack": {"type": "string"},
        "verdict": {"type": "string", "description": "Summary of the plan in one sentence."},
        "changesNothing": {"type": "boolean"},
        "passes": {"type": "boolean", "description": "Whether the command exits with code 0."},
        "monthlyUsd": _closed({"before": money, "after": money}, "Monthly cost of the environment in US dollars."),
        "review": {"$ref": "#/$defs/Review"},
    }
    month = {name: {"type": "string", "pattern": r"^-?\d+\.\d\d$"} for name in ("now", "least", "most")}
    definitions = {**definitions, "Review": review, "Month": _closed(month, "At rest, at least and at most.")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "workbench plan --output json",
        **_closed(properties, ""),
        "$defs": {name: _in_camel_case(definitions[name]) for name in sorted(definitions)},
    }


def _closed(properties: dict[str, Any], description: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return {**schema, "description": description} if description else schema


def _in_camel_case(definition: dict[str, Any]) -> dict[str, Any]:
    """Convert the schema of a dataclass: camelCase names, all required."""
    if definition.get("type") != "object" or "properties" not in definition:
        return definition
    properties = {
        to_camel(name): {key: value for key, value in field.items() if key not in ("default", "title")}
        for name, field in definition["properties"].items()
    }
    return _closed(properties, definition.get("description", ""))


def _monthly(snapshot: Snapshot | None) -> dict[str, str] | None:
    # With errors, the nodes of the environment are unknown.
    if snapshot is None or snapshot.is_refused or not snapshot.bill:
        return None
    amounts = monthly(snapshot.bill.usd_per_hour)
    if amounts is None:
        return None
    return {"now": cents(amounts.now), "least": cents(amounts.least), "most": cents(amounts.most)}
