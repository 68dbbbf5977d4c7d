"""JSON schemas of the kinds for editors and external validators."""

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from ..field_reference import documented
from ..kinds import Kind
from ..releases import SINCE, SPAN, SPANS
from .embedded import Schema
from .narrowing import schema_graph

OURS = {"x-exact-integer", "x-null-is-empty", SINCE, SPAN, SPANS}
"""Keywords that only :func:`.structural.normalize` and :mod:`.narrowing` read."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: Kind) -> Schema:
    """Return the schema of a kind in its release, or else of all releases together."""
    shape = schema_graph(kind)
    document = {"$schema": DIALECT, "title": kind.title, **shape.root, "$defs": shape.defs}
    cleaned: Schema = without_keywords(copy.deepcopy(document), OURS)
    documented(cleaned, kind)
    return cleaned


def schema_files(kinds: Iterable[Kind]) -> Iterator[tuple[str, Schema]]:
    """Yield a file for each kind and release, ``FAMILY/RELEASE/KIND.json``, with its schema.

    The release ``all`` has the fields of all of them. A kind of a release has one file.
    """
    for kind in kinds:
        family = kind.releases.family or kind.group
        for release in [kind.release] if kind.release else ["", *kind.releases.names]:
            if kind.at(release).exists:
                yield f"{family}/{release or 'all'}/{kind.kind}.json", json_schema(kind.at(release))


def without_keywords(value: Any, keys: set[str]) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema without some of our keywords."""
    if isinstance(value, dict):
        return {key: without_keywords(inner, keys) for key, inner in value.items() if key not in keys}
    return [without_keywords(item, keys) for item in value] if isinstance(value, list) else value
