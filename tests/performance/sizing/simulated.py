"""The queue of the model as events, one after the other: nothing here knows an equation for the long run.

Requests arrive at a Poisson process. Completions are a second one at the largest rate, thinned: with n requests one
of them completes with a probability of mu(n) / mu(N), so that they happen at the rate mu(n). There is room for 10 *
N.

Two per cent would take many hours of plain averages, as what a queue does now says much about what it will do for
long. So each average is taken relative to what happened by chance (control variates): how many arrived in a state,
less lambda times the time spent in it, is 0 in the mean, and so is how many completed, less mu(n) times that time.
How strongly an average depends on these is estimated by regression over parts of the run. That adds nothing that is
not in the run, and takes away noise whose mean is known.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import simpy
from numpy.typing import NDArray

from components.performance.sizing.cases import Case
from tests.performance.sizing.plain import ROOM, completions


@dataclass(frozen=True)
class Part:
    """Some time of a run: the time spent in each state, and the steps up and down from it."""

    time: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]


class Replica:
    """One replica and its queue."""

    def __init__(self, case: Case, rate: float, seed: int) -> None:
        self.batch = case.profile.batch
        self.rate = rate
        self.rates = [0.0, *(completions(case, n) for n in range(1, ROOM * self.batch + 1))]
        self._chance = random.Random(seed)
        self._env = simpy.Environment()
        self._requests, self._since = 0, 0.0
        self._clear()
        self._env.process(self._arrivals())
        self._env.process(self._completions())

    def _clear(self) -> None:
        self._time, self._up, self._down = ([0.0] * len(self.rates) for _ in range(3))

    def _arrivals(self) -> Generator[simpy.Event, Any, None]:
        draw, timeout, most = self._chance.expovariate, self._env.timeout, len(self.rates) - 1
        while True:
            yield timeout(draw(self.rate))
            n = self._requests
            if n < most:
                self._up[n] += 1
                self._step(n + 1)

    def _completions(self) -> Generator[simpy.Event, Any, None]:
        chance, timeout, largest = self._chance, self._env.timeout, self.rates[-1]
        while True:
            yield timeout(chance.expovariate(largest))
            n = self._requests
            if chance.random() * largest < self.rates[n]:
                self._down[n] += 1
                self._step(n - 1)

    def _step(self, requests: int) -> None:
        now = self._env.now
        self._time[self._requests] += now - self._since
        self._requests, self._since = requests, now

    def run(self, duration: float) -> Part:
        """Go on for some time."""
        self._clear()
        self._env.run(until=self._env.now + duration)
        self._step(self._requests)
        return Part(np.array(self._time), np.array(self._up), np.array(self._down))


@dataclass(frozen=True)
class Averages:
    """What a run shows, in milliseconds and requests."""

    throughput: float
    in_system: float
    in_service: float

    @property
    def wait_ms(self) -> float:
        return (self.in_system - self.in_service) / self.throughput

    @property
    def service_ms(self) -> float:
        return self.in_service / self.throughput

    @property
    def response_ms(self) -> float:
        return self.in_system / self.throughput


def simulate(case: Case, rate: float, seed: int, parts: int, duration: float) -> Averages:
    """Return the averages of a run of some parts, after one that does not count."""
    replica = Replica(case, rate, seed)
    replica.run(duration)
    runs = [replica.run(duration) for _ in range(parts)]
    states = np.arange(len(replica.rates))
    at_work = np.minimum(states, replica.batch)
    figures = np.array([[part.down.sum(), part.time @ states, part.time @ at_work] for part in runs]) / duration
    chances = np.array([_chances(replica, part) for part in runs]) / duration
    chances /= chances.std(axis=0)
    # The smallest differences between them are noise themselves.
    weights, *_ = np.linalg.lstsq(chances - chances.mean(axis=0), figures - figures.mean(axis=0), rcond=0.01)
    throughput, in_system, in_service = figures.mean(axis=0) - chances.mean(axis=0) @ weights
    return Averages(throughput, in_system, in_service)


def _chances(replica: Replica, part: Part) -> list[float]:
    """Return what is 0 in the mean: steps less the rates at which they happen, by powers of the state."""
    states = np.arange(len(replica.rates)) / replica.batch
    open_door = states < states[-1]
    arrived = part.up - replica.rate * part.time * open_door
    completed = part.down - np.array(replica.rates) * part.time
    at_work = np.minimum(states, 1.0)
    shapes = [np.ones_like(states), states, states**2, at_work, at_work**2]
    return [float(steps @ shape) for shape in shapes for steps in (arrived, completed)]
