"""What is known of each field of a kind: description, type, default, limits, and the releases that have it.

``workbench explain --field``, the reference pages and the editors' JSON schemas are made from it.
"""

import itertools
import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from .base import ApiModel, Json
from .field_docs import field_docs
from .kinds import Kind
from .releases import SPANS, Span, described
from .schema.embedded import Schema
from .schema.structural import SchemaGraph, hub_graph

_PREFIX = "#/$defs/"
_CORE = "io.k8s."
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} entries",
    "maxProperties": "at most {} entries",
    "pattern": "matches `{}`",
}
_INT32, _INT64 = 2**31, 2**63
_SNAKE = re.compile(r"\b[a-z]+(_[a-z0-9]+)+\b")
_WHOLE_RANGE = {"minimum": (-_INT32, -_INT64), "maximum": (_INT32 - 1, _INT64 - 1)}
"""Bounds that only say that a number is stored in 32 or 64 bits."""


class FieldReference(NamedTuple):
    """A field of a kind.

    Attributes:
        path: Its path, such as ``spec.backends[].workers[].image``; ``.*`` stands for any key of a map.
        type: Its type in words, such as ``list of string``; for types of Kubernetes their name.
        required: Whether it must be set wherever its parent is, in the releases without a note on it.
        default: The value that the API server sets; None without one.
        limits: What the API server accepts, one phrase per rule.
        releases: The releases that have it; empty for all of them.
        changes: How required, default and limits differ in some releases, one sentence each.
        description: What it is for.
    """

    path: str
    type: str
    required: bool
    default: Json
    limits: tuple[str, ...]
    releases: str
    changes: tuple[str, ...]
    description: str


def field_references(kind: Kind) -> Iterator[FieldReference]:
    """Yield every field of a kind's spec in the order of the contract, parents before their fields.

    Fields of Kubernetes' own types, such as those of a pod template, are those of Kubernetes, and not listed.
    """
    graph = hub_graph(kind)
    names = kind.releases.of_spans([kind.span])
    yield from itertools.islice(
        _of_field(kind, graph, owner=kind.model, alias="spec", path="spec", parents=(), releases=names), 1, None
    )


def documented(schema: Schema, kind: Kind) -> None:
    """Add the descriptions of fields to the JSON schema of a kind, in place."""
    models = {model.__name__: model for model in _models_below(kind.model)}
    for name, definition in {**schema.get("$defs", {}), kind.model.__name__: schema}.items():
        docs = _docs(models[name]) if name in models else {}
        for alias, inner in definition.get("properties", {}).items():
            if alias in docs:
                inner.setdefault("description", docs[alias])


def _of_field(
    kind: Kind,
    graph: SchemaGraph,
    owner: type[ApiModel],
    alias: str,
    path: str,
    parents: tuple[type[ApiModel], ...],
    releases: list[str],
) -> Iterator[FieldReference]:
    """Yield a field and all below it.

    A type is not listed below itself: ``parents`` are the types that the path passes through. ``releases`` are those
    that have the parent.
    """
    definition = graph.root if owner is kind.model else graph.defs[owner.__name__]
    schema: Schema = definition["properties"][alias]
    spans = [Span.from_json(span) for span in schema.get(SPANS, ())]
    if spans:
        releases = [name for name in kind.releases.of_spans(spans) if name in releases]
    yield FieldReference(
        path=path,
        type=type_in_words(graph, schema),
        required=alias in definition.get("required", ()),
        default=schema.get("default"),
        limits=tuple(_limits(graph.resolve(schema))),
        releases=described(releases, kind.releases) if releases != kind.releases.names else "",
        changes=tuple(_changes(kind, spans, releases)),
        description=_docs(owner).get(alias, ""),
    )
    info = next(info for name, info in owner.model_fields.items() if (info.alias or name) == alias)
    for model, suffix in _models_in(info.annotation, ""):
        if model not in parents:
            for name, inner in model.model_fields.items():
                inner_alias = inner.alias or name
                below = f"{path}{suffix}.{inner_alias}"
                if inner_alias in graph.defs.get(model.__name__, {}).get("properties", {}):
                    yield from _of_field(
                        kind,
                        graph,
                        owner=model,
                        alias=inner_alias,
                        path=below,
                        parents=(*parents, model),
                        releases=releases,
                    )


def type_in_words(graph: SchemaGraph, schema: Schema) -> str:
    """Return the type of a schema as documentation names it."""
    reference = str(schema.get("$ref", "")).removeprefix(_PREFIX)
    if reference.startswith(_CORE):
        return ".".join(reference.split(".")[-2:]).replace("v1.", "v1 ").replace("resource.", "")
    schema = graph.resolve(schema)
    if schema.get("x-kubernetes-int-or-string"):
        return "integer or string"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_in_words(graph, each) for each in schema["anyOf"]))
    match schema.get("type"):
        case "array":
            return f"list of {type_in_words(graph, schema.get('items', {}))}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"map of string to {type_in_words(graph, schema['additionalProperties'])}"
        case str(name):
            return name
        case _:
            return "any"


def _limits(schema: Schema) -> Iterator[str]:
    if schema.get("enum"):
        yield "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    for keyword, text in _LIMITS.items():
        if keyword in schema and schema[keyword] not in _WHOLE_RANGE.get(keyword, ()):
            yield text.format(schema[keyword])


def _changes(kind: Kind, spans: list[Span], releases: list[str]) -> Iterator[str]:
    for span in spans:
        names = [name for name in kind.releases.of_spans([span]) if name in releases]
        facts = list(_limits({key: value for key, value in span.schema.items() if value is not None}))
        if span.required is not None:
            facts.insert(0, "required" if span.required else "optional")
        if "default" in span.schema:
            facts.append("no default" if span.schema["default"] is None else f"default `{span.schema['default']}`")
        if facts and names:
            yield f"{described(names, kind.releases)}: {', '.join(facts)}"


def _docs(model: type[ApiModel]) -> Mapping[str, str]:
    """Return the description of each field by its name in manifests, with the names of others as in manifests."""
    fields = model.model_fields
    return {
        fields[name].alias or name: _SNAKE.sub(lambda word: to_camel(word[0]), " ".join(text.split()))
        for name, text in field_docs(model).items()
        if name in fields
    }


def _models_in(annotation: Any, suffix: str) -> Iterator[tuple[type[ApiModel], str]]:  # noqa: ANN401  a type
    """Yield the contract's types in an annotation, each with the suffix of the path to its fields."""
    if isinstance(annotation, type) and issubclass(annotation, ApiModel):
        yield annotation, suffix
        return
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (list, tuple):
        suffix += "[]"
    elif origin is dict:
        suffix, inner = f"{suffix}.*", inner[1:]
    elif origin is typing.Annotated:
        inner = inner[:1]
    for each in inner:
        yield from _models_in(each, suffix)


def _models_below(model: type[ApiModel]) -> set[type[ApiModel]]:
    known, rest = set[type[ApiModel]](), [model]
    while rest:
        each = rest.pop()
        if each not in known:
            known.add(each)
            rest += [inner for info in each.model_fields.values() for inner, _ in _models_in(info.annotation, "")]
    return known
