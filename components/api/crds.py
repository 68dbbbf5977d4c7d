"""CustomResourceDefinitions that accept, refuse and default as our types do (structural schemas, CEL)."""

from typing import Any

from .base import INT32_MAX, INT64_MAX
from .embedded import Schema
from .jsonschema import one_kind
from .kinds import Kind
from .structural import Graph, graph

_OURS = {"additionalProperties", "x-exact-integer", "$ref", "properties", "items"}
_BUILT_IN = {"apiVersion", "kind"}

_RANGES = {
    "int32": (("minimum", -INT32_MAX - 1), ("maximum", INT32_MAX)),
    "int64": (("minimum", -INT64_MAX - 1), ("maximum", INT64_MAX)),
}

_COLUMNS: dict[str, list[dict[str, str | int]]] = {
    "OpenModel": [
        {"name": "Family", "type": "string", "jsonPath": ".spec.familyName"},
    ],
    "BackendRuntime": [
        {"name": "Image", "type": "string", "jsonPath": ".spec.image"},
        {"name": "Version", "type": "string", "jsonPath": ".spec.version"},
    ],
    "Playground": [
        {"name": "Model", "type": "string", "jsonPath": ".spec.modelClaim.modelName"},
        {"name": "Desired", "type": "integer", "jsonPath": ".spec.replicas"},
    ],
    "Service": [
        {"name": "Desired", "type": "integer", "jsonPath": ".spec.replicas"},
    ],
    "LeaderWorkerSet": [
        {"name": "Ready", "type": "integer", "jsonPath": ".status.readyReplicas"},
        {"name": "Desired", "type": "integer", "jsonPath": ".spec.replicas"},
        {"name": "Up-to-date", "type": "integer", "jsonPath": ".status.updatedReplicas"},
    ],
    "InferenceService": [
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        {"name": "Model", "type": "string", "jsonPath": ".spec.modelRef"},
        {"name": "Replicas", "type": "integer", "jsonPath": ".status.readyReplicas"},
        {"name": "Reason", "type": "string", "jsonPath": ".status.schedulingStatus", "priority": 1},
        {"name": "Queue", "type": "integer", "jsonPath": ".status.queuePosition", "priority": 1},
        {"name": "Priority", "type": "string", "jsonPath": ".spec.priority", "priority": 1},
        {"name": "Endpoint", "type": "string", "jsonPath": ".status.endpoint"},
    ],
    "Model": [
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        {"name": "Size", "type": "string", "jsonPath": ".status.size"},
        {"name": "Accelerator", "type": "string", "jsonPath": ".spec.hardware.accelerator"},
        {"name": "Arch", "type": "string", "jsonPath": ".status.gguf.architecture", "priority": 1},
    ],
}
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def crd(kind: str) -> dict[str, Any]:
    """Return the CustomResourceDefinition of a kind, given as ``Kind`` or ``apiVersion/Kind``.

    Raises:
        ValueError: For a kind that is not of the contract.
    """
    found = one_kind(kind)
    names: dict[str, Any] = {
        "plural": found.plural,
        "singular": found.kind.lower(),
        "kind": found.kind,
        "listKind": f"{found.kind}List",
    }
    if found.short_names:
        names["shortNames"] = list(found.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": found.crd_name},
        "spec": {"group": found.group, "names": names, "scope": found.scope, "versions": [_version(found)]},
    }


def _version(kind: Kind) -> dict[str, Any]:
    subresources: dict[str, Any] = {"status": {}}
    if kind.scales:
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
        if kind.scale_selector:
            subresources["scale"]["labelSelectorPath"] = kind.scale_selector
    shape = graph(kind)
    return {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root(shape)},
        "subresources": subresources,
        "additionalPrinterColumns": [*_COLUMNS[kind.kind], _AGE],
    }


def _root(shape: Graph) -> Schema:
    """Return the schema of the whole object: the server itself checks apiVersion, kind and metadata."""
    root = dict(shape.root)
    properties = dict(root["properties"])
    for name in _BUILT_IN:
        properties[name] = {"type": "string"}
    properties["metadata"] = {"type": "object"}
    root["properties"] = properties
    root["required"] = [name for name in root["required"] if name not in (*_BUILT_IN, "metadata")]
    return inlined(root, shape)


def inlined(schema: Schema, shape: Graph) -> Schema:
    """Return a structural schema: references followed, unknown fields left out rather than forbidden."""
    schema = shape.resolve(schema)
    out: Schema = {key: value for key, value in schema.items() if key not in _OURS}
    for bound, value in _RANGES.get(schema.get("format", ""), ()):
        # The format says so already, and the server cannot hold these bounds of 64-bit integers itself.
        if out.get(bound) == value:
            del out[bound]
    if out.get("x-kubernetes-int-or-string"):
        out["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if "properties" in schema:
        out["properties"] = {name: inlined(inner, shape) for name, inner in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = inlined(schema["additionalProperties"], shape)
    if "items" in schema:
        out["items"] = inlined(schema["items"], shape)
    return out
