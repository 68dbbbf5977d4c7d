"""An engine token by token: what the replica does by stretches, written as plainly as can be."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from livefleet.fleet import TokenPace


@dataclass(eq=False)
class Request:
    """A request, and what became of it."""

    at: float
    prompt: int
    wanted: int
    cancelled: float | None = None
    tokens: list[float] = field(default_factory=list)
    started: float | None = None
    left: int = 0
    over: bool = False


class PlainEngine:
    """Steps one after the other; after each of them all requests are looked at."""

    def __init__(self, pace: TokenPace) -> None:
        self.pace = pace
        self.batch: list[Request] = []  # in the order in which they joined
        self.waiting: deque[Request] = deque()
        self.most_cached = 0
        self.prompts = 0.0

    def run(self, requests: Sequence[Request]) -> None:
        """Serve requests, given in the order in which they come."""
        coming = deque(requests)
        now = 0.0
        while coming or self.waiting or self.batch:
            if not self.batch and not self.waiting:
                now = max(now, coming[0].at)
                self.waiting.append(coming.popleft())
            self.prompts = 0.0
            computed = self._join(now)
            read = sum(each.prompt + len(each.tokens) for each in self.batch if not each.left)
            touched = 1 - self.pace.untouched ** (len(self.batch) + computed)
            length = self.pace.alpha + self.pace.beta * len(self.batch) + self.prompts
            length += self.pace.cached * read + self.pace.experts * touched
            end = now + length
            while coming and coming[0].at < end:
                self.waiting.append(coming.popleft())
            self._cancel(end)
            for request in [each for each in self.batch if not each.left]:
                request.tokens.append(end)
                if len(request.tokens) == request.wanted:
                    self.batch.remove(request)
                    request.over = True
            now = end

    def _cancel(self, end: float) -> None:
        for request in [*self.batch, *self.waiting]:
            if request.cancelled is not None and request.cancelled < end:
                (self.batch if request in self.batch else self.waiting).remove(request)
                request.over = True

    def _cached(self) -> int:
        return sum(each.prompt + len(each.tokens) for each in self.batch)

    def _join(self, now: float) -> int:
        room = float("inf") if self.pace.cache_tokens is None else self.pace.cache_tokens
        while len(self.batch) > 1 and self._cached() + sum(not each.left for each in self.batch) > room:
            self.waiting.appendleft(self.batch.pop())
        budget = self.pace.chunk
        for request in self.batch:
            budget -= self._compute(request, budget)
        while self.waiting and budget and len(self.batch) < self.pace.batch:
            request = self.waiting[0]
            tokens = request.prompt + len(request.tokens)
            answering = sum(not each.left for each in self.batch)
            if self.batch and self._cached() + tokens + answering + 1 > room:
                break
            self.batch.append(self.waiting.popleft())
            request.started = now if request.started is None else request.started
            request.left = tokens if self.pace.prefill else 0
            budget -= self._compute(request, budget)
        if len(self.batch) > 1:
            self.most_cached = max(self.most_cached, self._cached() + sum(not each.left for each in self.batch))
        return self.pace.chunk - budget

    def _compute(self, request: Request, budget: int) -> int:
        computed = min(request.left, budget)
        before = request.prompt + len(request.tokens) - request.left
        # One token after the other: each looks at those before it, and at itself.
        for place in range(before, before + computed):
            self.prompts += self.pace.prefill + self.pace.attention * (place + 1)
        request.left -= computed
        return computed
