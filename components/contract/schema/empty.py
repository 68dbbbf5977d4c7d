"""Removes empty maps and lists that the API server drops; otherwise every preview would show a change.

Built-in types are Go structs (k8s.io/api). Their lists and maps are ``omitempty``, so empty ones are missing when
the object is read back, while empty structs, such as ``emptyDir: {}`` or ``podSelector: {}``, stay. Custom resources
keep both, except in their metadata. CustomResourceDefinitions are not covered, because the defaults in their schemas
may be empty; :mod:`.crds` omits what is dropped.
"""

from typing import Any

_GROUPS = frozenset(
    {
        *("", "admissionregistration.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch"),
        *("coordination.k8s.io", "discovery.k8s.io", "networking.k8s.io", "node.k8s.io", "policy"),
        *("rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io"),
    }
)
"""API groups with only built-in kinds."""
_MAPS = frozenset(
    {
        *("annotations", "labels", "matchLabels", "nodeSelector", "overhead", "limits", "requests", "hard"),
        *("data", "binaryData", "stringData", "volumeAttributes"),
    }
)
"""Field names that are maps in every built-in type."""
_MAPS_OF = {
    "Service": frozenset({"selector"}),
    "StorageClass": frozenset({"parameters"}),
}
"""Field names that are maps in one kind and structs in others."""


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """Return a Kubernetes object without the empty maps and lists that the API server drops."""
    if value.get("apiVersion", "").rpartition("/")[0] in _GROUPS:
        pruned: dict[str, Any] = _pruned(value, _MAPS | _MAPS_OF.get(value.get("kind", ""), frozenset()))
        return pruned
    metadata = value.get("metadata")
    return {**value, "metadata": _pruned(metadata, _MAPS)} if isinstance(metadata, dict) else value


def _pruned(value: Any, maps: frozenset[str]) -> Any:  # noqa: ANN401  JSON in, JSON out
    if isinstance(value, list):
        return [_pruned(item, maps) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        # The keys of these maps are user-defined names, not fields, so their values are not pruned.
        key: inner if key in maps else _pruned(inner, maps)
        for key, inner in value.items()
        if not (inner == [] or (inner == {} and key in maps))
    }
