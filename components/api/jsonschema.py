"""JSON schemas of the kinds, with wire names, for editors and for checks outside this project."""

import copy
from typing import Any

from .embedded import Schema
from .kinds import KINDS, Kind, kinds_named
from .problems import did_you_mean
from .structural import graph

OURS = {"x-exact-integer", "x-null-is-empty"}
"""Keywords that only our own clean-up of values reads."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: str) -> Schema:
    """Return the JSON schema of a kind, given as ``Kind`` or ``apiVersion/Kind``.

    Raises:
        ValueError: For a kind that is not of the contract.
    """
    found = one_kind(kind)
    shape = graph(found)
    whole = {"$schema": DIALECT, "title": found.title, **shape.root, "$defs": shape.defs}
    cleaned: Schema = without(copy.deepcopy(whole), OURS)
    return cleaned


def one_kind(name: str) -> Kind:
    """Return the kind of this name.

    Raises:
        ValueError: If there is none; the message names those that exist.
    """
    found = kinds_named(name)
    if not found:
        known = [kind.kind for kind in KINDS.values()]
        hint = did_you_mean(name, known)
        raise ValueError(f"unknown kind {name!r}{hint}; known are {', '.join(known)}")
    return found[0]


def without(value: Any, keys: set[str]) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema without some keywords of ours."""
    if isinstance(value, dict):
        return {key: without(inner, keys) for key, inner in value.items() if key not in keys}
    return [without(item, keys) for item in value] if isinstance(value, list) else value
