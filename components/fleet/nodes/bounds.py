"""How many nodes are enough, in whatever order pods come and wherever the scheduler puts them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

from ..demand import PodDemand

_THOUSANDTHS = 1000
_Sizes = dict[str, int]
"""Amounts per resource, in thousandths."""


def nodes_for_any_order(offered: Mapping[str, Decimal], demands: Iterable[PodDemand]) -> int:
    """Return so many equal nodes that no pod can stay Pending, even when all pods are there.

    The scheduler spreads pods: two pods of one GPU on two nodes of four block both for a pod of four. So for
    each kind of pod the nodes are counted that all others could block, plus one for it. A node is blocked for a
    pod when the others use more of some resource than leaves room; each pod can do a certain share of that, and
    blocking a node takes shares of at least one.

    Args:
        offered: What one empty node offers, per resource, in base units.
        demands: Every kind of pod that may come to these nodes, at its most.
    """
    kinds: Counter[tuple[tuple[str, int], ...]] = Counter()
    for demand in demands:
        kinds[_sizes(demand)] += demand.most
    counted = [(dict(sizes), count) for sizes, count in kinds.items() if count]
    capacity = {key: int(amount * _THOUSANDTHS) for key, amount in offered.items()}
    steps = _steps(capacity, [sizes for sizes, _ in counted])
    return max((_blocked(one, counted, capacity, steps) + 1 for one, _ in counted), default=0)


def _sizes(demand: PodDemand) -> tuple[tuple[str, int], ...]:
    wanted = {**demand.requests, "pods": Decimal(1)}
    return tuple(sorted((key, math.ceil(amount * _THOUSANDTHS)) for key, amount in wanted.items() if amount > 0))


def _steps(capacity: _Sizes, kinds: list[_Sizes]) -> _Sizes:
    """Return the amount of which every use of a resource is a multiple."""
    return {key: math.gcd(*(sizes[key] for sizes in kinds if key in sizes)) or 1 for key in capacity}


def _blocked(one: _Sizes, kinds: list[tuple[_Sizes, int]], capacity: _Sizes, steps: _Sizes) -> int:
    enough = {
        key: max(capacity[key] // steps[key] * steps[key] - one[key] + steps[key], steps[key])
        for key in one
        if key in capacity
    }
    total = Fraction(0)
    for sizes, count in kinds:
        share = max((Fraction(sizes[key], enough[key]) for key in enough if key in sizes), default=Fraction(0))
        total += min(share, Fraction(1)) * (count - (sizes is one))
    return math.floor(total)
