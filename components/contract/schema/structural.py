"""The schema of a kind as a graph: contract types from pydantic, core types from Kubernetes.

The JSON schema, the CustomResourceDefinition, the defaults, and the normalization that the API server does before
validation are all derived from this graph, so that they agree.
"""

import copy
import functools
from collections.abc import Iterator
from typing import NamedTuple

from ..base import Json, whole_float_to_int
from ..kinds import Kind
from ..releases import SPANS
from .embedded import INEXACT, Schema, definitions, reachable

_PREFIX = "#/$defs/"
_BOUNDS = {"ge": "minimum", "le": "maximum"}
"""Pydantic's names for the bounds of types with custom validators, and JSON schema's names."""


class SchemaGraph(NamedTuple):
    """A root schema and the definitions that it refers to."""

    root: Schema
    defs: dict[str, Schema]

    def resolve(self, schema: Schema) -> Schema:
        """Resolve a reference at the top of a schema; keywords next to the reference take precedence."""
        while "$ref" in schema:
            target = self.defs[schema["$ref"].removeprefix(_PREFIX)]
            schema = target | {key: value for key, value in schema.items() if key != "$ref"}
        return schema

    def field(self, schema: Schema, part: str | int) -> Schema | None:
        """Return the schema of a field, map entry, or list item; None without one."""
        schema = self.resolve(schema)
        if isinstance(part, int):
            return schema.get("items")
        extra = schema.get("additionalProperties")
        declared: Schema | None = schema.get("properties", {}).get(part)
        return declared if declared is not None else extra if isinstance(extra, dict) else None

    def fields_at(self, path: tuple[str | int, ...]) -> list[str]:
        """Return the known field names at a path."""
        schema = self.schema_at(path)
        return list(self.resolve(schema).get("properties", ())) if schema is not None else []

    def schema_at(self, path: tuple[str | int, ...]) -> Schema | None:
        """Return the schema of the field at a path; None without one."""
        schema: Schema | None = self.root
        for part in path:
            schema = self.field(schema, part) if schema is not None else None
        return self.resolve(schema) if schema is not None else None


@functools.cache
def hub_graph(kind: Kind) -> SchemaGraph:
    """Return the schema of a kind for all releases; fields that only some of them have carry their spans."""
    raw = kind.model.model_json_schema(by_alias=True)
    defs = {name: _plain(schema) for name, schema in raw.pop("$defs", {}).items()}
    root = _plain(raw)
    core = definitions()
    return SchemaGraph(root, defs | {name: core[name] for name in sorted(reachable([root, defs]))})


def _plain(schema: Json) -> Json:
    """Convert pydantic's JSON schema to a structural one: no titles, no nulls, enums instead of constants."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if any(s == {"type": "null"} for s in schema.get("anyOf", ())):
        rest = [s for s in schema["anyOf"] if s != {"type": "null"}]
        schema = {k: v for k, v in schema.items() if k != "anyOf"}
        schema = schema | (rest[0] if len(rest) == 1 else {"anyOf": rest})
        if schema.get("default", ...) is None:
            del schema["default"]
    out: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            out[key] = {name: _plain(inner) for name, inner in value.items()}
        elif key == "const":
            out["enum"] = [value]
        elif key == SPANS:
            out[key] = _with_references(value)  # patches, in which None removes a keyword
        elif key == "x-core-ref":
            out["$ref"] = value
        elif key != "title" and key not in _BOUNDS:
            out[key] = _plain(value) if key != "default" else _set(value)
    for name, bound in _BOUNDS.items():
        if name in schema:
            out[bound] = schema[name]
    return out


def _with_references(patches: Json) -> Json:
    """Rename references to core definitions back, see :mod:`.embedded`."""
    if isinstance(patches, list):
        return [_with_references(item) for item in patches]
    if not isinstance(patches, dict):
        return patches
    return {"$ref" if key == "x-core-ref" else key: _with_references(value) for key, value in patches.items()}


def _set(default: Json) -> Json:
    """Return a default without its unset fields."""
    if isinstance(default, dict):
        return {key: _set(value) for key, value in default.items() if value is not None}
    return default


def normalize(value: Json, graph: SchemaGraph, schema: Schema) -> Json:
    """Return a value as the API server sees it before validation.

    Null fields and map entries are dropped, and whole floats become integers if the schema requires an integer
    (contract/README.md). Unknown fields are kept, so that validation rejects them.
    """
    schema = graph.resolve(schema)
    if isinstance(value, dict):
        normalized = {}
        for key, inner in value.items():
            known = graph.field(schema, key)
            if known is None:
                normalized[key] = inner
            elif inner is not None:
                normalized[key] = normalize(inner, graph, known)
            elif schema.get("x-null-is-empty"):
                normalized[key] = ""
        return normalized
    if isinstance(value, list):
        items = schema.get("items")
        return value if items is None else [normalize(item, graph, items) for item in value]
    if isinstance(value, float) and _takes_whole_floats(schema):
        integer = whole_float_to_int(value)
        if isinstance(integer, float) and integer.is_integer():
            # JSON schema accepts 1e18 as an integer, the API server does not: return a value that no schema accepts.
            return {INEXACT: integer}
        return integer
    return value


def _takes_whole_floats(schema: Schema) -> bool:
    if schema.get("x-exact-integer"):
        return False
    return schema.get("type") == "integer" or bool(schema.get("x-kubernetes-int-or-string"))


def apply_defaults(value: Json, graph: SchemaGraph, schema: Schema) -> None:
    """Add the defaults to a value in place, only inside objects that are present."""
    schema = graph.resolve(schema)
    if isinstance(value, dict):
        for name, inner in schema.get("properties", {}).items():
            default = graph.resolve(inner).get("default")
            if name not in value and default is not None:
                value[name] = copy.deepcopy(default)
        for key, item in value.items():
            known = graph.field(schema, key)
            if known is not None:
                apply_defaults(item, graph, known)
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            apply_defaults(item, graph, schema["items"])


def unknown_fields(
    value: Json, graph: SchemaGraph, schema: Schema, path: tuple[str | int, ...]
) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every unknown field, even if values are invalid."""
    schema = graph.resolve(schema)
    if isinstance(value, dict):
        for key, inner in value.items():
            known = graph.field(schema, key)
            if known is not None:
                yield from unknown_fields(inner, graph, known, (*path, key))
            elif "properties" in schema or schema.get("type") == "object":
                yield (*path, key)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from unknown_fields(item, graph, schema["items"], (*path, index))
