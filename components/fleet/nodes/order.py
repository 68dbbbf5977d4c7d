"""One order of node groups that follows the preferences of all models, as far as these agree.

Each model names its kinds of nodes in order of preference. A node autoscaler that knows no pod's preference, only one
order of groups, needs all these orders in one.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupOrder:
    """One order of node groups.

    Attributes:
        levels: By group, how many groups are below it, one under another: a model's first choice has a higher level
            than its second. Groups that no model compares have level 0.
        tied: By group, the others of its level that some models prefer to it and other models do not: no order
            follows both.
    """

    levels: Mapping[str, int]
    tied: Mapping[str, frozenset[str]]


def group_order(preferences: Iterable[Sequence[str]]) -> GroupOrder:
    """Return the order that follows the most preferences.

    Groups that preferences put in a circle, such as A before B and B before A, are on one level, so that all other
    preferences still hold.

    Args:
        preferences: Per model, the names of its groups, the preferred one first.
    """
    after: dict[str, set[str]] = {}
    for names in preferences:
        distinct = list(dict.fromkeys(names))
        for name in distinct:
            after.setdefault(name, set())
        for first, second in itertools.pairwise(distinct):
            after[first].add(second)
    reached = {name: _reached(name, after) for name in after}
    tied = {name: frozenset(other for other in reached[name] if name in reached[other]) - {name} for name in after}
    levels: dict[str, int] = {}

    def level(name: str) -> int:
        if name not in levels:
            below = {second for each in (name, *tied[name]) for second in after[each]} - tied[name] - {name}
            levels[name] = max((level(each) + 1 for each in below), default=0)
        return levels[name]

    for name in after:
        level(name)
    return GroupOrder(levels, {name: others for name, others in tied.items() if others})


def _reached(name: str, after: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the groups that come after one, also by way of others."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        for other in after[ahead.pop()]:
            if other not in found:
                found.add(other)
                ahead.append(other)
    return found
