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
        requests = {**demand.requests, "pods": Decimal(1)}
        sizes = sorted((key, math.ceil(amount * _THOUSANDTHS)) for key, amount in requests.items() if amount > 0)
        kinds[tuple(sizes)] += demand.most
    counted = [(dict(sizes), count) for sizes, count in kinds.items() if count]
    capacity = {key: int(amount * _THOUSANDTHS) for key, amount in offered.items()}
    # Of each resource, the greatest common divisor of all requests.
    steps = {key: math.gcd(*(size[key] for size, _ in counted if key in size)) or 1 for key in capacity}
    return max((_blocked_nodes(size, counted, capacity, steps) + 1 for size, _ in counted), default=0)


def _blocked_nodes(pod: _Sizes, kinds: list[tuple[_Sizes, int]], capacity: _Sizes, steps: _Sizes) -> int:
    """Return the maximum number of nodes that all other pods block for a pod."""
    blocking = {
        key: max(capacity[key] // steps[key] * steps[key] - pod[key] + steps[key], steps[key])
        for key in pod
        if key in capacity
    }
    total = Fraction(0)
    for other, count in kinds:
        share = max((Fraction(other[key], blocking[key]) for key in blocking if key in other), default=Fraction(0))
        total += min(share, Fraction(1)) * (count - (other is pod))
    return math.floor(total)
