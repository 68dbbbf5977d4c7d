"""Narrows the schema of a kind, the union of all releases, to one release."""

import functools

from ..base import Json
from ..kinds import Kind
from ..releases import SINCE, SPAN, SPANS, Releases, Span
from .embedded import OBJECT_META, Schema
from .structural import SchemaGraph, hub_graph

_RULES = "x-kubernetes-validations"


def schema_graph(kind: Kind) -> SchemaGraph:
    """Return the schema of a kind: that of its release, or else the union of all releases."""
    return release_graph(kind, kind.release) if kind.release else hub_graph(kind)


def contract_graph(kind: Kind) -> SchemaGraph:
    """Return the schema of a kind in its release, or else in the contract's."""
    release = kind.release or kind.releases.contract
    if release and not kind.releases.covers(kind.span, release):
        release = kind.span.since
    return release_graph(kind, release) if release else hub_graph(kind)


@functools.cache
def release_graph(kind: Kind, release: str) -> SchemaGraph:
    """Return the schema of a kind in one release."""
    hub = hub_graph(kind)
    root = _narrowed(hub.root, kind.releases, release)
    defs = {name: _narrowed(schema, kind.releases, release) for name, schema in hub.defs.items()}
    if OBJECT_META in defs and not kind.releases.embeds_metadata:
        defs[OBJECT_META] = {"type": "object"}
    return SchemaGraph(root, defs)


def _narrowed(schema: Json, releases: Releases, release: str) -> Json:
    if isinstance(schema, list):
        return [_narrowed(item, releases, release) for item in schema]
    if not isinstance(schema, dict):
        return schema
    narrowed: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            fields = {name: _field(inner, releases, release) for name, inner in value.items()}
            narrowed[key] = {name: _narrowed(inner, releases, release) for name, inner in fields.items() if inner}
        elif key == _RULES:
            rules = [rule for rule in value if SPAN not in rule or _covers(rule[SPAN], releases, release)]
            if rules:
                narrowed[key] = [{name: part for name, part in rule.items() if name != SPAN} for rule in rules]
        else:
            narrowed[key] = _narrowed(value, releases, release)
    if "properties" in schema:
        required = _required(schema, releases, release)
        if required or "required" in schema:
            narrowed["required"] = required
    return narrowed


def _covers(span: Json, releases: Releases, release: str) -> bool:
    return releases.covers(Span.from_json(span), release)


def _field(schema: Schema, releases: Releases, release: str) -> Schema | None:
    """Return the schema of a field in a release, without its spans; None if the release lacks the field."""
    if SINCE in schema:
        if not releases.find(release).embeds(schema[SINCE]):
            return None
        return {key: value for key, value in schema.items() if key != SINCE}
    if SPANS not in schema:
        return schema
    span = next((span for span in schema[SPANS] if _covers(span, releases, release)), None)
    if span is None:
        return None
    patched = {key: value for key, value in schema.items() if key != SPANS} | span["schema"]
    return {key: value for key, value in patched.items() if value is not None}


def _required(schema: Schema, releases: Releases, release: str) -> list[str]:
    declared, required = schema.get("required", ()), []
    for name, inner in schema["properties"].items():
        spans = [span for span in inner.get(SPANS, ()) if _covers(span, releases, release)]
        if SPANS in inner and not spans:
            continue
        own = spans[0]["required"] if spans else None
        if own if own is not None else name in declared:
            required.append(name)
    return required
