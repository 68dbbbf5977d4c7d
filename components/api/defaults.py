"""Resources with every default of the contract, as the API server would store them."""

import copy
from typing import Any

from .kinds import kind_of
from .meta import Resource
from .structural import fill, graph


def with_defaults(resource: Resource) -> dict[str, Any]:
    """Return the resource in wire form with the defaults of its schema filled in.

    Defaults apply inside objects that are present; status is left to the controller, and empty metadata
    is not stored.
    """
    stored = copy.deepcopy(resource.wire())
    stored.pop("status", None)
    metadata = stored["metadata"]
    stored["metadata"] = {key: value for key, value in metadata.items() if value not in ({}, [], "", None)}
    schema = graph(kind_of(resource))
    fill(stored, schema, schema.root)
    return stored
