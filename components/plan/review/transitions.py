"""Changes between two revisions that must not be deployed, as findings."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.findings.registry import rule
from ...fleet.cloud_providers import needs, refusals
from ...fleet.shapes import kept_strategy
from ...fleet.transitions import Need, RefusedChange, Transition
from ..spans import about
from ..timeouts.objects import SKIP_AWAIT
from .contents import deleted_contents
from .differences import fixed_fields, is_within, parse_path
from .review import Blast, FieldDifference, Interruption
from .snapshot import FindingState, RegisteredResource, Snapshot, ValueSources

_MOST_NAMES = 3
_BRACKETS = re.compile(r"\[[^\[\]]+\]")
FieldDifferences = Mapping[str, tuple[FieldDifference, ...]]
ResourcePair = tuple[RegisteredResource | None, RegisteredResource | None]
"""A resource before and after; None if it does not exist."""


def refused_changes(
    pairs: Sequence[ResourcePair],
    fields: FieldDifferences,
    before_from: ValueSources,
    *,
    compared: Mapping[str, tuple[RegisteredResource, RegisteredResource]],
    deleted_first: Collection[str],
) -> Iterator[RefusedChange]:
    """Yield the changes that must not be deployed.

    Args:
        pairs: All resources of both revisions.
        fields: The differences of changed resources, by current URN.
        before_from: Sources of unknown values in the former inputs.
        compared: The resources in both revisions with common placeholders, by current URN.
        deleted_first: Current URNs of the resources that are deleted before their replacement is created.
    """
    transitions = [
        _transition(*(compared.get(new.urn, (old, new)) if old and new else (old, new)), fields, deleted_first)
        for old, new in pairs
    ]
    found = [*refusals(transitions)]
    yield from found
    refused = {(refusal.resource, refusal.field) for refusal in found}
    gone = _gone(pairs, fields)
    yield from deleted_contents(gone.values())
    deployed = _Deployed({old.urn: old for old, _ in pairs if old}, before_from)
    for old, new in pairs:
        if old is None or new is None:
            continue
        if not new.is_read and not _is_replaced(new, fields):
            for refusal in _still_needed(old, new, gone, deployed):
                if (refusal.resource, refusal.field) not in refused:
                    yield refusal
        if new.is_object:
            yield from _rejected(new, fields.get(new.urn, ()))
            if not _is_replaced(new, fields):
                yield from _forbidden_strategy(old, new)
            if new.urn in deleted_first:
                yield from _created_too_early(old, new)
    yield from _deleted_by_name(pairs)


@dataclass(frozen=True, slots=True)
class _Deployed:
    """The resources of the former revision, and where the unknown values in their inputs come from."""

    resources: Mapping[str, RegisteredResource]
    sources: ValueSources

    def origins(self, value: Any) -> Iterator[str]:  # noqa: ANN401  any JSON value
        """Yield the URNs of the resources that a value comes from.

        Some outputs only repeat an input, such as the subnet of a route table association: they come from the
        resource behind that input.
        """
        if isinstance(value, Mapping):
            for inner in value.values():
                yield from self.origins(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                yield from self.origins(inner)
        elif isinstance(value, str):
            for name in _BRACKETS.findall(value):
                for source in self.sources.get(name, ()):
                    resource = self.resources.get(source.urn)
                    if resource and source.output in resource.inputs:
                        yield from self.origins(resource.inputs[source.output])
                    else:
                        yield source.urn


def findings(refused: Iterable[RefusedChange], head: Snapshot) -> tuple[FindingState, ...]:
    """Return the findings of refused changes, in the settings of the revision."""
    return tuple(
        FindingState(
            rule=str(refusal.rule),
            severity=str(rule(refusal.rule).severity),
            file=head.file or f"Pulumi.{head.stack}.yaml",
            line=0,
            kind="",
            name="",
            path=refusal.setting,
            reason=_reason(refusal, head),
            ignored=head.ignore.get(refusal.rule, ""),
        )
        for refusal in refused
    )


def _reason(refusal: RefusedChange, head: Snapshot) -> str:
    """Return the reason, with what is lost with a cluster."""
    if refusal.rule is not RuleId.CHANGE_REPLACES_CLUSTER or not head.workloads:
        return refusal.reason
    starts = [state.start.total.seconds or state.start.total.low for state in head.workloads if state.start]
    lost = "all models are" if len(head.models) > 1 else "the model is"
    wait = f", and then for {about(max(starts))} until it has started" if starts else ""
    return (
        f"{lost} unavailable while the cloud deletes one control plane and creates another with its nodes{wait}: "
        f"{refusal.reason}"
    )


def with_lost_cluster(blasts: Iterable[Blast], base: Snapshot, head: Snapshot) -> tuple[Blast, ...]:
    """Return the effects on workloads if the cluster is replaced: all replicas are missing, for an unknown time."""
    kept = {state.title for state in head.workloads}
    lost = {
        state.title: Blast(
            title=state.title,
            model=state.served,
            disruption=Interruption.GAP,
            replicas=state.replicas[0],
            short=state.replicas[0],
            because=("the cluster is replaced",),
        )
        for state in base.workloads
        if state.title in kept
    }
    others = [blast for blast in blasts if blast.title not in lost]
    return tuple(sorted((*others, *lost.values()), key=lambda blast: blast.title))


def _transition(
    old: RegisteredResource | None,
    new: RegisteredResource | None,
    fields: FieldDifferences,
    deleted_first: Collection[str],
) -> Transition:
    resource = new or old
    assert resource is not None  # noqa: S101  one of the two exists
    changed = fields.get(new.urn, ()) if new and old else ()
    return Transition(
        title=resource.title,
        type=resource.type,
        before=old.inputs if old and not old.is_read else None,
        after=new.inputs if new else None,
        changed={field.path: (field.before, field.after) for field in changed},
        replaced=any(field.replaces for field in changed),
        deletes_first=bool(new and new.urn in deleted_first),
        is_released=bool(old and new and new.is_read and not old.is_read),
        is_claimed=bool(old and new and old.is_read and not new.is_read),
    )


def _is_replaced(new: RegisteredResource, fields: FieldDifferences) -> bool:
    return any(field.replaces for field in fields.get(new.urn, ()))


def _gone(pairs: Sequence[ResourcePair], fields: FieldDifferences) -> dict[str, RegisteredResource]:
    """Return the resources that are deleted, also those of which a new one takes the place, by former URN."""
    return {
        old.urn: old
        for old, new in pairs
        if old and not old.is_read and not old.retained and (new is None or _is_replaced(new, fields))
    }


def _still_needed(
    old: RegisteredResource,
    new: RegisteredResource,
    gone: Mapping[str, RegisteredResource],
    deployed: _Deployed,
) -> Iterator[RefusedChange]:
    """Yield the deletion of what a resource that stays needs."""
    for need in (*needs(new.type), *_kept(new)):
        value = _at(old.inputs, parse_path(need.field))
        lost = [gone[urn] for urn in dict.fromkeys(deployed.origins(value)) if urn in gone]
        if not lost:
            continue
        titles = [resource.title for resource in lost[:_MOST_NAMES]]
        more = f" and {len(lost) - _MOST_NAMES} more" if len(lost) > _MOST_NAMES else ""
        yield RefusedChange(
            RuleId.CHANGE_DESTROYS,
            need.setting,
            f"{', '.join(titles)}{more} would be deleted, but {old.title} needs {'them' if len(lost) > 1 else 'it'} "
            f"({need.field}): {need.reason}; {need.advice}",
            new.title,
            need.field,
        )


def _kept(new: RegisteredResource) -> Iterator[Need]:
    """Yield the fields whose changes the program ignores, so that the former value stays in use."""
    known = {need.field for need in needs(new.type)}
    for path in new.ignored:
        if path not in known:
            yield Need(
                field=path,
                setting="",
                reason="the program keeps its former value (ignore_changes)",
                advice="restore the former setting",
            )


def _deleted_by_name(pairs: Sequence[ResourcePair]) -> Iterator[RefusedChange]:
    """Yield the deletion of objects that another resource of the program stands for.

    The provider applies the object under its new URN, and then deletes that of the former URN, which is the same one:
    it deletes by name (``Deletion`` in provider/pkg/await/await.go of pulumi/pulumi-kubernetes).
    """
    owners = {(new.provider, new.identity): new for _, new in pairs if new and new.identity and not new.is_read}
    for old, new in pairs:
        if old is None or old.identity is None or old.is_read or old.retained:
            continue
        # The resource itself, also under another URN that its aliases name, updates its object.
        is_same = new is not None and (old.urn == new.urn or old.urn in new.former)
        owner = owners.get((old.provider, old.identity))
        if owner and not (is_same and owner is new):
            _, kind, namespace, name = old.identity
            reason = deleted_object(kind, namespace, name, old.urn, owner.urn)
            yield RefusedChange(RuleId.CHANGE_DESTROYS, "", reason, owner.title)


def deleted_object(kind: str, namespace: str, name: str, former: str, urn: str) -> str:
    """Return why an object must not change from one resource to another.

    Args:
        kind: Kind of the object.
        namespace: Its namespace; empty without one.
        name: Its name.
        former: URN of the resource that it leaves.
        urn: URN of the resource of the program that stands for it.
    """
    place = f"{namespace}/" if namespace else ""
    return (
        f"{kind} {place}{name} would be deleted although the program contains it: it is registered as {urn} now, and "
        f"its deletion as {former} deletes the object of that name; give the resource the option "
        f'aliases=["{former}"], or restore the former registration'
    )


def _rejected(new: RegisteredResource, changed: Sequence[FieldDifference]) -> Iterator[RefusedChange]:
    """Yield the changes of an object that the provider sends as an update, and that the API server rejects."""
    if any(field.replaces for field in changed):
        return
    fixed = fixed_fields(new.inputs)
    for field in changed:
        if is_within(parse_path(field.path), fixed):
            yield RefusedChange(
                RuleId.CHANGE_REFUSED,
                "",
                f"{new.title}: {field.path}: found {field.after or 'nothing'} after {field.before or 'nothing'}; the "
                "field is immutable, and the Kubernetes provider does not replace the object, so that the API server "
                "rejects the update; restore the former value, or give the object another name",
                new.title,
                field.path,
            )


def _forbidden_strategy(old: RegisteredResource, new: RegisteredResource) -> Iterator[RefusedChange]:
    """Yield the change of a strategy whose former bounds the API server has set itself."""
    path = kept_strategy(old.inputs, new.inputs)
    if not path:
        return
    field = path.rpartition(".")[2]
    metadata, type_ = new.inputs["metadata"], new.inputs["spec"][field]["type"]
    namespace = f" -n {metadata['namespace']}" if metadata.get("namespace") else ""
    patch = json.dumps({"spec": {field: {"type": type_, "rollingUpdate": None}}}, separators=(",", ":"))
    yield RefusedChange(
        RuleId.CHANGE_REFUSED,
        "",
        f"{new.title}: {path}.type: found {type_} after RollingUpdate; the API server has set bounds of the rolling "
        f"update that the manifest lacked, no update removes them, and with {type_} it rejects them; first run "
        f"kubectl patch {new.inputs['kind'].lower()} {metadata['name']}{namespace} -p '{patch}', or restore the "
        "former strategy",
        new.title,
        path,
    )


def _created_too_early(old: RegisteredResource, new: RegisteredResource) -> Iterator[RefusedChange]:
    """Yield a replacement that the provider creates while the old object is still being deleted.

    The provider does not wait for the deletion of an object that was deployed with the annotation, and it creates
    objects with server-side apply, which then meets the old one (Deletion and Creation in provider/pkg/await/await.go
    of pulumi/pulumi-kubernetes at f47bc2d6).
    """
    if _at(old.inputs, ("metadata", "annotations", SKIP_AWAIT)) != "true":
        return
    yield RefusedChange(
        RuleId.CHANGE_REFUSED,
        "",
        f"{new.title} is replaced, and was deployed with the annotation {SKIP_AWAIT}: the provider does not wait "
        "until the old object is gone, so that the new one is rejected because the old one exists, or is deleted "
        "together with it; first deploy the current revision without the annotation (waitForModels: true, unless the "
        "manifest has it), which restarts no pod, and then this change",
        new.title,
        f"metadata.annotations[{SKIP_AWAIT}]",
    )


def _at(value: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401  any JSON value
    """Return the value of a field; None if it is not set."""
    for step in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value
