"""The list of families, each of which is imported when something of it is needed."""

import functools
from collections.abc import Callable, Iterable, Mapping, MutableSequence
from typing import NamedTuple, overload

from ..contract.lazy import lazy_attribute
from .family import Family

_PACKAGE = __name__.rpartition(".")[0]


class _Entry(NamedTuple):
    groups: frozenset[str]
    load: Callable[[], Family]


class Families(MutableSequence[Family]):
    """A list of families.

    Importing all of them takes longer than to validate a manifest, and most manifests are of one family. So a family
    that is listed by its folder is imported when an object of its API groups is read, or when a question goes to all
    families.

    Args:
        folders: The API groups of each family, by the name of its folder beside this module.
    """

    def __init__(self, folders: Mapping[str, tuple[str, ...]]) -> None:
        self._entries = [
            _Entry(
                frozenset(groups), functools.cache(lazy_attribute(__package__ or "", f"{folder}.family", "FAMILY"))
            )
            for folder, groups in folders.items()
        ]

    def of_groups(self, groups: Iterable[str]) -> list[Family]:
        """Return the families with kinds in one of these API groups, in the order of the list."""
        groups = frozenset(groups)
        return [entry.load() for entry in self._entries if not entry.groups.isdisjoint(groups)]

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Family: ...
    @overload
    def __getitem__(self, index: slice) -> MutableSequence[Family]: ...
    def __getitem__(self, index: int | slice) -> Family | MutableSequence[Family]:
        if isinstance(index, slice):
            return [entry.load() for entry in self._entries[index]]
        return self._entries[index].load()

    @overload
    def __setitem__(self, index: int, value: Family) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[Family]) -> None: ...
    def __setitem__(self, index: int | slice, value: Family | Iterable[Family]) -> None:
        if isinstance(index, slice) or not isinstance(value, Family):
            raise TypeError("families are replaced one at a time")
        self._entries[index] = _entry(value)

    def __delitem__(self, index: int | slice) -> None:
        del self._entries[index]

    def insert(self, index: int, value: Family) -> None:
        """Insert a family that is loaded already, before the one at ``index``."""
        self._entries.insert(index, _entry(value))


def _entry(family: Family) -> _Entry:
    return _Entry(frozenset(member.kind.group for member in family.members), lambda: family)
