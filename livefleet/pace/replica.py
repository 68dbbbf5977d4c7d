"""Simulate the batch and the queue of an inference engine, step by step."""

import heapq
import itertools
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import takewhile
from math import inf, sqrt

from ..fleet import TokenPace


class JobState(Enum):
    """State of a request."""

    WAITING = auto()
    """In the queue."""
    FILLING = auto()
    """In the batch; a part of its prompt is not computed yet."""
    ANSWERING = auto()
    """In the batch; each step generates a token of its answer."""
    OVER = auto()
    """Completed or cancelled."""


@dataclass(slots=True, eq=False)
class Job:
    """One request in a replica. Times are in the replica's seconds, None while they are unknown.

    Attributes:
        prompt: Tokens of the prompt.
        wanted: Tokens of the answer.
        arrived: Time of its submission.
        started: Time when it left the queue for the first time.
        first: Time of its first token.
        ended: Time of its last token.
    """

    prompt: int
    wanted: int
    arrived: float
    started: float | None = None
    first: float | None = None
    ended: float | None = None
    state: JobState = field(default=JobState.WAITING, init=False)
    had: int = field(default=0, init=False, repr=False)
    """Tokens of its answer when it last joined or left the batch."""
    number: int = field(default=0, init=False, repr=False)
    """Order in which requests joined the batch."""
    since: int = field(default=0, init=False, repr=False)
    """The step before that of its first token, if no preemption had interrupted its answer."""

    @property
    def last(self) -> int:
        """The step in which it gets its last token, while it is answering."""
        return self.since + self.wanted

    @property
    def uncomputed(self) -> int:
        """Tokens to compute before it gets its next one, while it is waiting."""
        # A preempted request computes the beginning of its answer again.
        return self.prompt + self.had


