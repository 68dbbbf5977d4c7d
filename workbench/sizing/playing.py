"""Users in virtual time: they think, send a request to one of the replicas, and wait for its answer."""

import heapq
import random
from dataclasses import dataclass
from itertools import count
from math import ceil, inf
from typing import TYPE_CHECKING

from components.performance.sizing.checked import Played
from livefleet import EngineReplica

if TYPE_CHECKING:
    from livefleet import Job, TokenPace

SEED = 30
_LEAST_REQUESTS = 3000
"""Enough that the 95th percentile of independent times is the 94th to 96th in nineteen of twenty runs."""
_ROUNDS = 3
"""Least requests of each user, after those of the start."""
_MILLI = 1000


@dataclass(frozen=True, slots=True)
class ThinkingUsers:
    """Users who send one request after the other.

    Attributes:
        number: How many there are.
        think_s: Mean seconds between an answer and the next request, exponentially distributed.
        prompt: Tokens of each prompt.
        answer: Tokens of each answer.
    """

    number: int
    think_s: float
    prompt: int
    answer: int


def requests_of(users: int) -> int:
    """Return the requests that a run needs, without those of the start."""
    return max(_LEAST_REQUESTS, _ROUNDS * users)


def play(pace: "TokenPace", replicas: int, users: ThinkingUsers) -> Played:
    """Let users send requests to replicas of one pace.

    Each request goes to a random replica, as kube-proxy sends connections. The run is the same each time. The first
    two requests of each user are not counted, because all users begin at the same time.

    Args:
        pace: The pace of each replica.
        replicas: How many there are.
        users: Who sends the requests.
    """
    chance, number = random.Random(SEED), count()  # noqa: S311 - a seeded run, no secret
    engines = [EngineReplica(pace, None, 0.0) for _ in range(replicas)]
    running: list[list[Job]] = [[] for _ in engines]
    due = [inf] * replicas  # of each replica, when its batch changes: an older entry of the queue is stale
    events: list[tuple[float, int, int]] = []  # time, order, replica; -1 for a user who sends a request
    for _ in range(users.number):
        heapq.heappush(events, (_thought(chance, users.think_s), next(number), -1))
    skipped, wanted = 2 * users.number, requests_of(users.number)
    first: list[float] = []
    between: list[float] = []
    since = now = 0.0
    while len(first) < wanted:
        now, _, which = heapq.heappop(events)
        if which < 0:
            which = chance.randrange(replicas)
            running[which].append(engines[which].submit(now, users.prompt, users.answer))
        elif now != due[which]:
            continue
        engine = engines[which]
        engine.advance(now)
        if engine.running + engine.waiting < len(running[which]):
            ended = [job for job in running[which] if job.ended is not None]
            running[which] = [job for job in running[which] if job.ended is None]
            for job in ended:
                heapq.heappush(events, (now + _thought(chance, users.think_s), next(number), -1))
                if skipped:
                    skipped, since = skipped - 1, now
                    continue
                at, end = job.first or job.arrived, job.ended or now
                first.append(at - job.arrived)
                between.append((end - at) / max(1, users.answer - 1))
        if engine.changes_at != due[which]:
            due[which] = engine.changes_at
            if due[which] < inf:
                heapq.heappush(events, (due[which], next(number), which))
    ordered = sorted(first)
    return Played(
        replicas=replicas,
        users=users.number,
        requests=len(first),
        itl_ms=sum(between) / len(between) * _MILLI,
        ttft_p95_ms=ordered[ceil(0.95 * len(ordered)) - 1] * _MILLI,
        per_minute=len(first) / (now - since) * 60,
    )


def _thought(chance: random.Random, mean: float) -> float:
    return chance.expovariate(1 / mean) if mean else 0.0
