"""Resources with every default of the contract, as the API server would store them."""

import copy
from typing import Any

from ..load import LoadedResource
from ..misfits import fitting_releases
from .narrowing import release_graph
from .structural import apply_defaults, hub_graph

USER_METADATA = {"name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences"}
"""Metadata that users control; the API server overwrites all other metadata."""


def with_defaults(loaded: LoadedResource) -> dict[str, Any]:
    """Return the resource in wire form with the defaults of its schema filled in.

    Defaults apply only inside objects that are present. Status and empty metadata are omitted. Without a release, the
    defaults are those of the contract's, or of the first release that has all fields.
    """
    stored = copy.deepcopy(loaded.resource.wire())
    stored.pop("status", None)
    kind = loaded.kind
    kept = USER_METADATA if kind.namespaced else USER_METADATA - {"namespace"}
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key in kept and value}
    release = kind.release
    if not release:
        fitting = fitting_releases(loaded.resource, kind)
        contract = kind.releases.contract
        release = contract if contract in fitting else next(iter(fitting), "")
    schema = release_graph(kind, release) if release else hub_graph(kind)
    apply_defaults(stored, schema, schema.root)
    return stored
