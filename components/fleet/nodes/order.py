"""A single order of node groups that follows the preferences of all models as far as they agree.

Each model lists its kinds of nodes in order of preference. A node autoscaler that ignores the preferences of pods
needs one order of groups that combines them.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class GroupOrder(NamedTuple):
    """One order of node groups.

    Attributes:
        levels: Level by group: the length of the longest chain of less preferred groups, so that a model's first
            choice has a higher level than its second. Groups that no model compares have level 0.
        tied: By group, the groups of its level with which it is in a cycle of preferences, so that no order can
            follow all of them.
    """

    levels: Mapping[str, int]
    tied: Mapping[str, frozenset[str]]


def group_order(preferences: Iterable[Sequence[str]]) -> GroupOrder:
    """Return the order that follows the most preferences.

    Groups in a cycle of preferences, such as A before B and B before A, share a level, so that all other preferences
    still hold.

    Args:
        preferences: For each model, the names of its groups, the preferred one first.
    """
    after: dict[str, set[str]] = {}
    for names in preferences:
        distinct = list(dict.fromkeys(names))
        for name in distinct:
            after.setdefault(name, set())
        for first, second in itertools.pairwise(distinct):
            after[first].add(second)
    followers = {name: _followers(name, after) for name in after}
    tied = {name: frozenset(o for o in followers[name] if name in followers[o]) - {name} for name in after}
    levels: dict[str, int] = {}

    def level(name: str) -> int:
        if name not in levels:
            successors = {second for first in (name, *tied[name]) for second in after[first]} - tied[name] - {name}
            levels[name] = max((level(other) + 1 for other in successors), default=0)
        return levels[name]

    for name in after:
        level(name)
    return GroupOrder(levels, {name: members for name, members in tied.items() if members})


def _followers(name: str, after: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the groups that come after a group, directly or transitively."""
    visited: set[str] = set()
    pending = [name]
    while pending:
        for other in after[pending.pop()]:
            if other not in visited:
                visited.add(other)
                pending.append(other)
    return visited
