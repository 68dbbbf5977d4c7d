"""An upper bound on the nodes that pods need, for any scheduling order."""

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
    """Return a number of equal nodes with which no pod can stay Pending, even if all pods exist at once.

    The scheduler spreads pods: two pods with one GPU each, on two nodes with four GPUs, block both nodes for a pod
    that needs four. For each kind of pod, this counts the nodes that all other pods could block, plus one. A node is
    blocked for a pod if the others leave too little of some resource; each pod contributes a share of that, and
    blocking a node takes shares of at least one.

    Args:
        offered: Allocatable amounts of an empty node, in base units.
        demands: Every kind of pod that may run on these nodes, at its maximum.
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
    """Return the greatest common divisor of all requests, by resource."""
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
