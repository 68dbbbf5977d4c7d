"""An engine token by token: what the model of queues abstracts from.

All requests that are worked on get a token together, in a step that takes alpha + beta * n for the n of them.
Requests join and leave between steps; those that find no place wait in the order in which they came. Prompts take
no time, as in the model.
"""

import random
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import simpy

from components.performance.sizing.cases import Case


class Engine:
    """One engine, and what it has measured of the requests that are done."""

    def __init__(self, case: Case, rate: float, length: Callable[[], int], seed: int) -> None:
        self.waits: list[float] = []
        self.itls: list[float] = []
        self._profile, self._rate, self._length = case.profile, rate, length
        self._chance = random.Random(seed)
        self._env = simpy.Environment()
        self._queue: deque[float] = deque()
        self._arrived = self._env.event()

    def run(self, requests: int) -> None:
        """Serve some requests."""
        self._env.process(self._arrivals(requests))
        self._env.process(self._steps())
        self._env.run()

    def _arrivals(self, requests: int) -> Generator[simpy.Event, Any, None]:
        for _ in range(requests):
            yield self._env.timeout(self._chance.expovariate(self._rate))
            self._queue.append(self._env.now)
            if not self._arrived.triggered:
                self._arrived.succeed()

    def _steps(self) -> Generator[simpy.Event, Any, None]:
        profile, env = self._profile, self._env
        batch: list[tuple[float, int, int]] = []  # begun, tokens, number of the step after the last token
        step = 0
        while True:
            while self._queue and len(batch) < profile.batch:
                self.waits.append(env.now - self._queue.popleft())
                tokens = self._length()
                batch.append((env.now, tokens, step + tokens))
            if not batch:
                self._arrived = env.event()
                yield self._arrived
                continue
            yield env.timeout(profile.alpha + profile.beta * len(batch))
            step += 1
            done = [request for request in batch if request[2] == step]
            if done:
                batch = [request for request in batch if request[2] > step]
                self.itls += [(env.now - begun) / tokens for begun, tokens, _ in done]
