"""Changes of resources between two revisions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...fleet.cloud_providers import known_arguments, update_effects
from ...fleet.transitions import RefusedChange
from .cascade import Cascade
from .differences import parse_path
from .review import ChangeKind, FieldDifference, ResourceChange
from .snapshot import RegisteredResource, ValueSources
from .transitions import refused_changes

Pair = tuple[RegisteredResource | None, RegisteredResource | None]
_Fields = Mapping[str, tuple[FieldDifference, ...]]
_NOTHING: ValueSources = {}


PROTECTED = "protected: Pulumi refuses this until protect is removed"
RETAINED = "retained: Pulumi removes it from the state without deleting it"
RELEASED = "no longer belongs to the stack, which only reads it"
UNSURE = "may be replaced: the effect of this change is not known here; `pulumi preview` shows it"


class ResourceComparison(NamedTuple):
    """The changes of resources between two revisions.

    Attributes:
        changes: The change of each resource, ordered by title, without components, which only group others.
        refused: The changes that must not be deployed.
    """

    changes: tuple[ResourceChange, ...]
    refused: tuple[RefusedChange, ...]


def compare_resources(
    before: Sequence[RegisteredResource],
    after: Sequence[RegisteredResource],
    before_from: ValueSources = _NOTHING,
    after_from: ValueSources = _NOTHING,
) -> ResourceComparison:
    """Compare the resources of two revisions.

    Args:
        before: Resources of the base.
        after: Resources of the head.
        before_from: Sources of unknown values in the inputs of the base.
        after_from: Sources of those of the head.
    """
    matches = list(pairs(_real(before), _real(after)))
    # A resource that the program only reads is not compared: Pulumi neither updates nor replaces it.
    both = [(old, new) for old, new in matches if old and new and not (old.is_read or new.is_read)]
    cascade = Cascade(both, before_from, after_from, _providers(before), _providers(after))
    fields = cascade.run()
    changes = (change for old, new in matches if (change := _change(old, new, fields)))
    return ResourceComparison(
        tuple(sorted(changes, key=lambda change: (change.title, change.type, change.urn))),
        tuple(
            refused_changes(
                matches, fields, before_from, compared=cascade.compared, deleted_first=cascade.deleted_first
            )
        ),
    )


def resource_changes(
    before: Sequence[RegisteredResource],
    after: Sequence[RegisteredResource],
    before_from: ValueSources = _NOTHING,
    after_from: ValueSources = _NOTHING,
) -> tuple[ResourceChange, ...]:
    """Return the changes of :func:`compare_resources`."""
    return compare_resources(before, after, before_from, after_from).changes


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
    by_name = {resource.identity: resource for resource in known.values() if resource.identity}
    for resource in unmatched:
        match = by_name.pop(resource.identity, None) if resource.identity else None
        yield known.pop(match.urn) if match else None, resource
    yield from ((resource, None) for resource in known.values())


def _change(
    old: RegisteredResource | None, new: RegisteredResource | None, differences: _Fields
) -> ResourceChange | None:
    if old is None:
        return None if new is None else ResourceChange(ChangeKind.CREATED, new.title, new.type, urn=new.urn)
    if new is None:
        return ResourceChange(ChangeKind.DELETED, old.title, old.type, urn=old.urn, note=_note(old, old))
    fields = differences.get(new.urn, ())
    former = old.urn if old.urn != new.urn else ""
    if old.is_read and not new.is_read:
        return ResourceChange(ChangeKind.CREATED, new.title, new.type, urn=new.urn)
    if new.is_read and not old.is_read:
        return ResourceChange(
            kind=ChangeKind.UPDATED,
            title=new.title,
            type=new.type,
            fields=(),
            urn=new.urn,
            former=former,
            note=RELEASED,
        )
    if not fields:
        return None
    if not any(field.replaces for field in fields):
        effects = update_effects(new.type) if _is_known(new, fields) else {"": UNSURE}
        changed = {"", *(parse_path(field.path)[0] for field in fields)}
        note = "; ".join(text for name, text in effects.items() if name in changed)
        return ResourceChange(
            kind=ChangeKind.UPDATED,
            title=new.title,
            type=new.type,
            fields=fields,
            urn=new.urn,
            former=former,
            note=note,
        )
    return ResourceChange(
        kind=ChangeKind.REPLACED,
        title=new.title,
        type=new.type,
        fields=fields,
        urn=new.urn,
        former=former,
        note=_note(old, new),
    )


def _is_known(new: RegisteredResource, fields: Sequence[FieldDifference]) -> bool:
    """Whether the fields that replace the resource are known, and those that differ are among the known ones."""
    # Objects, releases of charts and providers: cascade.py and differences.py.
    if new.type.startswith(("kubernetes:", "pulumi:")):
        return True
    known = known_arguments(new.type)
    return known is not None and all(parse_path(field.path)[0] in known for field in fields)


def _note(old: RegisteredResource, new: RegisteredResource) -> str:
    """Describe the effect of options on a resource to be deleted (step_generator.go of pulumi/pulumi at 1b594989)."""
    if old.protected and new.protected:
        return PROTECTED
    return RETAINED if old.retained else ""
