"""Compares resources with a release of their API: fields, values and kinds that it does not have."""

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from .base import ApiModel, Json
from .kinds import Kind
from .meta import Resource
from .releases import Releases, Span, described

NOWHERE = "no release has it"
"""Reason of a field that only native rendering supports."""
Path = tuple[str | int, ...]
Misfit = tuple[Path, str]
"""A field that a release does not accept, and the reason."""


class _SpannedField(NamedTuple):
    name: str
    alias: str
    spans: tuple[Span, ...]


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
        yield ("kind",), f"{releases.title(release)} has no kind {kind.kind}; {_remedy(releases, [kind.span])}"


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
    for name, alias, spans in _spanned_fields(type(model)):
        span = next((span for span in spans if releases.covers(span, release)), None)
        at = (*path, alias)
        if span is None:
            if name in explicit:
                lacking.add(name)
                yield at, f"unknown field of {releases.title(release)}; {_remedy(releases, spans)}"
        elif name in explicit:
            faults = list(_faults(model.wire()[alias], span)) if span.schema else []
            for fault, reason in faults:
                yield (*at, *fault), f"{reason} in {releases.title(release)}"
        elif span.required and "default" not in span.schema:  # the API server sets defaults first
            yield at, f"is required by {releases.title(release)}; set it"
    for name, alias in _nested_fields(type(model)):
        if name in explicit and name not in lacking:
            yield from _of_value(getattr(model, name), releases, release, (*path, alias))


@functools.cache
def _spanned_fields(model: type[ApiModel]) -> tuple[_SpannedField, ...]:
    spanned = []
    for name, info in model.model_fields.items():
        spans = tuple(item for item in info.metadata if isinstance(item, Span))
        if spans:
            spanned.append(_SpannedField(name, info.alias or name, spans))
    return tuple(spanned)


@functools.cache
def _nested_fields(model: type[ApiModel]) -> tuple[tuple[str, str], ...]:
    """Return name and alias of the fields that can contain models with fields of single releases."""
    return tuple(
        (name, info.alias or name)
        for name, info in model.model_fields.items()
        if any(_spanned_fields(part) for part in _models_in(info.annotation))
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


def _faults(value: Json, span: Span) -> Iterator[Misfit]:
    """Yield where a value breaks the constraints that a field has in some releases only."""
    constraints = {key: constraint for key, constraint in span.schema.items() if constraint is not None}
    if "pattern" in constraints:
        # The API server reads patterns as RE2, whose \s has no vertical tab, unlike that of jsonschema_rs.
        constraints["pattern"] = constraints["pattern"].replace(r"[^\s]", r"[^\t\n\f\r ]")
    if constraints.keys() - {"default", "format"}:
        import jsonschema_rs

        from .schema.embedded import explain_error

        for error in jsonschema_rs.validator_for(constraints).iter_errors(value):
            yield from explain_error(error)


def _remedy(releases: Releases, spans: Iterable[Span]) -> str:
    """Return which releases have something, and how to convert manifests to the one that is set."""
    names = releases.of_spans(spans)
    if not names:
        return (
            f"{NOWHERE}, only realization 'native' supports it; remove it, or do not set releases.{releases.family}"
        )
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{described(names, releases)} {verb} it; set releases.{releases.family} to one that has it, or convert the "
        "manifests with 'workbench migrate'"
    )
