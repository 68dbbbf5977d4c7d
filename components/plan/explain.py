"""Explains the effect of each field of a resource by rendering again without it, or with another value.

There are no descriptions per kind, so the result always matches the actual rendering.
"""

import copy
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..contract.checking import check
from ..contract.kinds import Kind
from ..contract.load import LoadedResource
from ..contract.problems import Problem, errors, field_path
from ..contract.schema.narrowing import schema_graph
from ..contract.schema.structural import SchemaGraph
from ..contract.texts.secrets import masked, masked_text
from ..fleet.options import Options
from ..fleet.rendered import Rendered
from .plan import Plan, passed_workloads
from .rendering import render_fleet
from .view import lines, view

Path = tuple[str | int, ...]
_EXPLAINED = (("spec",), ("metadata", "labels"), ("metadata", "annotations"))
_DIGITS = re.compile(r"[0-9]+")
_ITEMS = 20
"""Items of a list that are explained one by one. Further ones have the same schema, and mostly the same effect."""
_LEAST_RENDERINGS = 200
"""Enough for the fields of a usual resource, also in a fleet of hundreds of models."""
_VALUES = 500_000
"""Values that may be read and rendered for one resource: a few seconds of work, however large the input."""


@dataclass(frozen=True, slots=True)
class ExplainedField:
    """A field that is set.

    Attributes:
        path: Its path; for fields that are not explained, that of the first one and the number of the others.
        value: Its value, with secrets masked; None for what is not explained.
        became: Rendered fields with their values, fields it removes, its reference, and warnings. Empty without any
            effect.
    """

    path: str
    value: Any
    became: tuple[str, ...]


