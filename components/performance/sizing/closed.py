"""Users who wait: each thinks, sends a request, and waits for its answer before the next one.

The request rate follows from the response time, and the response time from the rate: with N users who think S
seconds, and a mean response time of T(x) at x requests on a replica, R replicas get x requests each where
``x * (S + T(x)) = N / R`` (the law of interactive response times). The left side rises with x, because T does, so
that there is one such rate, and it falls with every replica: the users that a replica can have are those at the
highest rate within its targets.
"""

from typing import NamedTuple

from .cases import MINUTE, Sized
from .queues import behaviours

_POINTS = 33
_ROUNDS = 4
"""Each round divides the interval by the points: after four it is a millionth of the first one."""
_ROUNDING = 1e-9


class ClosedLoop(NamedTuple):
    """Users who send one request after the other.

    Attributes:
        users: Number of users.
        think_s: Mean seconds between an answer and the next request of the same user.
        beside_ms: Milliseconds of a response that the queueing model leaves out, such as a measured prefill.
    """

    users: int
    think_s: float
    beside_ms: float = 0.0

    def users_at(self, per_minute: float, response_ms: float) -> float:
        """Return the users who send this many requests per minute, by Little's law."""
        return per_minute / MINUTE * (self.think_s * 1000 + self.beside_ms + response_ms)


def users_within_targets(sized: Sized, loop: ClosedLoop) -> float:
    """Return how many users one replica can have within its targets; 0 if none."""
    if not sized.most_per_minute:
        return 0.0
    (most,) = behaviours(sized.case, [sized.most_per_minute])
    return loop.users_at(sized.most_per_minute, most.response_ms)


def replicas_for(sized: Sized, loop: ClosedLoop) -> int | None:
    """Return the least replicas for the users of a loop; None if a replica meets its targets at no rate."""
    each = users_within_targets(sized, loop)
    return max(1, -int(-loop.users * (1 - _ROUNDING) // each)) if each else None


def offered_per_minute(sized: Sized, loop: ClosedLoop, replicas: int) -> float:
    """Return the requests per minute that the users of a loop send to a number of replicas.

    Args:
        sized: The case, whose own rate is ignored.
        loop: The users.
        replicas: The replicas that share them evenly.
    """
    each = loop.users / replicas
    low, high = 0.0, sized.capacity_per_minute
    (full,) = behaviours(sized.case, [high])
    if loop.users_at(high, full.response_ms) <= each:
        return high * replicas  # more users only wait longer
    for _ in range(_ROUNDS):
        rates = [low + (high - low) * number / (_POINTS - 1) for number in range(_POINTS)]
        states = behaviours(sized.case, rates[1:])
        users = [loop.users_at(rate, state.response_ms) for rate, state in zip(rates[1:], states, strict=True)]
        above = next((number for number, count in enumerate(users) if count >= each), len(users) - 1)
        low, high = rates[above], rates[above + 1]
    return (low + high) / 2 * replicas
