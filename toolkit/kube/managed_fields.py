"""Field ownership: which manager set which fields of an object (``metadata.managedFields``).

The form of the sets is documented in structured-merge-diff: ``f:name`` is a field, ``k:{...}`` an item of a list by
its keys, ``v:...`` a value of a set, ``i:0`` an item by position, and ``.`` the parent itself.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Fields = dict[str, Any]
"""A set of fields, as nested maps; an empty map is a field that is owned as a whole."""

_CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kubelet", "kwok")
_CONTROLLER_WORDS = ("-controller", "-controller-manager", "-operator", "autoscaler", "-webhook", "admission")
_DEPLOYERS = ("argocd-controller", "kustomize-controller", "helm-controller", "before-first-apply")
"""Managers that apply manifests of people, although their names resemble those of controllers."""
_SUBJECTS = ("manager", "operator")
"""Names under which operators write that set none: the name of their program."""


def is_controller(manager: str) -> bool:
    """Whether a manager reacts to objects, rather than apply manifests that people wrote."""
    name = manager.lower()
    if name in _DEPLOYERS:
        return False
    return name.startswith(_CONTROLLERS) or name in _SUBJECTS or any(word in name for word in _CONTROLLER_WORDS)


def owned_fields(live: Mapping[str, Any], is_owner: Callable[[str], bool]) -> Fields:
    """Return the fields that any of the managers owns."""
    fields: Fields = {}
    for entry in live["metadata"].get("managedFields") or ():
        if is_owner(str(entry.get("manager", ""))):
            fields = union(fields, entry.get("fieldsV1") or {})
    return fields


def has_field(fields: Fields, path: Sequence[str]) -> bool:
    """Return whether a set contains the field at a path of names, or a field below it."""
    below: Fields | None = fields
    for name in path:
        if below is None:
            return False
        below = below.get(f"f:{name}")
    return below is not None


def union(first: Fields, second: Fields) -> Fields:
    """Return the fields of both sets."""
    return {
        **first,
        **{key: union(first[key], inner) if key in first else inner for key, inner in second.items()},
    }


def without(fields: Fields, taken: Fields) -> Fields:
    """Return the fields of a set that another one does not contain."""
    rest: Fields = {}
    for key, inner in fields.items():
        if key not in taken:
            rest[key] = inner
        elif inner and (left := without(inner, taken[key])):
            rest[key] = left
    # The parent itself is owned only along with one of its fields.
    return {} if set(rest) <= {"."} else rest


def select(value: Any, fields: Fields, *, inverse: bool = False) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Return the part of a value that a set contains; with ``inverse``, the part that it does not contain."""
    if not fields or (set(fields) == {"."} and not isinstance(value, dict | list)):
        return None if inverse else value
    if isinstance(value, dict):
        return _selected_map(value, fields, inverse=inverse)
    if isinstance(value, list):
        return _selected_list(value, fields, inverse=inverse)
    return value if inverse else None


def _selected_map(value: Mapping[str, Any], fields: Fields, *, inverse: bool) -> dict[str, Any]:
    selected = {}
    for key, inner in value.items():
        below = fields.get(f"f:{key}")
        if below is None:
            if inverse:
                selected[key] = inner
            continue
        part = select(inner, below, inverse=inverse)
        if part is not None and not (inverse and part in ({}, []) and inner not in ({}, [])):
            selected[key] = part
    return selected


def _selected_list(value: Sequence[Any], fields: Fields, *, inverse: bool) -> list[Any]:
    selected = []
    for index, item in enumerate(value):
        keys, below = _fields_of_item(item, index, fields)
        if below is None:
            if inverse:
                selected.append(item)
            continue
        part = select(item, below, inverse=inverse)
        if inverse and (part is None or (isinstance(part, dict) and set(part) <= {*keys})):
            continue
        if isinstance(part, dict):
            # Without its keys, an item cannot be found again.
            part = {key: inner for key, inner in item.items() if key in part or key in keys} | part
        selected.append(part)
    return selected


def _fields_of_item(item: object, index: int, fields: Fields) -> tuple[tuple[str, ...], Fields | None]:
    """Return the keys that identify an item of a list, and its fields in the set; None if it has none."""
    for key, below in fields.items():
        if key.startswith("k:") and isinstance(item, dict):
            identity = json.loads(key[2:])
            if all(item.get(name) == wanted for name, wanted in identity.items()):
                return tuple(identity), below
        elif (key.startswith("v:") and json.loads(key[2:]) == item) or key == f"i:{index}":
            return (), below
    return (), None
