"""Counters and histograms of a simulated engine, for ``/metrics``."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..fleet import ServedWorkload
from .pages import Bounds, page_of

if TYPE_CHECKING:
    from .generation import Generation


HTTP_SECONDS = (0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60)
"""Bounds of prometheus-fastapi-instrumentator 7 (``metrics.default``). Single handlers have three of them."""


class BucketCounts:
    """Observations of one histogram.

    Args:
        bounds: Upper bounds of its buckets, without the last, which has none.
    """

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    def add(self, other: "BucketCounts") -> None:
        """Add the observations of another histogram with the same bounds."""
        self.counts = [own + others for own, others in zip(self.counts, other.counts, strict=True)]
        self.sum += other.sum

    def below(self, bound: float) -> int:
        """Return the number of values up to one of the bounds."""
        return sum(self.counts[: self.bounds.index(bound) + 1])


class HttpCounts:
    """Counts of an HTTP framework for one path and method.

    Attributes:
        number: Number of requests.
        seconds: Their durations, in simulated seconds.
        received: ``Content-Length`` of the requests, summed.
        sent: ``Content-Length`` of the responses, summed; streams have none.
    """

    __slots__ = ("number", "received", "seconds", "sent")

    def __init__(self) -> None:
        self.number = self.received = self.sent = 0
        self.seconds = BucketCounts(HTTP_SECONDS)


class EngineMeter:
    """Counters and histograms of one engine since its start.

    Args:
        bounds: Bounds of the engine's histograms by the value that they observe (``pages.yaml``).

    Attributes:
        counts: Counters by value (``pages.yaml``).
        seconds: Simulated seconds spent on prompts (``prompt``) and on answers (``answer``).
        finished: Completed and aborted answers by finish reason.
        statuses: HTTP requests by handler, method and first digit of the status.
        http: Counts of the HTTP framework, by handler and method.
        histograms: By the value that they observe.
        failures: Rejected requests by reason (``te_request_failure``).
        decodes: Approximate number of steps that generated a token of each running answer.
        longest: Tokens of the longest request with its answer.
        open: Answers that are not over.
        submitted: Answers submitted to the replica.
    """

    def __init__(self, bounds: Mapping[str, Bounds]) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.finished: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.statuses: Counter[tuple[str, str, str]] = Counter()
        self.http: defaultdict[tuple[str, str], HttpCounts] = defaultdict(HttpCounts)
        self.histograms = {value: BucketCounts(limits) for value, limits in bounds.items()}
        self.decodes = 0.0
        self.longest = 0
        self.submitted = 0
        self.open: set[Generation] = set()

    def observe(self, name: str, value: float, times: int = 1) -> None:
        """Observe a value, if the engine has a histogram of it."""
        histogram = self.histograms.get(name)
        if histogram is not None and times > 0:
            histogram.observe(value, times)

    def steps(self, number: int, answering: int, prompts: int, joined: int, seconds: float) -> None:
        """Record equal steps of the replica; only the first one computes prompt tokens.

        Args:
            number: Number of steps.
            answering: Requests that got a token in each step.
            prompts: Prompt tokens.
            joined: Requests that joined the batch.
            seconds: Duration of each step.
        """
        if prompts or joined:
            self.counts["prefills"] += 1
            self.observe("prefill_batch", seconds)
            self.observe("prefill_forward", seconds)
            self.observe("prefill_rest", 0.0)
            self.observe("prefill_filter", 0.0)
            self.observe("iteration_tokens", prompts + answering)
            if joined:
                self.observe("joined", joined)
                self.observe("joined_tokens", prompts)
            number -= 1
        if number > 0 and answering:
            self.counts["decode_steps"] += number
            self.observe("decode_batch", seconds, number)
            self.observe("decode_forward", seconds, number)
            self.observe("decode_rest", 0.0, number)
            self.observe("decode_filter", 0.0, number)
            self.observe("skipped_tokens", 0.0, number * answering)
            self.observe("iteration_tokens", answering, number)
        self.counts["computed_prompts"] += prompts


def meter_of(workload: ServedWorkload) -> EngineMeter:
    """Return the meter of a new engine."""
    return EngineMeter(page_of(workload.simulated_server, workload.version, workload.context).bounds)