def explain(
    subject: LoadedResource,
    resources: Sequence[LoadedResource],
    planned: Plan,
    *,
    matches: re.Pattern[str] | None = None,
) -> tuple[ExplainedField, ...]:
    """Explain each field that a resource sets.

    Args:
        subject: The resource; one of ``resources``.
        resources: All resources that it may refer to, or that may refer to it.
        planned: Their plan, without errors.
        matches: Only explain fields with a path that this pattern matches as a whole.
    """
    options = planned.environment.options
    passed = tuple(passed_workloads(planned.manifests, planned.environment))
    usual = render_fleet(resources, options, passed_through=passed)
    own = tuple(item for item in usual.rendered if item.source.resource is subject.resource)
    own_view = view(replace(usual, rendered=own or usual.rendered))
    trial = _Trial(
        subject=subject, resources=resources, passed=passed, options=options, usual=view(usual), own=own_view
    )
    document = subject.resource.wire()
    safe, secrets = masked(document), frozenset[str]().union(*(resource.secrets for resource in resources))

    fields = [field for start in _EXPLAINED for field in _fields(_at(document, start), start)]
    limit = max(_LEAST_RENDERINGS, _VALUES // (len(fields) + len(trial.usual)))
    warned = set[str]()
    explained, left = list[ExplainedField](), list[str]()
    for path, value in fields:
        name = field_path(path)
        if matches is not None and not matches.fullmatch(name):
            continue
        if isinstance(value, _Rest):
            explained.append(ExplainedField(name, None, (f"not explained: {value}",)))
        elif trial.renderings >= limit:
            left.append(name)
        else:
            effects = _became(trial, planned.problems, document=document, path=path, value=value, warned=warned)
            masked_effects = tuple(masked_text(text, secrets) for text in effects)
            explained.append(ExplainedField(name, _at(safe, path), masked_effects))
    if left:
        more = f" and {len(left) - 1} more fields" if len(left) > 1 else ""
        reason = (
            f"not explained: the resources were rendered {limit} times for the fields above, and are too large for "
            "more; pass only the manifests that this resource needs"
        )
        explained.append(ExplainedField(f"{left[0]}{more}", None, (reason,)))
    return tuple(explained)


@dataclass(frozen=True, slots=True)
class _Rest:
    """What follows the explained items of a list.

    Attributes:
        items: Number of all items of the list.
    """

    items: int

    def __str__(self) -> str:
        return f"the list has {self.items} items, of which the first {_ITEMS} are explained"


@dataclass(slots=True)
class _Trial:
    """Renders the fleet with variants of one resource.

    Attributes:
        usual: View of the fleet.
        own: View of the resource; for one without rendered objects, that of the fleet.
        renderings: Number of variants that were rendered.
    """

    subject: LoadedResource
    resources: Sequence[LoadedResource]
    passed: tuple[Rendered, ...]
    options: Options
    usual: dict[str, str]
    own: dict[str, str]
    renderings: int = 0

    @property
    def kind(self) -> Kind:
        return self.subject.kind

    def differences(self, document: dict[str, Any], *, made_up: bool) -> list[str] | str:
        """Return what a variant lacks compared with the usual rendering, or why it is invalid.

        Args:
            document: The variant.
            made_up: Whether it contains an invented value, which must not be shown.
        """
        self.renderings += 1
        resource, problems = check(document, self.kind)
        if resource is None:
            return problems[0][1]
        other = self.subject.with_resource(resource)
        resources = [other if r is self.subject else r for r in self.resources]
        fleet = render_fleet(resources, self.options, passed_through=self.passed)
        wrong = errors(fleet.problems)
        if wrong:
            return wrong[0].reason
        new = view(fleet)
        changed = {field: value for field, value in self.usual.items() if new.get(field) != value}
        added = {field: "" if made_up else value for field, value in new.items() if field not in self.usual}
        return lines(changed, new) or [f"leaves out {line}" for line in lines(added, self.usual)]


def _became(
    trial: _Trial,
    problems: Sequence[Problem],
    document: dict[str, Any],
    path: Path,
    value: object,
    warned: set[str],
) -> Iterator[str]:
    """Yield the effects of a field.

    A problem of several fields is listed at the first of them, and at those without another effect.
    """
    # Try the document without the field, then with other values, until the rendering differs. If it never does,
    # ``refused`` is the reason why the field cannot be removed: empty if only other values were rejected, because
    # that reason would quote invented values, and None if none were.
    changed: list[str] = []
    refused: str | None = None
    for candidate, made_up in _candidates(document, path, value, schema_graph(trial.kind)):
        outcome = trial.differences(candidate, made_up=made_up)
        if isinstance(outcome, str):
            refused = refused or ("" if made_up else outcome)
        elif outcome:
            changed, refused = outcome, None
            break
    yield from changed
    named = {r.resource.metadata.name: r.resource.kind for r in trial.resources if r is not trial.subject}
    refers = not changed and isinstance(value, str) and value in named
    is_idle = not changed and not refers and refused is None
    if refers:
        yield f"refers to {named[str(value)]}/{value}"
    elif not changed and refused is not None:
        # A field that cannot be changed alone: list the rendered fields with its name and value.
        key, text = str(path[-1]), value if isinstance(value, str) else json.dumps(value)
        same = {field: rendered for field, rendered in trial.own.items() if rendered == text and key in field}
        yield from lines(same, trial.own) or [f"only validated: {refused}" if refused else "only validated"]
    place, name = field_path(path), trial.subject.resource.metadata.name
    own, elsewhere = (trial.kind.kind, name), f"{trial.kind.kind} {name!r}: {place.removeprefix('spec.')} "
    messages = [
        (p.path, f"{p.severity}: {p.reason}")
        for p in problems
        if ((p.kind, p.name) == own and p.path and f"{place}.".startswith((f"{p.path}.", f"{p.path}[")))
        or p.reason.startswith(elsewhere)
    ]
    yield from dict.fromkeys(text for path, text in messages if is_idle or path == place or text not in warned)
    warned.update(text for _, text in messages)


def _candidates(
    document: dict[str, Any], path: Path, value: object, shape: SchemaGraph
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield variants of a document, and whether they contain an invented value."""
    without = copy.deepcopy(document)
    _remove(without, path)
    yield without, False
    parent, equal = _at(document, path[:-1]), tuple[str | int, ...]()
    if isinstance(parent, dict) and isinstance(value, int | float) and not isinstance(value, bool):
        equal = tuple(key for key, other in parent.items() if other == value and not isinstance(other, bool))
    # Equal numbers of one object also change together: some must agree, such as two bounds.
    for keys in ((path[-1],), equal if len(equal) > 1 else ()):
        for other in _others(value, path, shape) if keys else ():
            changed = copy.deepcopy(document)
            for key in keys:
                _at(changed, path[:-1])[key] = other
            yield changed, True


def _others(value: object, path: Path, shape: SchemaGraph) -> Iterator[object]:
    """Yield other values of the same type that may be valid."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, value * 2)
    elif isinstance(value, str):
        schema: dict[str, Any] | None = shape.root
        for part in path:
            schema = shape.field(schema, part) if schema is not None else None
        words: Sequence[str] = shape.resolve(schema).get("enum", ()) if schema is not None else ()
        yield from (word for word in words if word != value)
        if _DIGITS.search(value):
            yield _DIGITS.sub(lambda match: str(int(match[0]) + 1), value, count=1)
        yield value + "x"


def _fields(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401 - any JSON
    """Yield all set values: scalars, empty maps and lists, and the rest of each long list."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _fields(inner, (*path, key))
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value[:_ITEMS]):
            yield from _fields(inner, (*path, number))
        if len(value) > _ITEMS:
            yield (*path, _ITEMS), _Rest(len(value))
    elif value is not None:
        yield path, value


def _at(value: Any, path: Path) -> Any:  # noqa: ANN401 - any JSON
    for part in path:
        if isinstance(value, str):
            return value  # a structure that is hidden as a whole
        value = value.get(part) if isinstance(value, dict) else value[part]
        if value is None:
            return None
    return value


def _remove(document: dict[str, Any], path: Path) -> None:
    """Remove a field, and parents that become empty."""
    parent = _at(document, path[:-1])
    del parent[path[-1]]
    if not parent and len(path) > len(("spec", "field")):
        _remove(document, path[:-1])
