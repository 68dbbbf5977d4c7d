"""Detects renamed manifests between two revisions, and texts that differ only by such names."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .snapshot import FindingState, ManifestState, ServedModel, Snapshot

_ALIKE = 0.5
"""Minimum share of equal fields of renamed manifests, as in git (``git diff -M``)."""
_MOST_PAIRS = 10_000
"""Maximum number of pairs to compare by field; above, only manifests that are equal except for names match."""
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-.][A-Za-z0-9]+)*")

_Key = tuple[str, str, str]
_Leaves = Mapping[tuple[str | int, ...], Any]


@dataclass(frozen=True, slots=True)
class Renames:
    """Names that a revision replaced.

    Attributes:
        keys: Manifests under another name or in another namespace: kind, namespace and name before and after.
        words: The names themselves: of manifests, of namespaces and of named parts, such as flavors and roles.
        known: Kinds and names of all manifests before, each with the names of what they became.
    """

    keys: Mapping[_Key, _Key] = field(default_factory=dict)
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, base: Snapshot, head: Snapshot) -> "Renames":
        """Detect renames; none if a snapshot from older code has no manifests."""
        before = {manifest.key: manifest for manifest in base.manifests}
        after = {manifest.key: manifest for manifest in head.manifests}
        words: dict[str, set[str]] = defaultdict(set)
        for key in before.keys() & after.keys():
            _learn(words, before[key], after[key])
        removed = [manifest for key, manifest in sorted(before.items()) if key not in after]
        added = [manifest for key, manifest in sorted(after.items()) if key not in before]
        pairing = _Pairing(_served(base), _served(head), words)
        keys = {old.key: new.key for old, new in pairing.pairs(removed, added)}
        known: dict[tuple[str, str], set[str]] = {
            (manifest.kind, manifest.name): set() for manifest in base.manifests
        }
        for (kind, _, name), new in keys.items():
            known[kind, name].add(new[2])
        return cls(
            keys,
            {old: frozenset(news) for old, news in words.items()},
            {title: frozenset(names) for title, names in known.items()},
        )

    def is_same(self, before: FindingState, after: FindingState) -> bool:
        """Whether two findings differ only by renamed objects."""
        # The file only counts for findings without an object, as in ``compare``.
        facts = [
            (finding.rule, finding.severity, finding.kind, "" if finding.kind else finding.file)
            for finding in (before, after)
        ]
        if facts[0] != facts[1]:
            return False
        became = self.known.get((before.kind, before.name))
        is_same_subject = before.name == after.name or (
            _is_same(before.name, after.name, self.words) if became is None else after.name in became
        )
        return (
            is_same_subject
            and _is_same(before.path, after.path, self.words)
            and _is_same(before.reason, after.reason, self.words)
        )

    def is_same_text(self, before: str, after: str) -> bool:
        """Whether two texts differ only by renamed objects."""
        return _is_same(before, after, self.words)


def _served(snapshot: Snapshot) -> Mapping[_Key, ServedModel]:
    """Return the models of a revision by manifest."""
    return {model.key: model for model in snapshot.models}


@dataclass(frozen=True, slots=True)
class _Pairing:
    """Matches the manifests of two revisions.

    Attributes:
        before: Served models by manifest, in the first revision.
        after: The same in the second revision.
        words: Names that were replaced; each matched pair adds its own.
    """

    before: Mapping[_Key, ServedModel]
    after: Mapping[_Key, ServedModel]
    words: dict[str, set[str]]

    def pairs(
        self, removed: list[ManifestState], added: list[ManifestState]
    ) -> Iterator[tuple[ManifestState, ManifestState]]:
        """Remove matching manifests from both lists, and yield them.

        A reference to something that was renamed counts as equal, so that each pair helps to find others.
        """
        for key in (lambda manifest: (manifest.kind, manifest.name), _content):
            yield from self._equal(removed, added, key)
        progress = len(removed) * len(added) <= _MOST_PAIRS
        while progress:
            progress = False
            scored = [
                (self._score(old, new), len(removed) - m, len(added) - n, old, new)
                for m, old in enumerate(removed)
                for n, new in enumerate(added)
            ]
            for score, _, _, old, new in sorted(scored, key=lambda candidate: candidate[:3], reverse=True):
                if score and old in removed and new in added:
                    progress = True
                    yield self._taken(old, new, removed, added)

    def _equal(
        self, removed: list[ManifestState], added: list[ManifestState], key: Callable[[ManifestState], Hashable]
    ) -> Iterator[tuple[ManifestState, ManifestState]]:
        """Remove manifests with equal keys from both lists, in order."""
        waiting: dict[Hashable, list[ManifestState]] = defaultdict(list)
        for new in added:
            waiting[key(new)].append(new)
        for old in tuple(removed):
            match = next((new for new in waiting[key(old)] if self._score(old, new)), None)
            if match:
                waiting[key(old)].remove(match)
                yield self._taken(old, match, removed, added)

    def _taken(
        self, old: ManifestState, new: ManifestState, removed: list[ManifestState], added: list[ManifestState]
    ) -> tuple[ManifestState, ManifestState]:
        removed.remove(old)
        added.remove(new)
        _learn(self.words, old, new)
        return old, new

    def _score(self, old: ManifestState, new: ManifestState) -> float:
        """Return the similarity of two manifests; 0 if they cannot be the same.

        A manifest that serves a model may be edited at the same time if it still serves the same model. Any other,
        such as a model description, must be equal: with other content it describes another model.
        """
        if old.kind != new.kind:
            return 0
        score = _likeness(_leaves(old.body), _leaves(new.body), self.words)
        was, will = self.before.get(old.key), self.after.get(new.key)
        if was is None or will is None:
            return score if score == 1 else 0
        own = {**self.words, old.name: {new.name}}
        return score if score > _ALIKE and _is_same(was.model, will.model, own) and _is_same_shape(was, will) else 0


def _is_same_shape(before: ServedModel, after: ServedModel) -> bool:
    """Whether two models have the same weights, by name or size, as far as known."""
    olds, news = (
        {
            fact
            for verdict in model.verdicts.values()
            if verdict.asked
            for fact in (verdict.asked.shape.name, replace(verdict.asked.shape, name=""))
        }
        for model in (before, after)
    )
    return not olds or not news or bool(olds & news)


def _content(manifest: ManifestState) -> Hashable:
    return manifest.kind, tuple(sorted((repr(path), repr(value)) for path, value in _leaves(manifest.body).items()))


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> _Leaves:  # noqa: ANN401 - any JSON value
    """Return the values of a manifest by path, without apiVersion, kind, name and namespace."""
    if path in _NAMES:
        return {}
    if isinstance(value, Mapping):
        parts: Iterable[tuple[str | int, Any]] = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        return {path: value}
    leaves: dict[tuple[str | int, ...], Any] = {}
    for key, part in parts:
        leaves.update(_leaves(part, (*path, key)))
    return leaves


_NAMES = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


def _likeness(old: _Leaves, new: _Leaves, words: Mapping[str, Collection[str]]) -> float:
    """Return the share of equal fields; renamed names count as equal."""
    equal = sum(
        value == new[path] or (isinstance(value, str) and _is_same(value, str(new[path]), words))
        for path, value in old.items()
        if path in new
    )
    most = max(len(old), len(new))
    return equal / most if most else 1.0


def _learn(words: dict[str, set[str]], old: ManifestState, new: ManifestState) -> None:
    """Record the names that differ between two versions of a manifest."""
    for before, after in ((old.name, new.name), (old.namespace, new.namespace), *_parts(old.body, new.body)):
        if before and after and before != after:
            words[before].add(after)


def _parts(old: Any, new: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON values
    """Yield differing names of list items at the same position, such as flavors and roles."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old.keys() & new.keys():
            yield from _parts(old[key], new[key])
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        olds, news = _named(old), _named(new)
        for before, after in zip(old, new, strict=True):
            yield from _parts(before, after)
            pair = _named([before]) + _named([after])
            if len(pair) == 2 and pair[0] not in news and pair[1] not in olds:
                rest = [{key: value for key, value in part.items() if key != "name"} for part in (before, after)]
                # A part with only a name is a reference: whether it was renamed depends on the object it refers to.
                if rest[0] and _likeness(_leaves(rest[0]), _leaves(rest[1]), {}) > _ALIKE:
                    yield pair[0], pair[1]


def _named(items: Sequence[Any]) -> list[str]:
    return [item["name"] for item in items if isinstance(item, Mapping) and isinstance(item.get("name"), str)]


def _is_same(before: str, after: str, words: Mapping[str, Collection[str]]) -> bool:
    """Whether two texts differ only by replaced names, even if that changes their order."""
    if before == after:
        return True
    present = sorted((word for word in words if word in before), key=len, reverse=True)
    if not present:
        return False
    # A name may also occur for another reason, so it need not be replaced everywhere.
    occurrences = re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in present))
    pattern, end = "", 0
    for match in occurrences.finditer(before):
        choices = "|".join(map(re.escape, (match[0], *sorted(words[match[0]]))))
        pattern += f"{re.escape(before[end : match.start()])}(?:{choices})"
        end = match.end()
    if re.fullmatch(pattern + re.escape(before[end:]), after, re.DOTALL):
        return True
    replaced = (sorted(words[token])[0] if token in words else token for token in _TOKEN.findall(before))
    return Counter(replaced) == Counter(_TOKEN.findall(after))
