"""Kinds as the API server registers them (contract/README.md), and the set of supported kinds."""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .meta import Resource
from .problems import did_you_mean, nearest_names, some_of
from .releases import Releases, Span, described
from .schema.builtin import is_namespaced

_NEARLY_GROUP = 0.85
"""Minimum similarity at which an unknown API group counts as a misspelled supported group."""


class Column(NamedTuple):
    """A column of ``kubectl get``; columns of priority 1 are printed only with ``-o wide``."""

    name: str
    type: str
    path: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind and how the API server serves it."""

    api_version: str
    kind: str
    model: type[Resource]
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    scale_selector: str = ""
    """Status path of the pod selector; empty for kinds without a scale subresource, or without a selector in it."""
    scales_unselected: bool = False
    """Whether the scale subresource lacks a selector, so that clients can use it but autoscalers cannot."""
    scale_span: Span = field(default=Span(), repr=False, compare=False)
    """The releases with the scale subresource."""
    columns: tuple[Column, ...] = ()
    reads_status: bool = False
    """Whether plans use the status that a controller wrote; otherwise status is dropped, as on creation."""
    releases: Releases = field(default=Releases(), repr=False, compare=False)
    """The releases of its API; none if the API has only one form."""
    span: Span = field(default=Span(), repr=False, compare=False)
    """The releases that have the kind."""
    release: str = field(default="", compare=False)
    """The release in which objects are read; empty for the union of all releases, with the contract's defaults."""

    def at(self, release: str) -> "Kind":
        """Return the kind as of a release; empty for the union of all releases."""
        return self if release == self.release else replace(self, release=release)

    @property
    def exists(self) -> bool:
        """Whether the release has the kind."""
        return not self.release or self.releases.covers(self.span, self.release)

    @property
    def absence(self) -> str:
        """Why its release does not have it, for a message; empty if it does."""
        if self.exists:
            return ""
        having = described(self.releases.of_spans([self.span]), self.releases)
        return f"{self.releases.title(self.release)} has no kind {self.kind}; {having} have it"

    def has_rule(self, span: Span) -> bool:
        """Whether a rule of some releases applies: only if one of them is set."""
        return bool(self.release) and self.releases.covers(span, self.release)

    @property
    def group(self) -> str:
        return self.api_version.partition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.partition("/")[2]

    @property
    def scope(self) -> str:
        return "Namespaced" if self.namespaced else "Cluster"

    @property
    def scales(self) -> bool:
        """Whether it has a scale subresource in its release, or else in the contract's."""
        release = self.release or self.releases.contract
        if release and not self.releases.covers(self.scale_span, release):
            return False
        return bool(self.scale_selector) or self.scales_unselected

    @property
    def crd_name(self) -> str:
        return f"{self.plural}.{self.group}"

    @property
    def title(self) -> str:
        """``apiVersion/Kind``."""
        return f"{self.api_version}/{self.kind}"


class Kinds:
    """The supported kinds, in the order in which messages list them.

    Args:
        kinds: All kinds. Iterating loads all of them, so ``find`` prefers ``of_group``.
        of_group: Returns the kinds of one API group, if that is cheaper than loading all kinds.
    """

    def __init__(self, kinds: Iterable[Kind], of_group: Callable[[str], Iterable[Kind]] | None = None) -> None:
        self._kinds = kinds
        self._of_group = of_group

    @functools.cached_property
    def _by_title(self) -> dict[str, Kind]:
        return {kind.title: kind for kind in self._kinds}

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._by_title.values())

    def find(self, api_version: object, kind: object) -> Kind | None:
        """Return the kind of an object; None if it is unknown."""
        title = f"{api_version}/{kind}"
        if self._of_group is None:
            return self._by_title.get(title)
        return next((known for known in self._of_group(title.partition("/")[0]) if known.title == title), None)

    def of_list(self, api_version: object, kind: object) -> Kind | None:
        """Return the item kind of a typed list such as ``ModelList``; None for any other object."""
        singular = kind.removesuffix("List") if isinstance(kind, str) else ""
        return self.find(api_version, singular) if singular != kind else None

    def all_named(self, name: str) -> list[Kind]:
        """Return the kinds with this name or ``apiVersion/Kind``."""
        return [kind for kind in self if name in (kind.kind, kind.title)]

    def by_name(self, name: str) -> Kind:
        """Return the first kind with this name or ``apiVersion/Kind``.

        Raises:
            ValueError: No such kind; the message lists the known ones.
        """
        candidates = self.all_named(name)
        if not candidates:
            known = [kind.kind for kind in self]
            hint = did_you_mean(name, known) or f"; known kinds: {some_of(known, 'see `workbench crds`')}"
            raise ValueError(f"unknown kind {name!r}{hint}")
        return candidates[0]

    def misspelt(self, api_version: str, kind: str) -> tuple[str, str] | None:
        """Return the misspelled field and the reason; None if the object belongs to another API."""
        group = api_version.rpartition("/")[0]
        if is_namespaced(group, kind) is not None:
            return None
        groups = {known.group for known in self}
        ours = [group] if group in groups else nearest_names(group, groups, 1, _NEARLY_GROUP)
        namesake = next((known for known in self if known.kind == kind), None)
        if namesake and (ours or not group):
            return "apiVersion", f"must be '{namesake.api_version}' for kind {kind}, found {api_version!r}"
        candidates = [known for known in self if not group or known.group in ours]
        hint = did_you_mean(kind, [known.kind for known in candidates])
        if not group:  # only built-in kinds have no group, so this is not a third-party API
            known_kinds = f"; known kinds: {some_of(self.titles, 'see `workbench crds`')}"
            return "kind", f"unknown kind '{api_version}/{kind}'{hint or known_kinds}"
        if hint:
            return "kind", f"unknown kind '{api_version}/{kind}'{hint}"
        return None

    @property
    def titles(self) -> list[str]:
        return list(self._by_title)
