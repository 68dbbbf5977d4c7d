"""The types of what is read from live objects: a server may answer with anything, and files may contain anything.

Only types count here, and the required fields of the table, not bounds, patterns and unknown fields, which a later
version of Kubernetes may allow.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..base import Json, whole_float_to_int
from ..tables import load_table
from .embedded import Path_, Schema, definitions, explain_error, reachable, ref

_TYPES: Mapping[str, Schema] = {
    "text": {"type": ["string", "null"]},
    "integer": {"type": ["integer", "null"], "minimum": -(2**63), "maximum": 2**63 - 1},
    "truth": {"type": ["boolean", "null"]},
    "map": {"type": ["object", "null"]},
    "quantity": {"type": ["string", "integer", "number", "null"]},
    "fields": {"$ref": "#/$defs/fields"},
    "any": {},
}
_FIELDS: Schema = {
    "type": ["object", "null"],
    "propertyNames": {"format": "field-of-manager"},
    "additionalProperties": {"$ref": "#/$defs/fields"},
}
"""The fields of a manager: maps in maps, whose keys name fields and items (structured-merge-diff)."""

_REQUIRED = "!"
"""End of the keys of required fields in the table."""
_JSON_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


def normalized(value: Json) -> Json:
    """Return a value as the API server reads it: nulls in maps are the same as absence, and 3.0 is 3."""
    if isinstance(value, dict):
        return {key: normalized(inner) for key, inner in value.items() if inner is not None}
    return [normalized(inner) for inner in value] if isinstance(value, list) else whole_float_to_int(value)


def wrong_types(body: Mapping[str, Any]) -> Iterator[tuple[Path_, str]]:
    """Yield the fields of an object whose values are not of the type that programs expect there.

    Args:
        body: The object without nulls, with its apiVersion and kind as text.
    """
    found: set[Path_] = set()
    group = str(body.get("apiVersion")).rpartition("/")[0]
    for name in ("any", f"{body.get('kind')}.{group}".rstrip(".")):
        validator = _validator(name)
        if validator is None or validator.is_valid(body):
            continue
        for error in validator.iter_errors(body):
            for path, reason in explain_error(error):
                if path not in found:
                    found.add(path)
                    yield path, reason.replace("must be null or ", "must be ", 1)


@functools.cache
def _validator(name: str) -> Json:
    tables = load_table(__package__, "live.yaml")
    if name not in tables:
        return None
    import jsonschema_rs

    schema = _schema(tables[name])
    needed = {known: _types_only(definitions()[known]) for known in sorted(reachable(schema))}
    return jsonschema_rs.validator_for(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "$defs": {**needed, "fields": _FIELDS}},
        formats={"field-of-manager": _is_field},
        validate_formats=True,
    )


def _is_field(key: str) -> bool:
    """Whether a text names a field or an item of a list: by its keys, which are JSON, its value, or its position."""
    kind, _, name = key.partition(":")
    if kind in ("f", "i") or key == ".":
        return True
    try:
        value = json.loads(name)
    except (ValueError, RecursionError):
        return False
    return kind == "v" or (kind == "k" and isinstance(value, dict))


def _schema(entry: Json) -> Schema:
    """Return the JSON schema of an entry of the table."""
    if isinstance(entry, list):
        return {"type": ["array", "null"], "items": _not_null(_schema(entry[0]))}
    if isinstance(entry, dict):
        if "*" in entry:
            return {"type": ["object", "null"], "additionalProperties": _schema(entry["*"])}
        properties = {key.removesuffix(_REQUIRED): _schema(inner) for key, inner in entry.items()}
        required = [key.removesuffix(_REQUIRED) for key in entry if key.endswith(_REQUIRED)]
        return {"type": ["object", "null"], "properties": properties, "required": required}
    if entry in _TYPES:
        return dict(_TYPES[entry])
    return ref(next(known for known in definitions() if known.rpartition(".")[2] == entry))


def _not_null(schema: Schema) -> Schema:
    """Return the schema of an item of a list: unlike a null in a map, which is the same as absence, it is there."""
    types = schema.get("type", _JSON_TYPES)
    if "$ref" in schema:
        named = definitions().get(schema["$ref"].rpartition("/")[2], {}).get("type", types)
        types = [named] if isinstance(named, str) else named
    return {**schema, "type": [name for name in types if name != "null"]}


def _types_only(schema: Schema) -> Schema:
    """Return a definition of Kubernetes without all that is no type."""
    kept: Schema = {}
    if "type" in schema:
        kept["type"] = [schema["type"], "null"] if isinstance(schema["type"], str) else [*schema["type"], "null"]
        kept |= {key: _TYPES["integer"][key] for key in ("minimum", "maximum") if schema["type"] == "integer"}
    if "$ref" in schema:
        kept["$ref"] = schema["$ref"]
    if "anyOf" in schema:
        kept["anyOf"] = [*map(_types_only, schema["anyOf"])]
    if isinstance(schema.get("additionalProperties"), dict):
        kept["additionalProperties"] = _types_only(schema["additionalProperties"])
    if "items" in schema:
        kept["items"] = _not_null(_types_only(schema["items"]))
    if "properties" in schema:
        kept["properties"] = {name: _types_only(inner) for name, inner in schema["properties"].items()}
    return kept
