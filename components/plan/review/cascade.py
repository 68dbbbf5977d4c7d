"""Changes of resources between two revisions, and their effects on dependents of replaced resources.

The rules are those of Pulumi's engine (pkg/resource/deploy/step_generator.go in pulumi/pulumi at 1b594989): a
resource whose inputs differ is updated, or replaced if an immutable input differs. A new resource has other outputs,
so that values computed from them differ too. If a resource is deleted before its replacement is created, dependents
with an immutable input that comes from it are deleted with it, even if the value stays the same
(``calculateDependentReplacements``).
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...fleet.cloud_providers import (
    deletes_first,
    order_free_fields,
    renewed_outputs,
    replaced_fields,
    replacing_provider_input,
)
from .differences import (
    MISSING,
    Difference,
    differences,
    is_within,
    parse_path,
    path_text,
    replacing_fields,
    value_text,
)
from .review import FieldDifference
from .snapshot import RegisteredResource, ValueSource, ValueSources

URN = "urn"
"""Pseudo-field of objects registered under another URN without an alias."""
PROVIDER = "provider"
"""Pseudo-field of resources replaced because of their provider."""
_BRACKETS = re.compile(r"\[[^\[\]]+\]")
_KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"
_OTHERS: Mapping[str, tuple[str, ...]] = {
    # helm_release.go of pulumi/pulumi-kubernetes at 94977969, Diff: forceNewFields
    "kubernetes:helm.sh/v3:Release": ("name", "namespace"),
}
_RENEWED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    # Each update is a new revision of the release, whatever it changes.
    "kubernetes:helm.sh/v3:Release": {"status": ()},
}

_Steps = tuple[str, ...]


@dataclass(slots=True)
class Cascade:
    """Compares pairs of resources until no further changes follow.

    Attributes:
        pairs: Resources that exist in both revisions.
        before: Sources of unknown values in the former inputs, by placeholder.
        after: Sources of those in the current inputs.
        providers_before: Providers of the former revision, by URN.
        providers_after: Providers of the current one.
    """

    pairs: Sequence[tuple[RegisteredResource, RegisteredResource]]
    before: ValueSources
    after: ValueSources
    providers_before: Mapping[str, RegisteredResource]
    providers_after: Mapping[str, RegisteredResource]
    fields: dict[str, tuple[FieldDifference, ...]] = field(default_factory=dict)
    """Differences by current URN."""
    _old: dict[str, RegisteredResource] = field(default_factory=dict)
    _new: dict[str, RegisteredResource] = field(default_factory=dict)
    _today: dict[str, str] = field(default_factory=dict)
    """Current URN by former URN."""
    _users: dict[str, list[str]] = field(default_factory=dict)
    """Resources by the placeholders of unknown values in their inputs."""
    _other: set[str] = field(default_factory=set)
    """Placeholders of unknown values that change."""
    _forced: dict[str, dict[str, FieldDifference]] = field(default_factory=dict)
    _replaced: set[str] = field(default_factory=set)
    _deleted_first: set[str] = field(default_factory=set)
    _queue: deque[str] = field(default_factory=deque)

    def run(self) -> Mapping[str, tuple[FieldDifference, ...]]:
        """Return the differences by current URN, without unchanged resources."""
        for old, new in self.pairs:
            if old.urn == new.urn or old.urn in new.former:
                self._today[old.urn] = new.urn
            else:
                self._force(new.urn, FieldDifference(URN, old.urn, new.urn, replaces=True))
        before, after = self._same_names()
        for old, new in self.pairs:
            self._old[new.urn], self._new[new.urn] = _with_names(old, before), _with_names(new, after)
            for name in set(_names(self._new[new.urn].inputs)):
                self._users.setdefault(name, []).append(new.urn)
        for old, new in self.pairs:
            former, today = self.providers_before.get(old.provider), self.providers_after.get(new.provider)
            if former is None or today is None:
                continue
            # A resource whose provider changes to another cluster or account is replaced (``providerChanged``).
            is_other = self._today.get(old.provider, old.provider) != new.provider
            if is_other and any(field.replaces for field in self._differences(former, today)):
                self._force(new.urn, FieldDifference(PROVIDER, former.title, today.title, replaces=True))
            name = replacing_provider_input(new.type, former.inputs, today.inputs)
            if name and name not in new.inputs:
                was, now = (value_text(provider.inputs.get(name, MISSING)) for provider in (former, today))
                self._force(new.urn, FieldDifference(name, was, now, replaces=True))
        self._queue.extend(self._new)
        while self._queue:
            self._compare(self._queue.popleft())
        return {urn: fields for urn, fields in self.fields.items() if fields}

    @property
    def compared(self) -> Mapping[str, tuple[RegisteredResource, RegisteredResource]]:
        """The compared resources by current URN, with common placeholders; complete after ``run``."""
        return {urn: (self._old[urn], new) for urn, new in self._new.items()}

    @property
    def deleted_first(self) -> frozenset[str]:
        """Current URNs of the resources that are deleted before their replacement is created."""
        return frozenset(self._deleted_first)

    def _same_names(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return common placeholders for the former and current ones, so that renamed resources compare as equal.

        How a value is computed from outputs of renamed resources cannot be compared: values from the same outputs
        count as equal.
        """
        renamed = {old: new for old, new in self._today.items() if old != new}
        urns = set(renamed.values())
        common: dict[tuple[bool, tuple[ValueSource, ...]], str] = {}
        today, before = {}, {}
        for name, sources in sorted(self.after.items()):
            if any(source.urn in urns for source in sources):
                today[name] = common.setdefault((_is_derived(name), tuple(sorted(sources))), name)
        for name, sources in self.before.items():
            if any(source.urn in renamed for source in sources):
                same = tuple(
                    sorted(ValueSource(renamed.get(source.urn, source.urn), source.output) for source in sources)
                )
                before[name] = common.get((_is_derived(name), same), name)
        return before, today

    def _compare(self, urn: str) -> None:
        """Compare one pair, and propagate the effects to dependents."""
        old, new = self._old[urn], self._new[urn]
        fields = self._differences(old, new)
        forced = self._forced.get(urn, {})
        present = {field.path for field in fields if field.replaces}
        extra = (
            field
            for path, field in sorted(forced.items(), key=lambda item: (item[0] != URN, item[0]))
            if path not in present
        )
        fields = (*extra, *fields)
        if fields == self.fields.get(urn, ()):
            return
        self.fields[urn] = fields
        if any(field.replaces for field in fields):
            self._propagate_replacement(urn)
        else:
            self._outputs_change(urn, _renewed(new, fields))

    def _differences(self, old: RegisteredResource, new: RegisteredResource) -> tuple[FieldDifference, ...]:
        ignored = [parse_path(path) for path in new.ignored]
        fixed = self._fixed(old, new)
        free = [parse_path(path) for path in order_free_fields(new.type)]
        after = _renamed(dict(new.inputs), {name: f"{name[:-1]}, which changes]" for name in self._other})
        return tuple(
            FieldDifference(
                path_text(difference.path),
                value_text(difference.before),
                value_text(difference.after),
                is_within(_steps(difference), fixed),
            )
            for difference in differences(_sorted(dict(old.inputs), free), _sorted(after, free))
            if not _is_below(_steps(difference), ignored)
        )

    def _propagate_replacement(self, urn: str) -> None:
        """Propagate a replacement to its dependents."""
        first_time = urn not in self._replaced
        self._replaced.add(urn)
        old, new = self._old[urn], self._new[urn]
        if first_time:
            self._outputs_change(urn, None)
            for other, resource in self._new.items():
                if resource.provider == urn:
                    self._force(other, FieldDifference(PROVIDER, new.title, f"{new.title}, replaced", replaces=True))
                if urn in resource.goes_with:
                    self._force(
                        other, FieldDifference("deletedWith", new.title, f"{new.title}, replaced", replaces=True)
                    )
        if urn not in self._deleted_first and _deletes_first(old, new):
            self._delete_first(urn)

    def _delete_first(self, urn: str) -> None:
        """Delete dependents of a resource that is deleted first, if an immutable input comes from it."""
        self._deleted_first.add(urn)
        deleted, title = self._old[urn].urn, self._new[urn].title
        for other, old in self._old.items():
            new = self._new[other]
            # What is deleted with it is, and so is what such a provider manages (calculateDependentReplacements).
            whole = deleted in old.goes_with or old.provider == deleted
            if whole and other not in self._deleted_first:
                path = PROVIDER if old.provider == deleted else "deletedWith"
                self._force(other, FieldDifference(path, title, f"{title}, replaced", replaces=True))
                self._delete_first(other)
                continue
            fixed = self._fixed(old, new)
            ignored = [parse_path(path) for path in old.ignored]
            for name, origins in sorted(old.comes_from.items()):
                if deleted in origins and is_within((name,), fixed) and not _is_below((name,), ignored):
                    before = value_text(old.inputs.get(name, MISSING))
                    after = f"[known after {title} is replaced]"
                    self._force(other, FieldDifference(name, before, after, replaces=True))
                    if other not in self._deleted_first:
                        self._delete_first(other)
                    break

    def _fixed(self, old: RegisteredResource, new: RegisteredResource) -> list[_Steps]:
        """Return the fields whose change requires replacement."""
        if new.is_object:
            provider = self.providers_after.get(new.provider)
            return replacing_fields(new.inputs, new.replaced_on, provider.inputs if provider else None)
        own = [*replaced_fields(new.type, old.inputs, new.inputs), *_OTHERS.get(new.type, ())]
        if new.type == _KUBERNETES_PROVIDER:
            # DiffConfig in provider.go of pulumi/pulumi-kubernetes at 94977969: a provider's cluster is known by its
            # identifier if there was one before and is one now, and by its kubeconfig only if there is none at all.
            known = [bool(resource.inputs.get("clusterIdentifier")) for resource in (old, new)]
            if all(known):
                own.append("clusterIdentifier")
            elif not any(known):
                own.append("kubeconfig")
        return [parse_path(path) for path in (*own, *new.replaced_on)]

    def _force(self, urn: str, why: FieldDifference) -> None:
        self._forced.setdefault(urn, {}).setdefault(why.path, why)
        self._queue.append(urn)

    def _outputs_change(self, urn: str, outputs: Iterable[str] | None) -> None:
        """Compare the dependents of some outputs of a resource again; without outputs, of any."""
        starts = None if outputs is None else tuple(f"{output}{end}" for output in outputs for end in ".[")
        for name, sources in self.after.items():
            # A source may be a part of an output; an unknown output may be any.
            if name not in self._other and any(
                source.urn == urn and (starts is None or not source.output or f"{source.output}.".startswith(starts))
                for source in sources
            ):
                self._other.add(name)
                self._queue.extend(self._users.get(name, ()))


