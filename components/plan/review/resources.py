"""Changes of resources between two revisions."""

from collections.abc import Iterator, Mapping, Sequence

from .cascade import Cascade
from .review import ChangeKind, FieldDifference, ResourceChange
from .snapshot import RegisteredResource, ValueSources

Pair = tuple[RegisteredResource | None, RegisteredResource | None]
_Identity = tuple[str, str, str, str]
_Fields = Mapping[str, tuple[FieldDifference, ...]]
_NOTHING: ValueSources = {}


PROTECTED = "protected: Pulumi refuses this until protect is removed"
RETAINED = "retained: Pulumi removes it from the state without deleting it"


def resource_changes(
    before: Sequence[RegisteredResource],
    after: Sequence[RegisteredResource],
    before_from: ValueSources = _NOTHING,
    after_from: ValueSources = _NOTHING,
) -> tuple[ResourceChange, ...]:
    """Return the change of each resource, ordered by title; components are left out, because they only group others.

    Args:
        before: Resources of the base.
        after: Resources of the head.
        before_from: Sources of unknown values in the inputs of the base.
        after_from: Sources of those of the head.
    """
    matches = list(pairs(_real(before), _real(after)))
    both = [(old, new) for old, new in matches if old and new]
    fields = Cascade(both, before_from, after_from, _providers(before), _providers(after)).run()
    changes = (change for old, new in matches if (change := _change(old, new, fields)))
    return tuple(sorted(changes, key=lambda change: (change.title, change.type, change.urn)))


def _providers(resources: Sequence[RegisteredResource]) -> dict[str, RegisteredResource]:
    return {resource.urn: resource for resource in resources if resource.type.startswith("pulumi:providers:")}


def _real(resources: Sequence[RegisteredResource]) -> list[RegisteredResource]:
    return [resource for resource in resources if not resource.is_component]


def pairs(before: Sequence[RegisteredResource], after: Sequence[RegisteredResource]) -> Iterator[Pair]:
    """Match resources by URN, by alias, and Kubernetes objects by name."""
    known = {resource.urn: resource for resource in before}
    today = {resource.urn for resource in after}
    unmatched: list[RegisteredResource] = []
    for resource in after:
        former = (urn for urn in (resource.urn, *resource.former) if urn == resource.urn or urn not in today)
        urn = next((urn for urn in former if urn in known), None)
        if urn is None:
            unmatched.append(resource)
        else:
            yield known.pop(urn), resource
    by_name = {identity: resource for resource in known.values() if (identity := identity_of(resource))}
    for resource in unmatched:
        match = by_name.pop(identity_of(resource) or ("", "", "", ""), None)
        yield known.pop(match.urn) if match else None, resource
    yield from ((resource, None) for resource in known.values())


def identity_of(resource: RegisteredResource) -> _Identity | None:
    """Return the identity of a Kubernetes object in its cluster; None for other resources."""
    if not resource.is_object:
        return None
    group = str(resource.inputs.get("apiVersion", "")).rpartition("/")[0]
    metadata = resource.inputs["metadata"]
    if not isinstance(metadata, Mapping):
        return None
    return group, str(resource.inputs["kind"]), str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _change(
    old: RegisteredResource | None, new: RegisteredResource | None, differences: _Fields
) -> ResourceChange | None:
    if old is None:
        return None if new is None else ResourceChange(ChangeKind.CREATED, new.title, new.type, urn=new.urn)
    if new is None:
        return ResourceChange(ChangeKind.DELETED, old.title, old.type, urn=old.urn, note=_note(old, old))
    fields = differences.get(new.urn, ())
    if not fields:
        return None
    former = old.urn if old.urn != new.urn else ""
    if not any(field.replaces for field in fields):
        return ResourceChange(ChangeKind.UPDATED, new.title, new.type, fields, new.urn, former)
    return ResourceChange(ChangeKind.REPLACED, new.title, new.type, fields, new.urn, former, _note(old, new))


def _note(old: RegisteredResource, new: RegisteredResource) -> str:
    """Describe the effect of options on a resource to be deleted (step_generator.go of pulumi/pulumi at 1b594989)."""
    if old.protected and new.protected:
        return PROTECTED
    return RETAINED if old.retained else ""
