"""The list of families. A family is imported when it is first needed."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..contract.lazy import lazy_attribute
from .family import Family

_PACKAGE = __name__.rpartition(".")[0]


class _Entry(NamedTuple):
    name: str
    groups: frozenset[str]
    load: Callable[[], Family]


class Families:
    """A list of families.

    Importing all of them takes longer than to validate a manifest, and most manifests are of one family. So a family
    that is listed by its folder is imported when an object of its API groups is read, or when the list is iterated.

    Args:
        folders: The API groups of each family, by the name of its folder beside this module.
    """

    def __init__(self, folders: Mapping[str, tuple[str, ...]]) -> None:
        self._entries = [
            _Entry(folder, frozenset(groups), functools.cache(lazy_attribute(_PACKAGE, f"{folder}.family", "FAMILY")))
            for folder, groups in folders.items()
        ]

    @property
    def names(self) -> list[str]:
        """The names of the families; does not import them."""
        return [entry.name for entry in self._entries]

    def of_groups(self, groups: Iterable[str]) -> list[Family]:
        """Return the families with kinds in one of these API groups, in the order of the list."""
        groups = frozenset(groups)
        return [entry.load() for entry in self._entries if not entry.groups.isdisjoint(groups)]

    def __iter__(self) -> Iterator[Family]:
        return (entry.load() for entry in list(self._entries))

    def insert(self, index: int, family: Family) -> None:
        """Insert a family that is loaded already, before the one at ``index``."""
        groups = frozenset(member.kind.group for member in family.members)
        self._entries.insert(index, _Entry(family.name, groups, lambda: family))

    def append(self, family: Family) -> None:
        self.insert(len(self._entries), family)

    def remove(self, family: Family) -> None:
        self._entries = [entry for entry in self._entries if entry.name != family.name or entry.load() is not family]
