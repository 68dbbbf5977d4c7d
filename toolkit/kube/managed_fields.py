"""Field ownership: which manager set which fields of an object (``metadata.managedFields``).

The form of the sets is documented in structured-merge-diff: ``f:name`` is a field, ``k:{...}`` an item of a list by
its keys, ``v:...`` a value of a set, ``i:0`` an item by position, and ``.`` the parent itself.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Fields = dict[str, Any]
"""A set of fields, as nested maps; an empty map is a field that is owned as a whole."""
APPLY = "Apply"
"""The operation of managers that use server-side apply."""

_CONTROLLERS = (
    *("kube-controller-manager", "kube-scheduler", "kubelet", "kwok"),
    *("cainjector", "cert-manager", "descheduler", "external-dns", "flagger", "gatekeeper", "goldilocks"),
    *("istiod", "karpenter", "keda", "kueue", "kyverno", "nfd-", "pilot-discovery", "reloader", "vc-", "vpa-"),
)
"""Beginnings of the names of controllers, of Kubernetes and of others that fill fields in."""
_CONTROLLER_WORDS = (
    "-controller",
    "-controller-manager",
    "-operator",
    "autoscaler",
    "-webhook",
    "admission",
    "-injector",
)
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


def differing(fields: Fields, before: Any, after: Any) -> Fields:  # noqa: ANN401  JSON in, JSON out
    """Return the fields of a set whose values differ between two states of an object."""
    found: Fields = {}
    for key, below in fields.items():
        if key == ".":
            continue
        old, new = _child(key, before), _child(key, after)
        if new is None or not set(below) - {"."}:
            if old != new:
                found[key] = below
        elif inner := differing(below, old, new):
            found[key] = inner
    return found


def empty_lists(fields: Fields, value: Any) -> Fields:  # noqa: ANN401  JSON in, JSON out
    """Return the fields of a set that are empty lists: updates own them, and server-side apply never does."""
    found: Fields = {}
    for key, below in fields.items():
        inner = None if key == "." else _child(key, value)
        if inner == []:
            found[key] = below
        elif below and (deeper := empty_lists(below, inner)):
            found[key] = deeper
    return found


def _child(key: str, value: Any) -> Any:  # noqa: ANN401
    """Return what a key of a set names in a value; None if there is no such field or item."""
    kind, _, name = key.partition(":")
    if kind == "f":
        return value.get(name) if isinstance(value, dict) else None
    items = enumerate(value) if isinstance(value, list) else ()
    return next((item for index, item in items if _fields_of_item(item, index, {key: {}})[1] is not None), None)


def merged_into(
    manager: str,
    entries: Sequence[Mapping[str, Any]],
    is_former: Callable[[Mapping[str, Any]], bool],
    kept: Fields,
    dropped: Fields,
) -> list[Mapping[str, Any]]:
    """Return the entries of an object after one manager has taken over the fields of former ones.

    As ``csaupgrade`` of client-go does for `kubectl apply --server-side`: the fields of the former managers, also
    those that they owned only because the API server had set a default, become fields that the manager applies. A
    field that it later leaves out is then removed, or gets its default again.

    Args:
        manager: The manager that takes over, with server-side apply.
        entries: The entries of the object.
        is_former: Whether an entry is one of those to take over.
        kept: Fields that stay with the former managers.
        dropped: Fields that only the former managers owned, and nobody owns now.
    """
    fields: Fields = {}
    own: Mapping[str, Any] = {}
    others: list[Mapping[str, Any]] = []
    for entry in entries:
        owned = entry.get("fieldsV1") or {}
        if is_applier(entry, manager):
            own = entry
            fields = union(fields, owned)
        elif is_former(entry):
            owned = without(owned, dropped)
            taken = without(owned, kept)
            fields = union(fields, taken)
            if left := without(owned, taken):
                others.append({**entry, "fieldsV1": left})
            own = own or {**entry, "manager": manager, "operation": APPLY}
        else:
            others.append(entry)
    return [*others, {**own, "fieldsV1": fields}] if fields else others


def is_applier(entry: Mapping[str, Any], manager: str) -> bool:
    """Whether an entry lists what a manager sets with server-side apply."""
    return entry.get("manager") == manager and entry.get("operation") == APPLY and not entry.get("subresource")


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
        # An item of which only keys are left goes with its other fields if the set contains the item itself.
        is_whole = not below or "." in below
        if inverse and (part is None or (is_whole and isinstance(part, dict) and set(part) <= {*keys})):
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
