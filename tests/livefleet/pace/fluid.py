"""The queue of the WVA spec, 8.3, as events: requests are worked on from the moment at which they find a place.

Its work is no number of tokens but an exponential amount of them, done little by little. So in the long run it is the
model exactly, which a queue with steps and whole tokens is nearly.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator

from components.performance.sizing.cases import Profile


def waits(profile: Profile, room: int, requests: Iterable[tuple[float, float]]) -> Iterator[float | None]:
    """Yield for each request how long it waits; None for those that find no room.

    Args:
        profile: How fast it is.
        room: Requests that wait or are worked on, at most.
        requests: When each arrives and how many tokens it wants.
    """
    now, done = 0.0, 0.0  # tokens that each request at work has got since the beginning
    at_work: list[float] = []  # the value of ``done`` at which each one ends
    waiting: deque[tuple[int, float, float]] = deque()
    found: dict[int, float | None] = {}
    number = yielded = 0
    for number, (arrival, tokens) in enumerate((*requests, (float("inf"), 0.0))):
        while at_work:
            each = profile.alpha + profile.beta * len(at_work)
            end = now + (at_work[0] - done) * each
            if end > arrival:
                done += (arrival - now) / each
                break
            now, done = end, heapq.heappop(at_work)
            if waiting:
                which, since, wanted = waiting.popleft()
                found[which] = now - since
                heapq.heappush(at_work, done + wanted)
        now = arrival
        if len(at_work) < profile.batch:
            found[number] = 0.0
            heapq.heappush(at_work, done + tokens)
        elif len(at_work) + len(waiting) < room:
            waiting.append((number, now, tokens))
        else:
            found[number] = None
        while yielded in found and yielded < number:
            yield found.pop(yielded)
            yielded += 1
