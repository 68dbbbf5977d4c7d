"""Taking over the fields of an imported object from those who applied it before."""

import http
import time
from collections.abc import Callable, Mapping
from typing import Any

from toolkit.kube import Kube, KubeError
from toolkit.kube.managed_fields import (
    Fields,
    differing,
    empty_lists,
    is_applier,
    is_controller,
    merged_into,
    select,
    union,
    without,
)

from .objects import MANAGER, PAUSE

_MERGE = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_TRIES = 10
_OF_SERVER = ("apiVersion", "kind", "metadata", "status")

Entry = Mapping[str, Any]


def is_former(entry: Entry) -> bool:
    """Whether an entry belongs to a client that applied manifests of people, not to a controller."""
    return not (entry.get("subresource") or is_controller(str(entry.get("manager", ""))))


def take_over(
    kube: Kube,
    live: Mapping[str, Any],
    manager: str = MANAGER,
    former: Callable[[Entry], bool] = is_former,
    *,
    kept: Fields | None = None,
) -> bool:
    """Make a manager the only applier of an object, so that it can remove each field later.

    Server-side apply removes a field only if no other manager owns it: a variable that is later removed from a model
    would stay because of the `kubectl apply` of years ago, and of a probe the half that the API server had set by
    default.

    Args:
        kube: The client.
        live: The object as the server returned it.
        manager: The manager that takes over.
        former: Whether an entry is taken over.
        kept: Fields that stay with the former managers; None for those that its next apply would reset.

    Returns:
        Whether the entries of the object changed.
    """
    for tries_left in reversed(range(_TRIES)):
        metadata = live["metadata"]
        entries = metadata.get("managedFields") or []
        if not any(former(entry) and not is_applier(entry, manager) for entry in entries):
            return False
        staying = reset_fields(kube, live, manager, former) if kept is None else kept
        # A field and its content are removed only if no other manager owns a part of it.
        dropped = empty_lists(staying, live) if kept is None else {}
        remaining = merged_into(manager, entries, former, staying, dropped)
        if remaining == entries:
            return False
        # The version protects the entries of managers that write at the same time.
        body = {"metadata": {"managedFields": remaining, "resourceVersion": kube.version_of(live, live["kind"])}}
        try:
            kube.request("PATCH", kube.path_of(live), body=body, content_type=_MERGE)
        except KubeError as error:
            if error.status != http.HTTPStatus.CONFLICT or not tries_left:
                raise
            time.sleep(PAUSE)
            live = kube.get_live(live)
        else:
            return True
    return False


def reset_fields(kube: Kube, live: Mapping[str, Any], manager: str, former: Callable[[Entry], bool]) -> Fields:
    """Return the fields of former managers that the next apply of a manager would reset or remove."""
    entries = live["metadata"].get("managedFields") or ()
    declared: Fields = {}
    for entry in entries:
        if is_applier(entry, manager):
            declared = union(declared, entry.get("fieldsV1") or {})
    theirs: Fields = {}
    for entry in filter(former, entries):
        theirs = union(theirs, entry.get("fieldsV1") or {})
    undeclared = without(theirs, declared)
    if not undeclared:
        return {}
    try:
        return differing(undeclared, live, defaulted(kube, live, undeclared))
    except KubeError as error:
        if error.unreachable:
            raise
        return undeclared  # it is not known which of them are defaults


def defaulted(kube: Kube, live: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """Return what an object would be without some of its fields, as the API server would set them by default.

    A dry run of a patch: it needs the right to patch, and changes nothing.

    Raises:
        KubeError: the object is not valid without these fields.
    """
    reduced: dict[str, Any] = select(live, fields, inverse=True)
    metadata = reduced["metadata"]
    patch = [
        {"op": "add", "path": f"/metadata/{key}", "value": metadata.get(key) or {}}
        for key in ("labels", "annotations")
    ]
    for key in live:
        if key not in _OF_SERVER:
            present = key in reduced
            patch.append(
                {"op": "replace", "path": f"/{key}", "value": reduced[key]}
                if present
                else {"op": "remove", "path": f"/{key}"}
            )
    params = {"dryRun": "All"}
    return kube.request("PATCH", kube.path_of(live), params=params, body=patch, content_type=_JSON_PATCH)