def _deletes_first(old: RegisteredResource, new: RegisteredResource) -> bool:
    """Whether a resource is deleted before its replacement is created: set by the program, or by the provider.

    An object of a cluster does if its name stays (provider.go of pulumi/pulumi-kubernetes at 94977969, Diff).
    """
    if new.deletes_first is not None:
        return new.deletes_first
    if new.is_object:
        return _object_name(old) == _object_name(new)
    return deletes_first(new.type, new.inputs)


def _object_name(resource: RegisteredResource) -> tuple[Any, Any]:
    metadata = resource.inputs.get("metadata")
    return (metadata.get("namespace"), metadata.get("name")) if isinstance(metadata, Mapping) else (None, None)


def _renewed(new: RegisteredResource, changed: Iterable[FieldDifference]) -> Iterator[str]:
    """Yield the outputs that an update in place changes."""
    paths = [parse_path(field.path) for field in changed]
    for output, causes in {**renewed_outputs(new.type), **_RENEWED.get(new.type, {})}.items():
        fields = [parse_path(path) for path in causes]
        if not fields or any(is_within(path, fields) for path in paths):
            yield output


def _is_derived(name: str) -> bool:
    """Whether a placeholder stands for a value derived from outputs, not for an output itself."""
    return name.startswith(("[from ", "[secret from "))


