"""What becomes of resources from one revision to another one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..aws.facts.updates import replaced_fields
from .differences import MISSING, Difference, differences, fixed_fields, is_within, parse_path, path_text
from .review import ChangeKind, FieldDifference, ResourceChange
from .snapshot import RegisteredResource

URN = "urn"
"""Stands for a field where an object is registered as another resource, and nobody says that it is the same."""

Pair = tuple[RegisteredResource | None, RegisteredResource | None]
_Identity = tuple[str, str, str, str]


def resource_changes(
    before: Sequence[RegisteredResource], after: Sequence[RegisteredResource]
) -> tuple[ResourceChange, ...]:
    """Return what becomes of each resource, in the order of titles; components only hold others."""
    changes = (change for old, new in pairs(_real(before), _real(after)) if (change := _change(old, new)))
    return tuple(sorted(changes, key=lambda change: (change.title, change.type, change.urn)))


def _real(resources: Sequence[RegisteredResource]) -> list[RegisteredResource]:
    return [resource for resource in resources if not resource.is_component]


def pairs(before: Sequence[RegisteredResource], after: Sequence[RegisteredResource]) -> Iterator[Pair]:
    """Yield what belongs together: by URN, by a former URN, and an object of Kubernetes by its name."""
    known = {resource.urn: resource for resource in before}
    today = {resource.urn for resource in after}
    left: list[RegisteredResource] = []
    for resource in after:
        former = (urn for urn in (resource.urn, *resource.former) if urn == resource.urn or urn not in today)
        urn = next((urn for urn in former if urn in known), None)
        if urn is None:
            left.append(resource)
        else:
            yield known.pop(urn), resource
    by_name = {identity: resource for resource in known.values() if (identity := identity_of(resource))}
    for resource in left:
        found = by_name.pop(identity_of(resource) or ("", "", "", ""), None)
        yield known.pop(found.urn) if found else None, resource
    yield from ((resource, None) for resource in known.values())


def identity_of(resource: RegisteredResource) -> _Identity | None:
    """Return what tells an object from all others of a cluster; None for what is no object."""
    if not resource.is_object:
        return None
    group = str(resource.inputs.get("apiVersion", "")).rpartition("/")[0]
    metadata = resource.inputs["metadata"]
    if not isinstance(metadata, Mapping):
        return None
    return group, str(resource.inputs["kind"]), str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _change(old: RegisteredResource | None, new: RegisteredResource | None) -> ResourceChange | None:
    if old is None:
        return None if new is None else ResourceChange(ChangeKind.CREATED, new.title, new.type, urn=new.urn)
    if new is None:
        return ResourceChange(ChangeKind.DELETED, old.title, old.type, urn=old.urn)
    fields = field_differences(old, new)
    former = old.urn if old.urn != new.urn else ""
    if former and former not in new.former:
        fields = (FieldDifference(URN, old.urn, new.urn, replaces=True), *fields)
    if not fields:
        return None
    kind = ChangeKind.REPLACED if any(field.replaces for field in fields) else ChangeKind.UPDATED
    return ResourceChange(kind, new.title, new.type, fields, new.urn, former)


def field_differences(old: RegisteredResource, new: RegisteredResource) -> tuple[FieldDifference, ...]:
    """Return the fields that differ, but those of which the program ignores changes."""
    ignored = [parse_path(path) for path in new.ignored]
    if new.is_object:
        fixed = fixed_fields(new.inputs, new.replaced_on)
    else:
        fixed = [parse_path(path) for path in (*replaced_fields(new.type), *new.replaced_on)]
    return tuple(
        _field(found, replaces=is_within(_steps(found), fixed))
        for found in differences(dict(old.inputs), dict(new.inputs))
        if not _is_below(_steps(found), ignored)
    )


def _steps(found: Difference) -> tuple[str, ...]:
    return tuple(map(str, found.path))


def _is_below(path: tuple[str, ...], fields: Sequence[tuple[str, ...]]) -> bool:
    return any(len(field) <= len(path) and is_within(path, [field]) for field in fields)


def _field(found: Difference, *, replaces: bool) -> FieldDifference:
    return FieldDifference(path_text(found.path), value_text(found.before), value_text(found.after), replaces)


def value_text(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """Write a value for a reader; None where there is none."""
    if value is MISSING:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
