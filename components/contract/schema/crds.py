"""CustomResourceDefinitions with the same validation and defaults as the API types (structural schemas, CEL)."""

from typing import Any

from ..base import INT32_MAX, INT64_MAX
from ..kinds import Kind
from ..releases import SINCE
from .embedded import Schema
from .narrowing import contract_graph
from .structural import SchemaGraph

_OURS = {"additionalProperties", "x-exact-integer", SINCE, "$ref", "properties", "items"}
_BUILT_IN = {"apiVersion", "kind"}

_RANGES = {
    "int32": (("minimum", -INT32_MAX - 1), ("maximum", INT32_MAX)),
    "int64": (("minimum", -INT64_MAX - 1), ("maximum", INT64_MAX)),
}

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def crd(kind: Kind) -> dict[str, Any]:
    """Return the definition of a kind in its release, or else in the contract's.

    Raises:
        ValueError: The release does not have the kind.
    """
    if kind.absence:
        raise ValueError(kind.absence)
    names: dict[str, Any] = {
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    subresources: dict[str, Any] = {"status": {}}
    if kind.scales:
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
        if kind.scale_selector:
            subresources["scale"]["labelSelectorPath"] = kind.scale_selector
    columns = [
        {"name": column.name, "type": column.type, "jsonPath": column.path}
        | ({"priority": column.priority} if column.priority else {})
        for column in kind.columns
    ]
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root_schema(contract_graph(kind))},
        "subresources": subresources,
        "additionalPrinterColumns": [*columns, _AGE],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.crd_name},
        "spec": {"group": kind.group, "names": names, "scope": kind.scope, "versions": [version]},
    }


def _root_schema(shape: SchemaGraph) -> Schema:
    """Return the schema of the whole object, without apiVersion, kind, and metadata, which the API server checks."""
    root = dict(shape.root)
    properties = dict(root["properties"])
    for name in _BUILT_IN:
        properties[name] = {"type": "string"}
    properties["metadata"] = {"type": "object"}
    root["properties"] = properties
    root["required"] = [name for name in root["required"] if name not in (*_BUILT_IN, "metadata")]
    out = inlined(root, shape)
    # The API server drops an empty list, so the definition would differ in every preview.
    return {key: value for key, value in out.items() if key != "required" or value}


def inlined(schema: Schema, shape: SchemaGraph) -> Schema:
    """Return a structural schema: references are resolved, and unknown fields are pruned rather than rejected."""
    schema = shape.resolve(schema)
    out: Schema = {key: value for key, value in schema.items() if key not in _OURS}
    for bound, value in _RANGES.get(schema.get("format", ""), ()):
        # Redundant with the format, and the API server cannot represent these bounds of 64-bit integers.
        if out.get(bound) == value:
            del out[bound]
    if out.get("x-kubernetes-int-or-string"):
        out["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    # The API server drops an empty map, so the definition would differ in every preview.
    if schema.get("properties"):
        out["properties"] = {name: inlined(inner, shape) for name, inner in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = inlined(schema["additionalProperties"], shape)
    if "items" in schema:
        out["items"] = inlined(schema["items"], shape)
    return out
