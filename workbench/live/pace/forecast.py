"""When a request will have its tokens, if no other one comes."""

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from ..served import TokenPace
from .jobs import Job, Standing


@dataclass(frozen=True, slots=True)
class Forecast:
    """A replica at the end of its present stretch of equal steps.

    Attributes:
        at: When that is.
        step: The number of the last step of the stretch.
        lasts: Last steps of the requests that get tokens, sorted.
        filling: The request whose prompt is computed in parts.
        left: Tokens of its prompt after the stretch.
        waiting: Requests that wait, in order.
    """

    pace: TokenPace
    at: float
    step: int
    lasts: Sequence[int]
    filling: Job | None
    left: int
    waiting: Collection[Job]

    def due(self, job: Job, tokens: int) -> float:
        """Return when a request will have so many tokens, for one that does not have them within the stretch."""
        match job.standing:
            case Standing.ANSWERING:
                return self._moment(job.since + tokens)
            case Standing.FILLING:
                return self._moment(self.step + tokens - job.had) + self.left * self.pace.prefill
            case _:
                ahead = list(islice(self.waiting, self._ahead(job)))
                prompts = self.left + job.uncomputed + sum(each.uncomputed for each in ahead)
                return self._moment(self._start(ahead) + tokens - job.had) + prompts * self.pace.prefill

    def _ahead(self, job: Job) -> int:
        return next(place for place, each in enumerate(self.waiting) if each is job)

    @property
    def _running(self) -> int:
        return len(self.lasts) + (self.filling is not None)

    def _start(self, ahead: Sequence[Job]) -> int:
        """Return the step after which a request joins, by the places in the batch alone."""
        free = self.pace.batch - self._running
        seats = [*([self.step] * free), *self.lasts]
        if self.filling:
            seats.append(self.step + self.filling.wanted - self.filling.had)
        heapq.heapify(seats)
        for each in ahead:
            heapq.heapreplace(seats, seats[0] + each.wanted - each.had)
        return seats[0]

    def _moment(self, step: int) -> float:
        """Return when a step is done; steps get shorter as requests leave, unless others take their places."""
        at, done, running, waiting = self.at, self.step, max(1, self._running), len(self.waiting)
        for last in self.lasts:
            if last >= step:
                break
            at += (last - done) * (self.pace.alpha + self.pace.beta * running)
            done = last
            if waiting:
                waiting -= 1
            else:
                running = max(1, running - 1)
        return at + (step - done) * (self.pace.alpha + self.pace.beta * running)