def _names(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the placeholders in a value."""
    if isinstance(value, str):
        yield from _BRACKETS.findall(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)


def _with_names(resource: RegisteredResource, names: Mapping[str, str]) -> RegisteredResource:
    return replace(resource, inputs=_renamed(dict(resource.inputs), names)) if names else resource


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Replace the placeholders in a value."""
    if not names:
        return value
    if isinstance(value, str):
        return _BRACKETS.sub(lambda match: names.get(match[0], match[0]), value) if "[" in value else value
    if isinstance(value, Mapping):
        return {key: _renamed(inner, names) for key, inner in value.items()}
    return [_renamed(inner, names) for inner in value] if isinstance(value, list | tuple) else value


def _sorted(value: Any, free: Sequence[_Steps], path: _Steps = ()) -> Any:  # noqa: ANN401
    """Sort the lists of a value whose order has no meaning."""
    if not free:
        return value
    if isinstance(value, dict):
        return {key: _sorted(inner, free, (*path, key)) for key, inner in value.items()}
    return sorted(value, key=repr) if isinstance(value, list) and path in free else value


def _steps(difference: Difference) -> _Steps:
    return tuple(map(str, difference.path))


def _is_below(path: _Steps, fields: Sequence[_Steps]) -> bool:
    return any(len(field) <= len(path) and is_within(path, [field]) for field in fields)
