"""Narrows the schema of a kind, the union of all releases, to one release, and compares objects with a release."""

import functools
from collections.abc import Iterator
from typing import Any

from ..base import Json
from ..kinds import Kind
from ..releases import SPAN, SPANS, Releases, Span, described
from .embedded import UNKNOWN, Schema, explain_error
from .structural import SchemaGraph, hub_graph

Path = tuple[str | int, ...]
Misfit = tuple[Path, str]
"""A field that a release does not accept, and the reason."""

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
    return SchemaGraph(root, {name: _narrowed(schema, kind.releases, release) for name, schema in hub.defs.items()})


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


def misfits(value: dict[str, Any], kind: Kind, release: str) -> Iterator[Misfit]:
    """Yield the fields of a valid object that a release of its API does not accept, with the reason.

    Rules over several fields are not evaluated: those of a release are checked where the object is read in it.
    """
    releases = kind.releases
    if not releases.covers(kind.span, release):
        yield ("kind",), f"{releases.title(release)} has no kind {kind.kind}; {_others(kind.releases, [kind.span])}"
        return
    hub, narrowed = hub_graph(kind), release_graph(kind, release)
    yield from _misfits(value, (hub, hub.root), (narrowed, narrowed.root), (), (releases, release))


def _misfits(
    value: Json,
    hub: tuple[SchemaGraph, Schema],
    narrowed: tuple[SchemaGraph, Schema],
    path: Path,
    at: tuple[Releases, str],
) -> Iterator[Misfit]:
    (hub_graph_, whole), (graph, part) = hub, narrowed
    whole, part = hub_graph_.resolve(whole), graph.resolve(part)
    releases, release = at
    if isinstance(value, list):
        if "items" in whole and "items" in part:
            for index, item in enumerate(value):
                yield from _misfits(item, (hub_graph_, whole["items"]), (graph, part["items"]), (*path, index), at)
        return
    if not isinstance(value, dict):
        return
    for name in part.get("required", ()):
        if name not in value and name not in whole.get("required", ()):
            yield (*path, name), f"is required by {releases.title(release)}; set it"
    for name, inner in value.items():
        outer, own = hub_graph_.field(whole, name), graph.field(part, name)
        spans = [Span.from_json(span) for span in (outer or {}).get(SPANS, ())]
        if outer is None:
            continue
        if own is None:
            yield (*path, name), f"{UNKNOWN} of {releases.title(release)}; {_others(releases, spans)}"
            continue
        patched = next((span for span in spans if releases.covers(span, release)), None)
        faults = list(_patched_faults(inner, patched, graph)) if patched else []
        for fault, reason in faults:
            yield (*path, name, *fault), f"{reason} in {releases.title(release)}"
        if not faults:
            yield from _misfits(inner, (hub_graph_, outer), (graph, own), (*path, name), at)


def _others(releases: Releases, spans: list[Span]) -> str:
    """Return which releases have something, and how to convert manifests to the one that is set."""
    names = releases.of_spans(spans)
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{described(names, releases)} {verb} it; set releases.{releases.family} to one that has it, or convert the "
        "manifests with 'workbench migrate'"
    )


def _patched_faults(value: Json, span: Span, graph: SchemaGraph) -> Iterator[Misfit]:
    """Yield where a value breaks the constraints that a field has in some releases only."""
    constraints = {key: constraint for key, constraint in span.schema.items() if constraint is not None}
    if not constraints:
        return
    import jsonschema_rs

    validator = jsonschema_rs.validator_for({**constraints, "$defs": graph.defs})
    for error in validator.iter_errors(value):
        yield from explain_error(error)


def fitting_releases(value: dict[str, Any], kind: Kind) -> list[str]:
    """Return the releases that accept all fields of a valid object, oldest first."""
    return [name for name in kind.releases.names if next(misfits(value, kind, name), None) is None]
