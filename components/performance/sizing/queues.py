"""Replicas for latency targets, from a queue with a state-dependent service rate (WVA spec 8).

This evaluates the equations in 64 bits. ``literal`` reproduces upstream's rounding and choices.
"""

from collections.abc import Sequence

from .cases import Behaviour, Case, Sized
from .refusals import unusable

_MOST_PER_MINUTE = 1e200


def size(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return the required replicas of each case and their steady state."""
    if not cases:
        return ()
    from .arrays.replicas import size_all  # import numpy only when something is sized

    return size_all(cases)


def behaviour(case: Case, per_minute: float) -> Behaviour:
    """Return the steady state of one replica at a request rate.

    Raises:
        ValueError: The case or the rate is out of range.
    """
    (state,) = behaviours(case, [per_minute])
    return state


def behaviours(case: Case, per_minute: Sequence[float]) -> tuple[Behaviour, ...]:
    """Return the steady state of one replica at each request rate; rates may exceed its capacity.

    Raises:
        ValueError: The case or a rate is out of range.
    """
    if reason := unusable(case):
        raise ValueError(reason)
    if not int(case.output_tokens):
        raise ValueError("a request has no whole output token")
    for rate in per_minute:
        # Written so that NaN is refused, too.
        if not 0 <= rate <= _MOST_PER_MINUTE:
            raise ValueError(f"the request rate must be between 0 and {_MOST_PER_MINUTE:g} per minute, found {rate}")
    from .arrays.replicas import behave_all  # import numpy only when something is sized

    return tuple(behave_all(case, per_minute))


def cheapest(sized: Sequence[Sized]) -> Sized | None:
    """Return the cheapest result that meets its targets; None if none does.

    Ties are broken by fewer accelerators, fewer replicas, and the name of the accelerator, never by input order.
    """
    feasible = [result for result in sized if result.is_feasible]
    return min(feasible, key=rank, default=None)


def rank(sized: Sized) -> tuple[float, int, int, str, int, float, float]:
    """Return the sort key of sizing results: cost first."""
    profile = sized.case.profile
    numbers = (sized.cents_per_hour, sized.accelerators, sized.replicas)
    return (*numbers, profile.accelerator, profile.batch, profile.alpha, profile.beta)
