"""What a kind of the contract is, as the API server registers it (contract/README.md), and a set of them."""

import difflib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .meta import Resource
from .problems import did_you_mean
from .schema.builtin import is_namespaced

_NEARLY_GROUP = 0.85
"""How alike the name of an API group is to one of ours that is misspelt; below it is another API."""


class Column(NamedTuple):
    """What ``kubectl get`` prints of a kind; those of priority 1 only with ``-o wide``."""

    name: str
    type: str
    path: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Upstream:
    """The release of a project whose API is supported, and what its API has beyond that.

    Attributes:
        release: The release, such as ``Example v1.2``.
        fields: Fields of later releases: by kind and path without indexes, the first release that has it.
        kinds: Further kinds of the API group, with the first release that has each.
        values: Values of later releases: by kind, path without indexes and value, the first release that has it.
    """

    release: str = ""
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind and how it is served."""

    api_version: str
    kind: str
    model: type[Resource]
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    scale_selector: str = ""
    """Status path of the pod selector; empty for kinds without a scale subresource, or without a selector in it."""
    scales_unselected: bool = False
    """Whether there is a scale subresource that tells no selector: autoscalers cannot use it, clients can."""
    columns: tuple[Column, ...] = ()
    upstream: Upstream = field(default=Upstream(), repr=False, compare=False)
    reads_status: bool = False
    """Whether what a controller wrote into a status says something to a plan; else it is dropped, as on creation."""

    def release_with_field(self, path: Iterable[str | int]) -> str:
        """Return the first release of upstream that has a field which the supported one has not; empty for others."""
        return self.upstream.fields.get(self.kind, {}).get(_without_indexes(path), "")

    def release_with_value(self, path: Iterable[str | int], value: object) -> str:
        """Return the first release of upstream that has a value which the supported one has not; empty for others."""
        values = self.upstream.values.get(self.kind, {}).get(_without_indexes(path), {})
        return values.get(value, "") if isinstance(value, str) else ""

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]

    @property
    def version(self) -> str:
        """The API version within the group."""
        return self.api_version.partition("/")[2]

    @property
    def scope(self) -> str:
        """``Namespaced`` or ``Cluster``."""
        return "Namespaced" if self.namespaced else "Cluster"

    @property
    def scales(self) -> bool:
        """Whether there is a scale subresource."""
        return bool(self.scale_selector) or self.scales_unselected

    @property
    def crd_name(self) -> str:
        """Name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"

    @property
    def title(self) -> str:
        """``apiVersion/Kind``, the key of a schema listing."""
        return f"{self.api_version}/{self.kind}"


def _without_indexes(path: Iterable[str | int]) -> str:
    return ".".join(part for part in path if isinstance(part, str))


class Kinds:
    """Kinds that manifests can be read of, in the order in which messages list them.

    Args:
        kinds: All kinds; iterated over when something other than the kind of an object is looked up.
        of_group: Returns the kinds of an API group, where that takes less than to load all of them.
    """

    def __init__(self, kinds: Iterable[Kind], of_group: Callable[[str], Iterable[Kind]] | None = None) -> None:
        self._kinds = kinds
        self._of_group = of_group

    @functools.cached_property
    def _by_title(self) -> dict[str, Kind]:
        return {kind.title: kind for kind in self._kinds}

    def __iter__(self) -> Iterator[Kind]:
        """Iterate over the kinds in order."""
        return iter(self._by_title.values())

    def find(self, api_version: object, kind: object) -> Kind | None:
        """Return the kind of an object; None for one that is not known."""
        title = f"{api_version}/{kind}"
        if self._of_group is None:
            return self._by_title.get(title)
        return next((known for known in self._of_group(title.partition("/")[0]) if known.title == title), None)

    def of_list(self, api_version: object, kind: object) -> Kind | None:
        """Return the kind of which an object is a list, as an API server answers; None for any other object."""
        singular = kind.removesuffix("List") if isinstance(kind, str) else ""
        return self.find(api_version, singular) if singular != kind else None

    def all_named(self, name: str) -> list[Kind]:
        """Return the kinds with this name, or with this ``apiVersion/Kind``."""
        return [kind for kind in self if name in (kind.kind, kind.title)]

    def by_name(self, name: str) -> Kind:
        """Return the kind of this name, or of this ``apiVersion/Kind``.

        Raises:
            ValueError: If there is none; the message names those that exist.
        """
        found = self.all_named(name)
        if not found:
            known = [kind.kind for kind in self]
            hint = did_you_mean(name, known)
            raise ValueError(f"unknown kind {name!r}{hint}; known kinds: {', '.join(known)}")
        return found[0]

    def misspelt(self, api_version: str, kind: str) -> tuple[str, str] | None:
        """Return the field of an object that must be another, and why; None if it is an object of another API."""
        group = api_version.rpartition("/")[0]
        if is_namespaced(group, kind) is not None:
            return None
        groups = {known.group for known in self}
        ours = difflib.get_close_matches(group, groups, n=1, cutoff=_NEARLY_GROUP)
        namesake = next((known for known in self if known.kind == kind), None)
        if namesake and (ours or not group):
            return "apiVersion", f"must be '{namesake.api_version}' for kind {kind}, found {api_version!r}"
        beside = [known for known in self if not group or known.group in ours]
        hint = did_you_mean(kind, [known.kind for known in beside])
        if not group:  # no API of others: what has no group is built in
            known_kinds = f"; known kinds: {', '.join(self.titles)}"
            return "kind", f"unknown kind '{api_version}/{kind}'{hint or known_kinds}"
        if hint and not any(kind in known.upstream.kinds for known in beside):
            return "kind", f"unknown kind '{api_version}/{kind}'{hint}"
        return None

    @property
    def titles(self) -> list[str]:
        """Every ``apiVersion/Kind``."""
        return list(self._by_title)
