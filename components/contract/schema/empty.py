"""Empty maps and lists that the API server drops: a program that sends them never previews without a change.

Built-in types are stored as Go structs (k8s.io/api). Their lists and maps are ``omitempty``, so that an empty one is
gone when it is read back, while an empty struct, such as ``emptyDir: {}`` or ``podSelector: {}``, stays. Custom
resources keep both, except in their metadata. Definitions of custom resources hold schemas whose defaults may be
empty: :mod:`.crds` writes them without what is dropped.
"""

from typing import Any

_GROUPS = frozenset(
    {
        *("", "admissionregistration.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch"),
        *("coordination.k8s.io", "discovery.k8s.io", "networking.k8s.io", "node.k8s.io", "policy"),
        *("rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io"),
    }
)
"""Groups whose kinds are all built in."""
_MAPS = frozenset(
    {
        *("annotations", "labels", "matchLabels", "nodeSelector", "overhead", "limits", "requests", "hard"),
        *("data", "binaryData", "stringData", "volumeAttributes"),
    }
)
"""Fields that are maps wherever built-in types have them."""
_MAPS_OF = {
    "Service": frozenset({"selector"}),
    "StorageClass": frozenset({"parameters"}),
}
"""Fields that are maps in one kind, and structs in others."""


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
        # Keys of maps are names that users choose, and no fields.
        key: inner if key in maps else _pruned(inner, maps)
        for key, inner in value.items()
        if not (inner == [] or (inner == {} and key in maps))
    }
