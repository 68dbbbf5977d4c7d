"""The model of queues, remembered: ``explain`` renders a fleet once for every field, and most stays the same."""

import functools

from ....performance.sizing.cases import Behaviour, Case, Sized

_MOST = 4096


@functools.lru_cache(maxsize=_MOST)
def sized(cases: tuple[Case, ...]) -> tuple[Sized, ...]:
    """Return how many replicas each case needs."""
    from ....performance.sizing.queues import size

    return size(cases)


@functools.lru_cache(maxsize=_MOST)
def at_largest(case: Case, per_minute: float) -> Behaviour:
    """Return what a replica does at its largest rate."""
    from ....performance.sizing.queues import behaviour

    return behaviour(case, per_minute)
