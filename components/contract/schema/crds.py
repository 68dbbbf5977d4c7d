"""CustomResourceDefinitions that accept, refuse and default as our types do (structural schemas, CEL)."""

from typing import Any

from ..base import INT32_MAX, INT64_MAX
from ..kinds import Column, Kind
from .embedded import Schema
from .structural import SchemaGraph, schema_graph

_OURS = {"additionalProperties", "x-exact-integer", "$ref", "properties", "items"}
_BUILT_IN = {"apiVersion", "kind"}

_RANGES = {
    "int32": (("minimum", -INT32_MAX - 1), ("maximum", INT32_MAX)),
    "int64": (("minimum", -INT64_MAX - 1), ("maximum", INT64_MAX)),
}

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def crd(kind: Kind) -> dict[str, Any]:
    """Return the CustomResourceDefinition of a kind."""
    names: dict[str, Any] = {
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.crd_name},
        "spec": {"group": kind.group, "names": names, "scope": kind.scope, "versions": [_version(kind)]},
    }


def _version(kind: Kind) -> dict[str, Any]:
    subresources: dict[str, Any] = {"status": {}}
    if kind.scales:
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
        if kind.scale_selector:
            subresources["scale"]["labelSelectorPath"] = kind.scale_selector
    shape = schema_graph(kind)
    return {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root(shape)},
        "subresources": subresources,
        "additionalPrinterColumns": [*map(_column, kind.columns), _AGE],
    }


def _column(column: Column) -> dict[str, Any]:
    priority = {"priority": column.priority} if column.priority else {}
    return {"name": column.name, "type": column.type, "jsonPath": column.path, **priority}


def _root(shape: SchemaGraph) -> Schema:
    """Return the schema of the whole object: the server itself checks apiVersion, kind and metadata."""
    root = dict(shape.root)
    properties = dict(root["properties"])
    for name in _BUILT_IN:
        properties[name] = {"type": "string"}
    properties["metadata"] = {"type": "object"}
    root["properties"] = properties
    root["required"] = [name for name in root["required"] if name not in (*_BUILT_IN, "metadata")]
    out = inlined(root, shape)
    # The API server drops an empty list.
    return {key: value for key, value in out.items() if key != "required" or value}


def inlined(schema: Schema, shape: SchemaGraph) -> Schema:
    """Return a structural schema: references followed, unknown fields left out rather than forbidden."""
    schema = shape.resolve(schema)
    out: Schema = {key: value for key, value in schema.items() if key not in _OURS}
    for bound, value in _RANGES.get(schema.get("format", ""), ()):
        # The format says so already, and the server cannot hold these bounds of 64-bit integers itself.
        if out.get(bound) == value:
            del out[bound]
    if out.get("x-kubernetes-int-or-string"):
        out["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if schema.get(
        "properties"
    ):  # the API server drops an empty map, and the definition would differ in every preview
        out["properties"] = {name: inlined(inner, shape) for name, inner in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = inlined(schema["additionalProperties"], shape)
    if "items" in schema:
        out["items"] = inlined(schema["items"], shape)
    return out
