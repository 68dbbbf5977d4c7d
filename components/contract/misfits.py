"""Compares resources with a release of their API: fields, values and kinds that it does not have."""

import functools
from collections.abc import Iterator
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from .base import ApiModel, Json
from .kinds import Kind
from .meta import Resource
from .releases import Releases, Span, described
from .schema.embedded import Embedded

if TYPE_CHECKING:
    import jsonschema_rs

NOWHERE = "no release has it"
"""Reason of a field that only native rendering supports."""
Path = tuple[str | int, ...]
Misfit = tuple[Path, str]
"""A field that a release does not accept, and the reason."""


class _ConstrainedField(NamedTuple):
    """A field that one release lacks (without ``span``), requires, or constrains otherwise than the type does."""

    name: str
    alias: str
    span: Span | None
    remedy: str


def misfits(resource: Resource, kind: Kind, release: str) -> Iterator[Misfit]:
    """Yield the fields of a resource that a release of its API does not accept, with the reason.

    Rules over several fields are not evaluated: those of a release are checked where a manifest is read in it.

    Args:
        resource: The resource, valid in the union of all releases.
        kind: Its kind.
        release: The release.
    """
    releases = kind.releases
    if releases.covers(kind.span, release):
        yield from _of_model(resource, releases, release, ())
    else:
        remedy = _remedy(releases, releases.of_spans([kind.span]))
        yield ("kind",), f"{releases.title(release)} has no kind {kind.kind}; {remedy}"


def fitting_releases(resource: Resource, kind: Kind) -> list[str]:
    """Return the releases that accept all fields of a resource, oldest first."""
    return [name for name in kind.releases.names if next(misfits(resource, kind, name), None) is None]


def _of_value(value: Json, releases: Releases, release: str, path: Path) -> Iterator[Misfit]:
    if isinstance(value, ApiModel):
        yield from _of_model(value, releases, release, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _of_value(item, releases, release, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _of_value(item, releases, release, (*path, key))


def _of_model(model: ApiModel, releases: Releases, release: str, path: Path) -> Iterator[Misfit]:
    explicit = model.model_fields_set
    lacking = set[str]()
    for name, alias, span, remedy in _constrained_fields(type(model), releases, release):
        at = (*path, alias)
        if span is None:
            if name in explicit:
                lacking.add(name)
                yield at, f"unknown field of {releases.title(release)}; {remedy}"
        elif name in explicit:
            for fault, reason in _faults(model, name, alias, span):
                yield (*at, *fault), f"{reason} in {releases.title(release)}"
        elif span.required and "default" not in span.schema:  # the API server sets defaults first
            yield at, f"is required by {releases.title(release)}; set it"
    for name, alias, embedded in _embedded_fields(type(model)):
        if name in explicit and name not in lacking:
            for fault, reason in embedded.lacking(getattr(model, name), releases, release):
                having = _embedding(embedded, getattr(model, name), fault, releases)
                remedy = _remedy(releases, having)
                yield (*path, alias, *fault), f"unknown field of {releases.title(release)}: {reason}; {remedy}"
    for name, alias in _nested_fields(type(model)):
        if name in explicit and name not in lacking:
            yield from _of_value(getattr(model, name), releases, release, (*path, alias))


@functools.cache
def _constrained_fields(model: type[ApiModel], releases: Releases, release: str) -> tuple[_ConstrainedField, ...]:
    """Return the fields that a release lacks, requires or constrains otherwise than the type does."""
    constrained = []
    for name, alias, spans in _spanned_fields(model):
        span = next((span for span in spans if releases.covers(span, release)), None)
        if span is None:
            constrained.append(_ConstrainedField(name, alias, None, _remedy(releases, releases.of_spans(spans))))
        elif span.required or _validator(span):
            constrained.append(_ConstrainedField(name, alias, span, ""))
    return tuple(constrained)


def _spanned_fields(model: type[ApiModel]) -> Iterator[tuple[str, str, list[Span]]]:
    for name, info in model.model_fields.items():
        spans = [item for item in info.metadata if isinstance(item, Span)]
        if spans:
            yield name, info.alias or name, spans


@functools.cache
def _embedded_fields(model: type[ApiModel]) -> tuple[tuple[str, str, Embedded], ...]:
    """Return the fields whose values are of types of Kubernetes."""
    return tuple(
        (name, info.alias or name, part)
        for name, info in model.model_fields.items()
        for part in _parts_of(info)
        if isinstance(part, Embedded)
    )


def _parts_of(info: FieldInfo) -> Iterator[Any]:
    """Yield the type of a field and its annotations, also those of an optional type."""
    parts: list[Any] = [*info.metadata, info.annotation]
    while parts:
        part = parts.pop()
        yield part
        if get_origin(part) in (Annotated, Union, UnionType):
            parts += get_args(part)


def _embedding(embedded: Embedded, value: Json, path: Path, releases: Releases) -> list[str]:
    """Return the releases whose definitions have a field within a value of a type of Kubernetes."""
    return [name for name in releases.names if all(path != at for at, _ in embedded.lacking(value, releases, name))]


@functools.cache
def _nested_fields(model: type[ApiModel]) -> tuple[tuple[str, str], ...]:
    """Return name and alias of the fields that can contain models with fields of single releases."""
    return tuple(
        (name, info.alias or name)
        for name, info in model.model_fields.items()
        if any(any(_spanned_fields(part)) or _embedded_fields(part) for part in _models_in(info.annotation))
    )


def _models_in(annotation: Any) -> set[type[ApiModel]]:  # noqa: ANN401  any type
    """Return the models that values of a type consist of, at any depth."""
    models, types = set[type[ApiModel]](), [annotation]
    while types:
        part = types.pop()
        types += get_args(part)
        if isinstance(part, type) and issubclass(part, ApiModel) and part not in models:
            models.add(part)
            types += [info.annotation for info in part.model_fields.values()]
    return models


def _faults(model: ApiModel, name: str, alias: str, span: Span) -> Iterator[Misfit]:
    """Yield where the value of a field breaks the constraints that the field has in some releases only."""
    validator = _validator(span)
    if validator is not None:
        from .schema.embedded import explain_error

        value = model.model_dump(by_alias=True, exclude_unset=True, include={name})[alias]
        for error in validator.iter_errors(value):
            yield from explain_error(error)


@functools.cache
def _validator(span: Span) -> "jsonschema_rs.Validator | None":
    """Return the validator of the constraints of a span; None if it has none. Spans live as long as their types."""
    constraints = {key: constraint for key, constraint in span.schema.items() if constraint is not None}
    if not constraints.keys() - {"default", "format"}:
        return None
    if "pattern" in constraints:
        # The API server reads patterns as RE2, whose \s has no vertical tab, unlike that of jsonschema_rs.
        constraints["pattern"] = constraints["pattern"].replace(r"[^\s]", r"[^\t\n\f\r ]")
    import jsonschema_rs

    return jsonschema_rs.validator_for(constraints)


def _remedy(releases: Releases, names: list[str]) -> str:
    """Return which releases have something, and how to convert manifests to the one that is set."""
    if not names:
        return f"{NOWHERE}, only realization 'native' supports it; remove it, or do not set {releases.choosing()}"
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{described(names, releases)} {verb} it; choose one that has it ({releases.choosing()}), or convert the "
        "manifests with 'workbench migrate'"
    )
