"""Requests in simulated time: their answers are submitted to the replica and awaited.

No code runs per token. A request sleeps until its next token is due, and then sends all tokens that exist: several if
they are generated faster than every ten real milliseconds, or if the machine is busy.
"""

import math
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from aiohttp import web

from ..pace.replica import Job, QueueFullError
from .texts import PlannedText

if TYPE_CHECKING:
    from ..pods.pod import LivePod

_WRITE_INTERVAL = 0.01
"""Minimum real seconds between two writes to a stream."""
_FIRST_CHECK = 0.05
"""Real seconds after which a request at the end of a long queue first measures how fast the queue moves."""
_SHORTEST_SLEEP = 0.001
"""Real seconds: due times are estimates, and the next one may be in the past."""


class ClientGoneError(Exception):
    """The client disconnected."""


class Generation:
    """One answer that the replica generates.

    Raises:
        QueueFullError: the queue is full, or the engine's limit of requests (``in_flight``) is reached.

    Attributes:
        model: Name of the model in the request.
        produced: Generated tokens.
        taken: Tokens sent to the client.
        over: Whether it is complete or aborted.
        aborted: Whether it was aborted.
    """

    __slots__ = (
        "_initially_ahead",
        "_last",
        "_number",
        "_pod",
        "aborted",
        "job",
        "model",
        "over",
        "planned",
        "produced",
        "prompt",
        "taken",
    )

    def __init__(self, pod: "LivePod", prompt: int, planned: PlannedText, model: str) -> None:
        self._pod, self.prompt, self.planned, self.model = pod, prompt, planned, model
        limit, replica = pod.workload.in_flight, pod.replica
        if limit is not None and replica.waiting + replica.running >= limit:
            raise QueueFullError
        self.job: Job = replica.submit(pod.clock(), prompt, planned.tokens)
        pod.meter.submitted += 1
        self._number = pod.meter.submitted
        self._initially_ahead = self._ahead
        self._last = self.job.arrived
        self.produced = self.taken = 0
        self.over = self.aborted = False

    def due(self, now: float, tokens: int) -> float:
        """Return when to check for a number of tokens.

        A forecast is expensive if many requests wait. A request at the end of a long queue therefore waits for half
        of the time in which the queue before it empties at its current rate, or for the minimum number of steps.
        """
        pace, ahead = self._pod.pace, self._ahead
        if self.job.started is not None or ahead < pace.batch:
            return self._pod.replica.due(self.job, tokens)
        left_queue, elapsed = self._initially_ahead - ahead, now - self.job.arrived
        estimate = ahead * elapsed / left_queue / 2 if left_queue > 0 else _FIRST_CHECK * self._pod.clock.speed
        return now + max(estimate, ahead // pace.batch * pace.step(1))

    @property
    def _ahead(self) -> int:
        """Approximate number of requests ahead in the queue: it counts every later request as still waiting."""
        return max(self._pod.replica.waiting - 1 - (self._pod.meter.submitted - self._number), 0)

    def settle(self, now: float) -> None:
        """Count the tokens that the replica, which must be up to date, has generated."""
        if self.over:
            return
        pod, job, meter = self._pod, self.job, self._pod.meter
        until = now if job.ended is None else job.ended
        new = pod.replica.produced(job) - self.produced
        if new > 0:
            intervals = new
            if not self.produced:
                first = job.arrived if job.first is None else job.first
                started = first if job.started is None else job.started
                meter.counts["prompt_tokens"] += self.prompt
                meter.seconds["prompt"] += first - started
                meter.observe("queue_time", started - job.arrived)
                meter.observe("ttft", first - job.arrived)
                self._last = first
                intervals -= 1  # none precedes the first token
            if intervals:
                elapsed = max(until - self._last, 0.0)
                meter.observe("inter_token", elapsed / intervals, intervals)
                meter.seconds["answer"] += elapsed
                self._last = until
            meter.counts["generation_tokens"] += new
            # A step generates one token of every answer in the batch.
            meter.decodes += new / max(pod.replica.running, 1)
            pod.tokens += new
            self.produced += new
        if job.ended is not None:
            self.over = True
            self._observe_end(job.ended)

    def abort(self, now: float) -> None:
        """Abort it, unless it is over."""
        if not self.over:
            self.over = self.aborted = True
            self._pod.replica.cancel(now, self.job)
            self._pod.meter.finished["abort"] += 1

    def take(self) -> range:
        """Return the indices of the tokens to send to the client."""
        new = range(self.taken, self.produced)
        self.taken = self.produced
        return new

    def _observe_end(self, ended: float) -> None:
        job, meter, tokens = self.job, self._pod.meter, self.planned.tokens
        first = ended if job.first is None else job.first
        started = first if job.started is None else job.started
        meter.finished[self.planned.finish] += 1
        meter.counts["structured"] += self.planned.structured
        meter.longest = max(meter.longest, self.prompt + tokens)
        for name, value in (
            ("latency", ended - job.arrived),
            ("inference_time", ended - started),
            ("prefill_time", first - started),
            ("decode_time", ended - first),
            ("mean_token_time", (ended - started) / max(tokens, 1)),
            ("validation_time", 0.0),
            ("prompt_length", self.prompt),
            ("answer_length", tokens),
            ("longest_answer", tokens),
            ("token_time", (ended - first) / max(tokens - 1, 1)),
            ("most_tokens", self.planned.max_tokens),
            ("computed_tokens", self.prompt),
        ):
            meter.observe(name, value)


class PodRequest:
    """A request to a pod with one or more answers. Leaving the context aborts those that are not over.

    Args:
        pod: The pod.
        request: The HTTP request, whose client may disconnect.
        answers: Prompt tokens and text of each answer.
        model: Name of the model in the request.

    Raises:
        QueueFullError: the queue is full, or the engine's limit of requests (``in_flight``) is reached.
    """

    def __init__(
        self, pod: "LivePod", request: web.Request, answers: Sequence[tuple[int, PlannedText]], model: str
    ) -> None:
        self._pod, self._request = pod, request
        self.generations: list[Generation] = []
        self._written = -math.inf  # the first token is sent at once
        pod.replica.advance(pod.clock())
        try:
            for prompt, planned in answers:
                self.generations.append(Generation(pod, prompt, planned, model))
        except BaseException:
            self._leave()
            raise
        pod.meter.counts["arrived"] += len(self.generations)
        pod.meter.observe("answers_asked", len(self.generations))
        pod.meter.open.update(self.generations)

    def __enter__(self) -> "PodRequest":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        if any(generation.aborted for generation in self.generations):
            self._pod.refused += 1
        else:
            self._pod.answered += 1
            jobs = [generation.job for generation in self.generations]
            latencies = [job.ended - job.arrived for job in jobs if job.ended is not None]
            self._pod.meter.observe("request_time", max(latencies, default=0.0))

    @property
    def over(self) -> bool:
        """Whether all answers are complete."""
        return all(generation.over for generation in self.generations)

    async def more(self) -> None:
        """Wait until there are tokens to send, or all answers are complete.

        Raises:
            ClientGoneError: the client disconnected.
        """
        clock = self._pod.clock
        earliest = self._written + _WRITE_INTERVAL * clock.speed
        while not self._settle() or (clock() < earliest and not self.over):
            now = clock()
            due = min(generation.due(now, generation.produced + 1) for generation in self._running)
            await self._sleep_until(max(due, earliest))
        self._written = clock()

    async def all(self) -> None:
        """Wait until all answers are complete.

        Raises:
            ClientGoneError: the client disconnected.
        """
        self._settle()
        while not self.over:
            now = self._pod.clock()
            await self._sleep_until(
                max(generation.due(now, generation.planned.tokens) for generation in self._running)
            )
            self._settle()

    @property
    def _running(self) -> list[Generation]:
        return [generation for generation in self.generations if not generation.over]

    def _settle(self) -> bool:
        """Advance the replica; return whether there are tokens to send, or all answers are complete."""
        now = self._pod.clock()
        self._pod.replica.advance(now)
        for generation in self.generations:
            generation.settle(now)
        return self.over or any(generation.produced > generation.taken for generation in self.generations)

    async def _sleep_until(self, time: float) -> None:
        clock = self._pod.clock
        await clock.sleep(max(time - clock(), _SHORTEST_SLEEP * clock.speed))
        transport = self._request.transport
        if transport is None or transport.is_closing():
            raise ClientGoneError

    def _leave(self) -> None:
        now = self._pod.clock()
        self._pod.replica.advance(now)
        for generation in self.generations:
            generation.settle(now)
            generation.abort(now)
        self._pod.meter.open.difference_update(self.generations)


def settle_all(pod: "LivePod") -> None:
    """Bring the counters of a pod up to date."""
    now = pod.clock()
    pod.replica.settle(now)
    for generation in pod.meter.open:
        generation.settle(now)
