"""Taking over the fields of an imported object from those who applied it before."""

import http
import time
from collections.abc import Mapping
from typing import Any

from toolkit.kube import Kube, KubeError
from toolkit.kube.managed_fields import Fields, is_controller, owned_fields, without

from .objects import MANAGER, PAUSE

_MERGE = "application/merge-patch+json"
_TRIES = 10


def take_over(kube: Kube, live: Mapping[str, Any]) -> None:
    """Make this engine the only applier of the fields that it declares.

    Server-side apply removes a field only if no other manager owns it: a variable that is later removed from a model
    would stay because of the `kubectl apply` of years ago. What the former manager declared beyond that stays its
    own, because without an owner the API server would remove or reset it.
    """
    for tries_left in reversed(range(_TRIES)):
        metadata = live["metadata"]
        remaining = remaining_entries(live)
        if remaining == (metadata.get("managedFields") or []):
            return
        # The version protects the entries of managers that write at the same time.
        body = {"metadata": {"managedFields": remaining, "resourceVersion": metadata["resourceVersion"]}}
        try:
            kube.request("PATCH", kube.path_of(live), body=body, content_type=_MERGE)
        except KubeError as error:
            if error.status != http.HTTPStatus.CONFLICT or not tries_left:
                raise
            time.sleep(PAUSE)
            live = kube.request("GET", kube.path_of(live))
        else:
            return


def remaining_entries(live: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of an object in which only this engine, and controllers, own the declared fields."""
    declared = owned_fields(live, lambda manager: manager == MANAGER)
    entries = live["metadata"].get("managedFields") or ()
    return [entry for entry in (_reduced(entry, declared) for entry in entries) if entry]


def _reduced(entry: Mapping[str, Any], declared: Fields) -> Mapping[str, Any] | None:
    """Return an entry without the declared fields; None if nothing is left."""
    manager = str(entry.get("manager", ""))
    if manager == MANAGER or entry.get("subresource") or is_controller(manager):
        return entry
    rest = without(entry.get("fieldsV1") or {}, declared)
    return {**entry, "fieldsV1": rest} if rest else None
