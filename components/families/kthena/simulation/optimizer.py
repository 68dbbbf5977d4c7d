"""Which targets of an optimizer get the replicas: the cheapest blocks first (Kthena spec 4.5)."""

from collections.abc import Iterator
from typing import NamedTuple

from .settings import Bound, ScaledTarget

_ONE_BLOCK = 100
"""At this rate all replicas of a target are one block. Below it, blocks do not grow: all are one replica."""


class Block(NamedTuple):
    """Replicas that a target gets before dearer ones; sorted by cost, then by the place of the target."""

    cost: int
    target: int
    size: int


def distribution(bound: Bound, total: int) -> tuple[int, ...]:
    """Return the replicas of each target, of a total within the bounds; each has its minimum first."""
    replicas = [target.minimum for target in bound.targets]
    rest = min(max(total, bound.minimum), bound.maximum) - bound.minimum
    for block in blocks(bound):
        taken = min(rest, block.size)
        replicas[block.target] += taken
        rest -= taken
    return tuple(replicas)


def blocks(bound: Bound) -> list[Block]:
    """Return what the targets can have above their minimum, in the order in which they get it."""
    rate = _ONE_BLOCK if bound.expansion is None else bound.expansion
    found = [block for place, target in enumerate(bound.targets) for block in _of_target(place, target, rate)]
    return sorted(found)


def _of_target(place: int, target: ScaledTarget, rate: int) -> Iterator[Block]:
    """Yield blocks of one target. The length grows as float64, as in the controller."""
    rest = target.maximum - target.minimum
    if rate <= _ONE_BLOCK:
        if rest > 0:
            yield Block(target.cost, place, rest)
        return
    length = 1.0
    while rest > 0:
        size = min(rest, max(int(length), 1))
        yield Block(target.cost * size, place, size)
        rest -= size
        length = length * float(rate) / 100