class QueueFullError(Exception):
    """The queue of the engine is full."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A replica at the end of its current stretch, during which no request joins or leaves the batch.

    Attributes:
        at: Time of the end.
        step: Number of the last step of the stretch.
        ends: Last step of each answering request, and its tokens in the cache then, sorted.
        cached: Tokens of all answering requests in the cache.
        filling: The request whose prompt is computed in chunks.
        left: Tokens of its prompt that remain after the stretch.
        waiting: The queue, in order.
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
        """Return when a request will have a number of tokens, for a number that it reaches after the stretch."""
        match job.state:
            case JobState.ANSWERING:
                return self._moment(job.since + tokens)
            case JobState.FILLING:
                return self._moment(self.step + tokens - job.had) + self.pace.prompt(
                    self.left, job.uncomputed - self.left
                )
            case _:
                ahead = list(takewhile(lambda other: other is not job, self.waiting))
                prompts = sum(self.pace.prompt(queued.uncomputed) for queued in (*ahead, job))
                prompts += self.pace.prompt(self.left, self.filling.uncomputed - self.left) if self.filling else 0.0
                return self._moment(self._joins_after(ahead) + tokens - job.had) + prompts

    @property
    def _running(self) -> int:
        return len(self.ends) + (self.filling is not None)

    def _joins_after(self, ahead: Sequence[Job]) -> int:
        """Return the step after which the request behind ``ahead`` joins the batch, ignoring the cache."""
        # For each place in the batch, the step after which it is free.
        free_after = [*([self.step] * (self.pace.batch - self._running)), *(last for last, _ in self.ends)]
        if self.filling:
            free_after.append(self.step + self.filling.wanted - self.filling.had)
        heapq.heapify(free_after)
        for job in ahead:
            heapq.heapreplace(free_after, free_after[0] + job.wanted - job.had)
        return free_after[0]

    def _moment(self, step: int) -> float:
        """Return when a step is done; steps get shorter as requests leave, unless others take their places."""
        # The cache tokens of waiting requests are left out, so that the estimate is early rather than late.
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
        """Return the seconds of consecutive steps, each with one more token in the cache per answering request."""
        grown = self.pace.cached * answering * (number * (number - 1) / 2)
        return number * self.pace.step(running, cached) + grown


Watcher = Callable[[int, int, int, int, float], None]
"""Receives completed steps: their number, the requests that got a token in each, the prompt tokens and the requests
that joined in the first one, and the mean duration in seconds."""
_RECHECK_SHARE = 0.75
"""Share of an uncertain time after which callers check again: answers of requests that join may be short."""


class EngineReplica:
    """The requests of one engine. Every call first advances it to ``now``, which must not decrease.

    Args:
        pace: Its speed and limits.
        queue: Maximum requests that wait in addition to a full batch; None for no limit.
        now: Time of its start.

    Raises:
        ValueError: a step would take no time, or the batch has no room for a request.
    """

    def __init__(self, pace: TokenPace, queue: int | None, now: float) -> None:
        parts = (
            *(pace.alpha, pace.beta, pace.prefill, pace.cached, pace.attention, pace.experts),
            *(pace.eager, pace.latency, pace.tokenizing),
        )
        if not (0 < pace.step(1) < inf and min(parts) >= 0 and 0 <= pace.untouched <= 1):
            raise ValueError(f"alpha {pace.alpha:g}, beta {pace.beta:g}, prefill {pace.prefill:g}: invalid pace")
        if pace.batch < 1 or pace.chunk < 1:
            raise ValueError(f"batch {pace.batch}, chunk {pace.chunk}: must be at least 1")
        self.pace = pace
        self.watcher: Watcher | None = None
        self.preemptions = 0
        self.completed: list[Job] | None = None
        """Receives the requests that complete, in order; None if the caller does not need them."""
        self._queue = queue
        self._now = now
        self._arriving: list[tuple[float, int, Job]] = []  # when each is in the queue, order and request: a heap
        self._arrivals = itertools.count()
        self._waiting: deque[Job] = deque()
        self._filling: Job | None = None
        self._left = 0  # tokens of its prompt that remain after the current step
        self._answering: list[tuple[int, int, Job]] = []  # last step, number and request, sorted
        self._fresh: list[Job] = []  # get their first token in the first step of the stretch
        self._joined = 0
        # The stretch: consecutive steps since ``_at`` with the same batch, none while the replica is idle. The first
        # one takes ``_first`` seconds, and each takes ``_more`` longer than the one before, as the cache grows.
        self._at, self._first, self._more, self._steps = now, 0.0, 0.0, 0
        self._step = 0  # steps before it
        self._cached = 0  # tokens in the cache at its beginning
        self._computed = self._admitted = 0  # prompt tokens and requests of its first step
        self._prompts = 0.0  # seconds that these prompt tokens take
        self._room = inf if pace.cache_tokens is None else pace.cache_tokens

    def submit(self, now: float, prompt: int, wanted: int) -> Job:
        """Add a request to the queue.

        Args:
            now: The time.
            prompt: Tokens of the prompt, 0 or more.
            wanted: Tokens of the answer, 1 or more. The caller checks the model's context.

        Raises:
            QueueFullError: the queue is full.
            ValueError: a number is too small.
        """
        if prompt < 0 or wanted < 1:
            raise ValueError(f"prompt {prompt}, wanted {wanted}: must be at least 0 and 1 tokens")
        self.advance(now)
        if self._queue is not None and self.waiting + self.running >= self._queue + self.pace.batch:
            raise QueueFullError(f"{self.waiting} requests wait")
        job = Job(prompt, wanted, self._now)
        if delay := self.pace.before_queue(prompt):
            heapq.heappush(self._arriving, (self._now + delay, next(self._arrivals), job))
        else:
            self._enqueue(job)
        return job

    def _enqueue(self, job: Job) -> None:
        self._waiting.append(job)
        if not self._steps:
            self._at = self._now
            self._begin()
        elif len(self._waiting) == 1 and self.running < self.pace.batch:
            self._stop_after_step()

    def cancel(self, now: float, job: Job) -> None:
        """Cancel a request whose client disconnected, unless it is over.

        Its place in the batch is free after the current step, whose duration does not change.
        """
        self.advance(now)
        match job.state:
            case JobState.OVER:
                return
            case JobState.WAITING if job in self._waiting:
                self._waiting.remove(job)
            case JobState.WAITING:
                self._arriving = [entry for entry in self._arriving if entry[2] is not job]
                heapq.heapify(self._arriving)
            case JobState.FILLING | JobState.ANSWERING:
                self._settle(self._done)
                self._remove(job)
        job.state = JobState.OVER
        self._stop_after_step()

    def advance(self, now: float) -> None:
        """Advance the replica to a time."""
        while self._arriving and self._arriving[0][0] <= now:
            at, _, job = heapq.heappop(self._arriving)
            self._advance(at)
            self._enqueue(job)
        self._advance(now)

    def _advance(self, now: float) -> None:
        self._now = max(self._now, now)
        while self._steps and self._moment(self._steps) <= self._now:
            self._settle(self._steps)
            ended = bisect_left(self._answering, (self._step + 1,))
            for _, _, job in self._answering[:ended]:
                job.state, job.had, job.ended = JobState.OVER, job.wanted, self._at
                self._cached -= job.prompt + job.wanted
                if self.completed is not None:
                    self.completed.append(job)
            del self._answering[:ended]
            self._begin()
        self._record_first_tokens()

    def settle(self, now: float) -> None:
        """Advance the replica to a time, and report all steps completed by then to the watcher."""
        self.advance(now)
        if self._steps:
            self._settle(self._done)

    def produced(self, job: Job) -> int:
        """Return how many tokens of its answer a request has, as of the last ``now``."""
        return self._step + self._done - job.since if job.state is JobState.ANSWERING else job.had

    def due(self, job: Job, tokens: int) -> float:
        """Return when a request will have a number of tokens, if no request is added or cancelled before.

        The time is exact for a request in the batch while no other one waits, has prompt tokens left or is preempted
        before; otherwise it is an estimate, usually early and at most a quarter of the time too late: call again
        then. It is the current time for tokens that the request has already, and for a request that is over.
        """
        if job.state is JobState.OVER or tokens <= self.produced(job):
            return self._now
        tokens = min(tokens, job.wanted)
        if job.state is JobState.ANSWERING and job.since + tokens <= self._step + self._steps:
            return self._moment(job.since + tokens - self._step)
        certain = self._moment(self._steps)
        ends = [(last, other.prompt + other.wanted) for last, _, other in self._answering]
        cached = self._read + self._steps * len(self._answering)
        arriving = [(at, other) for at, _, other in sorted(self._arriving)]
        forecast = Forecast(
            pace=self.pace,
            at=certain,
            step=self._step + self._steps,
            ends=ends,
            cached=cached,
            filling=self._filling,
            left=self._left,
            waiting=[*self._waiting, *(other for _, other in arriving)],
        )
        estimate = forecast.due(job, tokens)
        if arriving:
            # Not before it is in the queue, and not as late as a batch without those that arrive before.
            ready = next((at for at, other in arriving if other is job), self._now)
            estimate = max(ready, certain + (estimate - certain) * _RECHECK_SHARE)
        elif self._waiting or self._filling:
            estimate = certain + (estimate - certain) * _RECHECK_SHARE
        return max(self._now, estimate)

    @property
    def changes_at(self) -> float:
        """When its batch changes next, if no request is added or cancelled before; infinity while it is idle."""
        step = self._moment(self._steps) if self._steps else inf
        return min(step, self._arriving[0][0]) if self._arriving else step

    @property
    def waiting(self) -> int:
        """Requests in the queue, or on their way to it."""
        return len(self._waiting) + len(self._arriving)

    @property
    def running(self) -> int:
        """Requests in the batch."""
        return len(self._answering) + (self._filling is not None)

    @property
    def throughput(self) -> float:
        """Tokens per second of all answers in the current step."""
        answering = len(self._answering)
        return answering / self.pace.step(self.running, self._read + self._done * answering) if answering else 0.0

    @property
    def cached(self) -> int:
        """Tokens in the cache."""
        return self._cached + self._done * len(self._answering)

    @property
    def _read(self) -> int:
        """Tokens of answering requests in the cache, which a step reads."""
        return self._cached - (self._filling.uncomputed if self._filling else 0)

    def _moment(self, steps: int) -> float:
        """Return when a number of steps of the stretch is done."""
        return self._at + steps * self._first + self._more * (steps * (steps - 1) / 2)

    @property
    def _done(self) -> int:
        """Completed steps of the stretch."""
        if not self._steps:
            return 0
        passed = self._now - self._at
        if self._more:
            # The inverse of ``_moment``, a quadratic, in the form that stays accurate when ``_more`` is tiny.
            half = self._first - self._more / 2
            exact = 2 * passed / (half + sqrt(half * half + 2 * self._more * passed))
        else:
            exact = passed / self._first
        steps = int(min(exact, self._steps))
        # Correct the rounding: ``_moment`` decides, whose times ``due`` returns.
        if self._moment(steps) > self._now:
            return steps - 1
        return steps + (steps < self._steps and self._moment(steps + 1) <= self._now)

    def _settle(self, done: int) -> None:
        """Report completed steps of the stretch to the watcher, and begin the stretch after them."""
        self._record_first_tokens()
        if done and self.watcher:
            mean = (self._moment(done) - self._at) / done
            self.watcher(done, len(self._answering), self._computed, self._admitted, mean)
        if done:
            self._computed = self._admitted = 0
        self._at = self._moment(done)
        self._first += done * self._more
        self._cached += done * len(self._answering)
        self._step += done
        self._steps -= done

    def _stop_after_step(self) -> None:
        """End the stretch with the current step, because the batch changes."""
        if self._steps:
            self._steps = min(self._steps, self._done + 1)

    def _record_first_tokens(self) -> None:
        if self._fresh and (first := self._moment(1)) <= self._now:
            for job in self._fresh:
                job.first = first
            self._fresh.clear()

    def _begin(self) -> None:
        """Begin the next stretch, if there are requests."""
        while self.running > 1 and self._room - self._cached < len(self._answering):
            self._preempt()
        self._prompts = 0.0
        computed = self._fill(self._filling, self.pace.chunk) if self._filling else 0
        self._admitted = 0
        while self._waiting and self._fits(self._waiting[0]) and computed < self.pace.chunk:
            computed += self._admit(self._waiting.popleft(), self.pace.chunk - computed)
            self._admitted += 1
        self._computed = computed
        self._first = self.pace.step(self.running, self._read, computed) + self._prompts
        self._more = self.pace.cached * len(self._answering)
        if computed or self._filling or not self._answering:
            self._steps = min(1, self.running)
            return
        # Until the first answer ends, or the cache is full.
        self._steps = self._answering[0][0] - self._step
        if self.running > 1 and self._room != inf:
            self._steps = min(self._steps, int(self._room - self._cached) // self.running)

    def _fits(self, job: Job) -> bool:
        """Tell whether the batch and the cache have room for a request."""
        if not self.running:
            return True  # a request that is alone always runs, even if it exceeds the cache
        tokens = self._cached + job.uncomputed + len(self._answering) + 1
        return self.running < self.pace.batch and tokens <= self._room

    def _admit(self, job: Job, budget: int) -> int:
        """Add a request to the batch; return how many tokens of its prompt this step computes."""
        if job.started is None:
            job.started = self._at
        self._joined += 1
        job.number = self._joined
        job.state = JobState.FILLING
        self._cached += job.uncomputed
        self._left = job.uncomputed if self.pace.prefill else 0
        return self._fill(job, budget)

    def _fill(self, job: Job, budget: int) -> int:
        """Compute up to ``budget`` tokens of a prompt; return how many."""
        computed = min(self._left, budget)
        self._prompts += self.pace.prompt(computed, job.uncomputed - self._left) if computed else 0.0
        self._left -= computed
        self._filling = job if self._left else None
        if not self._left:
            job.state = JobState.ANSWERING
            job.since = self._step - job.had
            insort(self._answering, (job.last, job.number, job))
            if not job.had:
                self._fresh.append(job)
        return computed

    def _preempt(self) -> None:
        """Move the request that joined last to the front of the queue."""
        self.preemptions += 1
        job = self._filling or max(self._answering, key=lambda entry: entry[1])[2]
        self._remove(job)
        job.state = JobState.WAITING
        self._waiting.appendleft(job)

    def _remove(self, job: Job) -> None:
        """Remove a request from the batch, at the beginning of a stretch."""
        self._cached -= job.prompt + self.produced(job)
        if job is self._filling:
            self._filling = None
            return
        job.had = self.produced(job)
        del self._answering[bisect_left(self._answering, (job.last, job.number))]
        if job in self._fresh:
            self._fresh.remove(job)
