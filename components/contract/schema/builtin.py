"""The scope of the built-in kinds of Kubernetes."""

import functools
from collections.abc import Mapping

from ..tables import load_table

_CORE = "core"


def is_namespaced(group: str, kind: str) -> bool | None:
    """Return whether a built-in kind is namespaced; None if the kind is not built in.

    Args:
        group: The API group; empty for the core group.
        kind: The kind.
    """
    scopes = _groups().get(group or _CORE, {}) if group != _CORE else {}
    return next((scope == "namespaced" for scope, kinds in scopes.items() if kind in kinds), None)


@functools.cache
def _groups() -> Mapping[str, Mapping[str, list[str]]]:
    groups: Mapping[str, Mapping[str, list[str]]] = load_table(__package__, "builtin.yaml")
    return groups
