"""Replicas for a service level, by a queue with a rate of service that depends on its state (WVA spec 8).

The figures are those of the equations, in 64 bits. Upstream's own rounding and choices are in ``literal``.
"""

from collections.abc import Sequence

from .cases import Behaviour, Case, Sized
from .refusals import unusable

_MOST_PER_MINUTE = 1e200


def size(cases: Sequence[Case]) -> tuple[Sized, ...]:
    """Return how many replicas each case needs, and what they do."""
    if not cases:
        return ()
    from .arrays.replicas import size_all  # numpy is imported where something is sized

    return size_all(cases)


def behaviour(case: Case, per_minute: float) -> Behaviour:
    """Return what one replica does at a rate of requests.

    Raises:
        ValueError: There are no figures for such a case, or no such rate.
    """
    (found,) = behaviours(case, [per_minute])
    return found


def behaviours(case: Case, per_minute: Sequence[float]) -> tuple[Behaviour, ...]:
    """Return what one replica does at each of some rates of requests, which may be above what it can complete.

    Raises:
        ValueError: There are no figures for such a case, or no such rate.
    """
    if reason := unusable(case) or ("" if int(case.output_tokens) else "an answer has no whole token"):
        raise ValueError(reason)
    if wrong := [rate for rate in per_minute if not 0 <= rate <= _MOST_PER_MINUTE]:
        raise ValueError(f"{wrong[0]} requests a minute: a number from 0 to {_MOST_PER_MINUTE:g} is needed")
    from .arrays.replicas import behave_all  # numpy is imported where something is sized

    return tuple(behave_all(case, per_minute))


def cheapest(sized: Sequence[Sized]) -> Sized | None:
    """Return which of several ways to keep a promise costs least; None if none keeps it.

    Of those that cost the same it is the one with the fewest accelerators, then with the fewest replicas, then the
    first by the accelerator's name: never by their order.
    """
    feasible = [each for each in sized if each.is_feasible]
    return min(feasible, key=rank, default=None)


def rank(sized: Sized) -> tuple[float, int, int, str, int, float, float]:
    """Return by what several ways to keep a promise are sorted."""
    profile = sized.case.profile
    numbers = (sized.cents_per_hour, sized.accelerators, sized.replicas)
    return (*numbers, profile.accelerator, profile.batch, profile.alpha, profile.beta)
