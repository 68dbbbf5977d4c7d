"""Results of a load: rates and percentiles, in total and over time."""

import bisect
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .outcomes import RequestOutcome, Tally

PERCENTILES = (50, 90, 95, 99)
LATE_SECONDS = 0.1
"""Delay after which a request counts as sent late, which is the fault of this machine, not of the server."""
_POINTS = 60
_LENGTHS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Mean and percentiles in seconds; None without values."""

    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Results of an interval.

    Attributes:
        start: Seconds after the start of the load.
        sent: Requests sent per second.
        answered: Requests answered per second.
        failed: Requests failed per second.
        errors: Number of failures by cause.
        tokens: Output tokens per second.
        in_flight: Unfinished requests at its end.
    """

    start: float
    sent: float
    answered: float
    failed: float
    errors: dict[str, int]
    tokens: float
    in_flight: int
    ttft: Percentiles
    itl: Percentiles


@dataclass(frozen=True, slots=True)
class EngineFigures:
    """Times of answered requests by the clock of simulated engines, in simulated seconds.

    Attributes:
        answered: Number of requests with known times.
        itl: Mean time between tokens of each request.
    """

    answered: int
    ttft: Percentiles
    itl: Percentiles
    took: Percentiles


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """Results of a load.

    Attributes:
        seconds: From the start to the end of the last request.
        requests: Requests sent.
        answered: Requests answered.
        errors: Number of failures by cause.
        request_rate: Answers per second.
        token_rate: Output tokens per second.
        input_tokens: Count of the server; None if it sends none.
        ttft: Time to the first token.
        itl: Time between chunks of an answer.
        took: Time to the end of an answer.
        late: Requests that were sent late.
        step: Seconds per interval.
        engine: Times of simulated engines; None for other servers.
    """

    seconds: float
    requests: int
    answered: int
    errors: dict[str, int]
    request_rate: float
    token_rate: float
    input_tokens: int | None
    output_tokens: int
    ttft: Percentiles
    itl: Percentiles
    took: Percentiles
    most_in_flight: int
    late: int
    step: float
    moments: tuple[Stretch, ...]
    engine: EngineFigures | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summary(tally: Tally) -> LoadSummary:
    outcomes = sorted(tally.outcomes, key=lambda each: each.sent)
    good = [each for each in outcomes if not each.error]
    seconds = max((each.ended for each in outcomes), default=0.0)
    inputs = [each.input_tokens for each in good if each.input_tokens is not None]
    output = sum(each.output_tokens for each in good)
    step = next((each for each in _LENGTHS if each * _POINTS >= seconds), _LENGTHS[-1])
    return LoadSummary(
        seconds=seconds,
        requests=len(outcomes),
        answered=len(good),
        errors=dict(sorted(tally.errors.items())),
        request_rate=_rate(len(good), seconds),
        token_rate=_rate(output, seconds),
        input_tokens=sum(inputs) if inputs and len(inputs) == len(good) else None,
        output_tokens=output,
        ttft=spread(each.ttft for each in good if each.ttft is not None),
        itl=spread(tally.gaps),
        took=spread(each.took for each in good),
        most_in_flight=tally.most_in_flight,
        late=sum(each.sent - each.due > LATE_SECONDS for each in outcomes),
        step=float(step),
        moments=tuple(_moments(tally, outcomes, seconds, step)),
        engine=_engine(good),
    )


def _engine(good: Sequence[RequestOutcome]) -> EngineFigures | None:
    own = [each.engine for each in good if each.engine is not None]
    if not own:
        return None
    return EngineFigures(
        answered=len(own),
        ttft=spread(each.first for each in own),
        itl=spread(each.between for each in own if each.took > each.first),
        took=spread(each.took for each in own),
    )


def spread(values: Iterable[float]) -> Percentiles:
    """Return mean and percentiles by the nearest-rank method."""
    ordered = sorted(values)
    if not ordered:
        return Percentiles(None, None, None, None, None, None)
    p50, p90, p95, p99 = (ordered[max(math.ceil(percent * len(ordered) / 100), 1) - 1] for percent in PERCENTILES)
    return Percentiles(math.fsum(ordered) / len(ordered), p50, p90, p95, p99, ordered[-1])


def _rate(number: int, seconds: float) -> float:
    return number / seconds if seconds else 0.0


def _moments(tally: Tally, outcomes: Sequence[RequestOutcome], seconds: float, step: int) -> Iterable[Stretch]:
    """Yield the intervals; a request counts in the one in which it was sent, its end in the one in which it ended."""
    count = max(math.ceil(seconds / step), 1)
    sent: list[list[RequestOutcome]] = [[] for _ in range(count)]
    ended: list[list[RequestOutcome]] = [[] for _ in range(count)]
    gaps: list[list[float]] = [[] for _ in range(count)]

    def place(at: float) -> int:
        return min(int(at // step), count - 1)

    for each in outcomes:
        sent[place(each.sent)].append(each)
        ended[place(each.ended)].append(each)
    for at, gap in zip(tally.gap_times, tally.gaps, strict=True):
        gaps[place(at)].append(gap)
    begins, ends = sorted(each.sent for each in outcomes), sorted(each.ended for each in outcomes)
    for number in range(count):
        start, end = number * step, (number + 1) * step
        good = [each for each in ended[number] if not each.error]
        yield Stretch(
            start=float(start),
            sent=len(sent[number]) / step,
            answered=len(good) / step,
            failed=(len(ended[number]) - len(good)) / step,
            errors=dict(sorted(Counter(each.error for each in ended[number] if each.error).items())),
            tokens=sum(each.output_tokens for each in good) / step,
            in_flight=bisect.bisect_right(begins, end) - bisect.bisect_right(ends, end),
            ttft=spread(each.ttft for each in sent[number] if each.ttft is not None and not each.error),
            itl=spread(gaps[number]),
        )
