"""Converts manifests from one release of their API to another.

A family lists the conversions between adjacent releases whose manifests differ in form. A field that a release merely
lacks needs no conversion: after the last step, whatever the target does not accept is a loss.

Documents are edited in place. The values of a parsed file know the text and the comments that belong to them, also
where a conversion moves them. A parsed map has ``entries``, the origin of each key, which :func:`renamed` and
:func:`moved` keep.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..contract.checking import check
from ..contract.kinds import Kinds
from ..contract.misfits import misfits
from ..contract.problems import field_path
from ..contract.releases import Releases

_IDENTITY = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"))
"""Paths without which a manifest is no object."""
Fields = MutableMapping[str, Any]
"""A map of a document."""


@dataclass(slots=True)
class MigratedDocument:
    """One manifest of a migration.

    Attributes:
        value: The manifest, which conversions edit.
        file: The file that it is written to.
        into: The manifest that takes its place, or into which its fields were moved, and so its comments.
    """

    value: Fields
    file: str = ""
    into: "MigratedDocument | None" = None

    @property
    def kind(self) -> str:
        return str(self.value.get("kind", ""))

    @property
    def name(self) -> str:
        return str(self._metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        return str(self._metadata.get("namespace") or "")

    @property
    def _metadata(self) -> Mapping[str, Any]:
        """The metadata; those of an object of another API may be anything."""
        metadata = self.value.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}

    @property
    def title(self) -> str:
        """``Kind/name``."""
        return f"{self.kind}/{self.name}"


class MigrationNote(NamedTuple):
    """Something that a migration changes in meaning, or that a reader should know about it."""

    title: str
    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.title}: {self.path}: {self.reason}" if self.path else f"{self.title}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedScaling:
    """What the stacks plan for a resource that scales a workload.

    Attributes:
        least, most: The bounds of its autoscaler.
        workload: The workload; None if it is unknown.
    """

    least: int
    most: int
    workload: Mapping[str, Any] | None = None


class StackFacts:
    """What the stacks of the manifests say; nothing, for manifests without a project.

    Attributes:
        prometheus: URL of Prometheus.
        uses_keda: Whether KEDA serves metrics to autoscalers, so that HorizontalPodAutoscalers get none.
    """

    prometheus: str = ""
    uses_keda: bool = False

    def price(self, instance_type: str) -> float | None:  # noqa: ARG002  for derived classes
        """Return the price of an instance type on demand, in USD an hour; None if it is unknown."""
        return None

    def scaling(self, document: MigratedDocument) -> PlannedScaling | None:  # noqa: ARG002  for derived classes
        """Return what is planned for a resource before the conversion; None if it is unknown."""
        return None


@dataclass(slots=True)
class Batch:
    """The manifests of one family in a migration, over all files.

    Attributes:
        documents: The manifests; conversions edit them, and add and remove some.
        others: Manifests of other APIs in the same files, which references may lead to. Only those that the family
            edits may change (:meth:`~components.families.family.Migrating.edits`).
        losses: What the target cannot express.
        notes: What a reader should know, such as a renamed workload.
        stacks: What the stacks of the manifests say.
    """

    documents: list[MigratedDocument]
    others: list[MigratedDocument] = field(default_factory=list)
    losses: list[MigrationNote] = field(default_factory=list)
    notes: list[MigrationNote] = field(default_factory=list)
    stacks: StackFacts = field(default_factory=StackFacts)
    _last: int = 0

    def of_kind(self, kind: str) -> list[MigratedDocument]:
        """Return the manifests of a kind; conversions may change the batch while they go through the list."""
        return [document for document in self.documents if document.kind == kind]

    def add(self, value: Fields, after: MigratedDocument) -> MigratedDocument:
        """Add a manifest to the file of another one, behind it."""
        added = MigratedDocument(value, after.file)
        self.documents.insert(self._index(after) + 1, added)
        return added

    def remove(self, document: MigratedDocument, into: MigratedDocument | None = None) -> None:
        """Remove a manifest; ``into`` is the one that has its fields then."""
        del self.documents[self._index(document)]
        document.into = into

    def loss(self, document: MigratedDocument, path: str, reason: str) -> None:
        self.losses.append(MigrationNote(document.title, path, reason))

    def note(self, document: MigratedDocument, path: str, reason: str) -> None:
        self.notes.append(MigrationNote(document.title, path, reason))

    def _index(self, document: MigratedDocument) -> int:
        """Return where a manifest is; conversions go through them in order, so that it is behind the last one."""
        count = len(self.documents)
        for offset in range(count):
            index = (self._last + offset - 1) % count
            if self.documents[index] is document:
                self._last = index
                return index
        raise ValueError(f"{document.title} is not in the batch")


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """The conversion between two adjacent releases.

    Both functions leave documents alone that are in the form of their target already.

    Attributes:
        before: The last release with the older form.
        after: The first release with the newer form.
        forward: Converts the older form to the newer one.
        backward: Converts the newer form to the older one.
    """

    before: str
    after: str
    forward: Callable[[Batch], None]
    backward: Callable[[Batch], None]


def migrate(
    batch: Batch, kinds: Kinds, releases: Releases, steps: Iterable[ReleaseStep], origin: str, target: str
) -> None:
    """Convert a batch from one release to another.

    Fields that the target does not accept stay in the documents and are listed as losses; :func:`drop_losses` removes
    them.

    Args:
        batch: The manifests, valid in ``origin``, or in the union of all releases.
        kinds: The kinds of the family.
        releases: The releases of the family.
        steps: Its conversions.
        origin: The release of the manifests.
        target: The release to convert to.
    """
    by_pair = {(step.before, step.after): step for step in steps}
    route = releases.between(origin, target)
    for first, second in itertools.pairwise(route):
        if (first, second) in by_pair:
            by_pair[first, second].forward(batch)
        elif (second, first) in by_pair:
            by_pair[second, first].backward(batch)
    for document in batch.documents:
        for path, reason in _losses(document.value, kinds, target):
            batch.loss(document, field_path(path), reason.partition(";")[0])


Unfit = tuple[tuple[str | int, ...], str]
"""The path of a field that a release does not accept, and the reason."""


def unfit(value: Mapping[str, Any], kinds: Kinds, target: str) -> Iterator[Unfit]:
    """Yield what a release does not accept in a manifest."""
    kind = kinds.find(value.get("apiVersion"), value.get("kind"))
    if kind is None:
        return
    resource, problems = check(plain(value), kind.at(""))
    yield from problems
    if resource is not None:
        yield from misfits(resource, kind, target)


def _losses(value: Fields, kinds: Kinds, target: str) -> Iterator[Unfit]:
    """Yield what a release does not accept, also what is only found once the rest is removed."""
    found = list(unfit(value, kinds, target))
    copied: Fields = plain(value) if found else value
    seen: set[tuple[str | int, ...]] = set()
    while found:
        yield from (item for item in found if item[0] not in seen)
        seen |= {path for path, _ in found}
        found = list(unfit(copied, kinds, target)) if _drop(copied, found) else []


def drop_losses(document: MigratedDocument, kinds: Kinds, target: str) -> list[str]:
    """Remove the fields that a release does not accept; return those that cannot be removed.

    They are the kind itself, and required fields that are missing.
    """
    while _drop(document.value, list(unfit(document.value, kinds, target))):
        pass
    return [f"{field_path(path)}: {reason}" for path, reason in unfit(document.value, kinds, target)]


def _drop(value: Fields, found: Iterable[Unfit]) -> bool:
    """Remove fields; whether there were any."""
    dropped = False
    for path, _ in found:
        if path in _IDENTITY:
            continue
        owner: Any = value
        try:
            for part in path[:-1]:
                owner = owner[part]
            if isinstance(owner, MutableMapping) and path[-1] in owner:
                del owner[path[-1]]
                dropped = True
        except (KeyError, IndexError, TypeError):
            continue  # a field above it was removed
    return dropped


def leave_out(batch: Batch, kinds: Kinds, target: str, *, lossy: bool) -> None:
    """List the manifests that a release cannot express at all, each with what it did.

    Besides kinds and required fields, they are those that break a rule of the release without what is lost.

    Args:
        batch: The manifests after the conversion.
        kinds: The kinds of the family.
        target: The release.
        lossy: Whether to remove them, and the fields that the release does not accept in the others.
    """
    with_losses = {loss.title for loss in batch.losses}
    for document in list(batch.documents):
        if document.title not in with_losses:
            continue
        edited = document if lossy else MigratedDocument(plain(document.value))
        left = drop_losses(edited, kinds, target)
        kind = kinds.find(document.value.get("apiVersion"), document.value.get("kind"))
        if kind is not None and not left:
            broken = check(plain(edited.value), kind.at(target))[1]
            left = [": ".join(filter(None, (field_path(path), reason))) for path, reason in broken]
        if not left:
            continue
        purpose = (getattr(kind and kind.model, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".")
        reason = "; ".join(text.partition(";")[0] for text in left)
        batch.loss(document, "", f"the object is left out ({reason}). What it did: {purpose or document.kind}")
        if lossy:
            batch.remove(document)


def origin_of(documents: Iterable[MigratedDocument], kinds: Kinds, releases: Releases, target: str) -> str:
    """Return the release from which documents without a declared release are converted.

    Forward conversions leave newer forms alone, so that the contract's release is right for older and newer forms at
    once. Towards an older release, it is the newest that any of the documents needs.
    """
    order = releases.names
    needed = [order.index(releases.contract)]
    for document in documents:
        kind = kinds.find(document.value.get("apiVersion"), document.value.get("kind"))
        resource = check(plain(document.value), kind.at(""))[0] if kind else None
        if kind is None or resource is None:
            continue
        fitting = [name for name in order if next(misfits(resource, kind, name), None) is None]
        if fitting and releases.contract not in fitting:
            needed.append(order.index(fitting[0]))
    wanted = order.index(target)
    contract = order.index(releases.contract)
    return order[max(needed)] if wanted <= max(needed) else order[min(contract, min(needed))]


def plain(value: Any) -> Any:  # noqa: ANN401  any YAML value
    """Return a copy of a parsed value in built-in types."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, MutableSequence):
        return [plain(inner) for inner in value]
    if isinstance(value, bool) or value is None:
        return value
    for type_ in (int, float, str):
        if isinstance(value, type_):
            return type_(value)
    return value


def renamed(owner: Fields, old: str, new: str) -> None:
    """Rename a key in place: it keeps its position and its comments."""
    if old not in owner:
        return
    position, value = list(owner).index(old), owner[old]
    del owner[old]
    inserted(owner, position, new, value)
    entries = getattr(owner, "entries", {})
    if old in entries:
        entries[new] = entries.pop(old)


def moved(owner: Fields, key: str, target: Fields, position: int | None = None) -> None:
    """Move a key to another map, with its comments: to its end, or to a position."""
    value = owner.pop(key)
    inserted(target, len(target) if position is None else position, key, value)
    entries, others = (getattr(each, "entries", None) for each in (owner, target))
    if entries and others is not None and key in entries:
        others[key] = entries.pop(key)


def inserted(owner: Fields, position: int, key: str, value: Any) -> None:  # noqa: ANN401  any YAML value
    """Insert a key at a position."""
    later = list(owner.items())[position:]
    for name, _ in later:
        del owner[name]
    owner[key] = value
    owner.update(later)
