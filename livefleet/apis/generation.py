"""Requests in simulated time: their answers are submitted to the replica and awaited.

No code runs per token. A request sleeps until its next token is due, and then takes all tokens that exist: several if
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

_TOGETHER = 0.01
"""Minimum real seconds between two writes to a stream."""
_FIRST_LOOK = 0.05
"""Real seconds after which a request far back in the queue first checks how fast the queue moves."""
_SHORTEST = 0.001
"""Minimum real seconds of a sleep: due times are estimates and may move back a little."""


class ClientGoneError(Exception):
    """The client disconnected."""


class Generation:
    """One answer that the replica generates.

    Attributes:
        model: Name of the model in the request.
        produced: Generated tokens.
        taken: Tokens sent to the client.
        over: Whether it is complete or aborted.
        aborted: Whether it was aborted.
    """

    __slots__ = (
        "_before",
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
        self.job: Job = pod.replica.submit(pod.clock(), prompt, planned.tokens)
        pod.meter.submitted += 1
        self._number = pod.meter.submitted
        self._before = self._ahead
        self._last = self.job.arrived
        self.produced = self.taken = 0
        self.over = self.aborted = False

    def due(self, now: float, tokens: int) -> float:
        """Return when to check for a number of tokens.

        A forecast is expensive if many requests wait. A request far back in the queue therefore waits for half of the
        time in which the queue before it empties at its current rate, or for the minimum number of steps.
        """
        pace, ahead = self._pod.pace, self._ahead
        if self.job.started is not None or ahead < pace.batch:
            return self._pod.replica.due(self.job, tokens)
        gone, passed = self._before - ahead, now - self.job.arrived
        guess = ahead * passed / gone / 2 if gone > 0 else _FIRST_LOOK * self._pod.clock.speed
        return now + max(guess, ahead // pace.batch * pace.step(1))

    @property
    def _ahead(self) -> int:
        """Approximate number of requests ahead in the queue: some behind it may have left."""
        return max(self._pod.replica.waiting - 1 - (self._pod.meter.submitted - self._number), 0)

    def settle(self, now: float) -> None:
        """Count the tokens that the replica, which must be up to date, has generated."""
        if self.over:
            return
        produced = self._pod.replica.produced(self.job)
        if produced > self.produced:
            self._count(produced, now if self.job.ended is None else self.job.ended)
        if self.job.ended is not None:
            self.over = True
            self._count_end(self.job.ended)

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

    def _count(self, produced: int, now: float) -> None:
        meter, new = self._pod.meter, produced - self.produced
        if not self.produced:
            self._count_first()
            between = new - 1
        else:
            between = new
        if between > 0:
            meter.observe("inter_token", max(now - self._last, 0.0) / between, between)
            meter.seconds["answer"] += max(now - self._last, 0.0)
            self._last = now
        meter.counts["generation_tokens"] += new
        # A step makes one token of every answer in the batch.
        meter.decodes += new / max(self._pod.replica.running, 1)
        self._pod.tokens += new
        self.produced = produced

    def _count_first(self) -> None:
        job, meter = self.job, self._pod.meter
        first = job.arrived if job.first is None else job.first
        started = first if job.started is None else job.started
        meter.counts["prompt_tokens"] += self.prompt
        meter.seconds["prompt"] += first - started
        meter.observe("queue_time", started - job.arrived)
        meter.observe("ttft", first - job.arrived)
        self._last = first

    def _count_end(self, ended: float) -> None:
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
            ("most_tokens", self.planned.most),
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
        QueueFullError: the queue or the batch is full.
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
                _check_room(pod)
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
        if any(each.aborted for each in self.generations):
            self._pod.refused += 1
        else:
            self._pod.answered += 1
            ends = [each.job.ended - each.job.arrived for each in self.generations if each.job.ended is not None]
            self._pod.meter.observe("request_time", max(ends, default=0.0))

    @property
    def over(self) -> bool:
        """Whether all answers are complete."""
        return all(each.over for each in self.generations)

    async def more(self) -> None:
        """Wait until there are tokens to send, or all answers are complete.

        Raises:
            ClientGoneError: the client disconnected.
        """
        clock = self._pod.clock
        earliest = self._written + _TOGETHER * clock.speed
        while not self._settled() or (clock() < earliest and not self.over):
            open_ones = [each for each in self.generations if not each.over]
            now = clock()
            await self._sleep(max(min(each.due(now, each.produced + 1) for each in open_ones), earliest))
        self._written = clock()

    async def all(self) -> None:
        """Wait until all answers are complete.

        Raises:
            ClientGoneError: the client disconnected.
        """
        self._settled()
        while not self.over:
            open_ones = [each for each in self.generations if not each.over]
            now = self._pod.clock()
            await self._sleep(max(each.due(now, each.planned.tokens) for each in open_ones))
            self._settled()

    def _settled(self) -> bool:
        """Advance the replica, and tell whether there is anything to send."""
        now = self._pod.clock()
        self._pod.replica.advance(now)
        for each in self.generations:
            each.settle(now)
        return self.over or any(each.produced > each.taken for each in self.generations)

    async def _sleep(self, moment: float) -> None:
        clock = self._pod.clock
        await clock.sleep(max(moment - clock(), _SHORTEST * clock.speed))
        transport = self._request.transport
        if transport is None or transport.is_closing():
            raise ClientGoneError

    def _leave(self) -> None:
        now = self._pod.clock()
        self._pod.replica.advance(now)
        for each in self.generations:
            each.settle(now)
            each.abort(now)
        self._pod.meter.open.difference_update(self.generations)


def _check_room(pod: "LivePod") -> None:
    """Reject requests beyond the engine's limit of queued and running ones (``in_flight``)."""
    most = pod.workload.in_flight
    if most is not None and pod.replica.waiting + pod.replica.running >= most:
        raise QueueFullError


def settle_all(pod: "LivePod") -> None:
    """Bring the counters of a pod up to date."""
    now = pod.clock()
    pod.replica.settle(now)
    for each in pod.meter.open:
        each.settle(now)
