"""Kinds that every API server serves, and whether their objects have a namespace."""

import functools
from collections.abc import Mapping

from ..tables import load_table

_CORE = "core"


def is_namespaced(group: str, kind: str) -> bool | None:
    """Tell whether objects of a built-in kind have a namespace; None for a kind that is not built in.

    Args:
        group: The API group; empty for that of Pods and Services.
        kind: The kind.
    """
    scopes = _groups().get(group or _CORE, {}) if group != _CORE else {}
    return next((scope == "namespaced" for scope, kinds in scopes.items() if kind in kinds), None)


@functools.cache
def _groups() -> Mapping[str, Mapping[str, list[str]]]:
    found: Mapping[str, Mapping[str, list[str]]] = load_table(__package__, "builtin.yaml")
    return found
