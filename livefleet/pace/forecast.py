"""When a request will have its tokens, if no other one comes."""

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from ..fleet import TokenPace
from .jobs import Job, Standing


@dataclass(frozen=True, slots=True)
class Forecast:
    """A replica at the end of its present stretch of equal steps.

    Attributes:
        at: When that is.
        step: The number of the last step of the stretch.
        ends: Last steps of the requests that get tokens, and what each has in the cache then, sorted.
        cached: What they have in the cache together.
        filling: The request whose prompt is computed in parts.
        left: Tokens of its prompt after the stretch.
        waiting: Requests that wait, in order.
    """

    pace: TokenPace
    at: float
    step: int
    ends: Sequence[tuple[int, int]]
    cached: int
    filling: Job | None
    left: int
    waiting: Collection[Job]

    def due(self, job: Job, tokens: int) -> float:
        """Return when a request will have so many tokens, for one that does not have them within the stretch."""
        match job.standing:
            case Standing.ANSWERING:
                return self._moment(job.since + tokens)
            case Standing.FILLING:
                return self._moment(self.step + tokens - job.had) + self.pace.prompt(
                    self.left, job.uncomputed - self.left
                )
            case _:
                ahead = list(islice(self.waiting, self._ahead(job)))
                prompts = sum(self.pace.prompt(each.uncomputed) for each in (*ahead, job))
                prompts += self.pace.prompt(self.left, self.filling.uncomputed - self.left) if self.filling else 0.0
                return self._moment(self._start(ahead) + tokens - job.had) + prompts

    def _ahead(self, job: Job) -> int:
        return next(place for place, each in enumerate(self.waiting) if each is job)

    @property
    def _running(self) -> int:
        return len(self.ends) + (self.filling is not None)

    def _start(self, ahead: Sequence[Job]) -> int:
        """Return the step after which a request joins, by the places in the batch alone."""
        free = self.pace.batch - self._running
        seats = [*([self.step] * free), *(last for last, _ in self.ends)]
        if self.filling:
            seats.append(self.step + self.filling.wanted - self.filling.had)
        heapq.heapify(seats)
        for each in ahead:
            heapq.heapreplace(seats, seats[0] + each.wanted - each.had)
        return seats[0]

    def _moment(self, step: int) -> float:
        """Return when a step is done; steps get shorter as requests leave, unless others take their places.

        Those who wait are not known to have anything in the cache: with them it is early rather than late.
        """
        at, done, running, waiting = self.at, self.step, max(1, self._running), len(self.waiting)
        cached, answering = self.cached, len(self.ends)
        for last, held in self.ends:
            if last >= step:
                break
            at += self._steps(last - done, running, answering, cached)
            cached += answering * (last - done) - held
            answering -= 1
            done = last
            if waiting:
                waiting -= 1
            else:
                running = max(1, running - 1)
        return at + self._steps(step - done, running, answering, cached)

    def _steps(self, number: int, running: int, answering: int, cached: int) -> float:
        """Return how long some steps take, in which each request that answers has one token more than before."""
        grown = self.pace.cached * answering * (number * (number - 1) / 2)
        return number * self.pace.step(running, cached) + grown
