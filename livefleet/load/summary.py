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
_MAX_INTERVALS = 60
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Mean and percentiles in seconds; None without values."""

    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    most: float | None = None


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
    outcomes = sorted(tally.outcomes, key=lambda outcome: outcome.sent)
    answered = [outcome for outcome in outcomes if not outcome.error]
    seconds = max((outcome.ended for outcome in outcomes), default=0.0)
    inputs = [outcome.input_tokens for outcome in answered if outcome.input_tokens is not None]
    output_tokens = sum(outcome.output_tokens for outcome in answered)
    step = next((step for step in _STEPS if step * _MAX_INTERVALS >= seconds), _STEPS[-1])
    times = [outcome.engine for outcome in answered if outcome.engine is not None]
    engine = EngineFigures(
        answered=len(times),
        ttft=spread(time.first for time in times),
        # An answer of one token has no time between tokens.
        itl=spread(time.between for time in times if time.took > time.first),
        took=spread(time.took for time in times),
    )
    return LoadSummary(
        seconds=seconds,
        requests=len(outcomes),
        answered=len(answered),
        errors=dict(sorted(tally.errors.items())),
        request_rate=len(answered) / seconds if seconds else 0.0,
        token_rate=output_tokens / seconds if seconds else 0.0,
        input_tokens=sum(inputs) if inputs and len(inputs) == len(answered) else None,
        output_tokens=output_tokens,
        ttft=spread(outcome.ttft for outcome in answered if outcome.ttft is not None),
        itl=spread(tally.gaps),
        took=spread(outcome.took for outcome in answered),
        most_in_flight=tally.most_in_flight,
        late=sum(outcome.sent - outcome.due > LATE_SECONDS for outcome in outcomes),
        step=float(step),
        moments=tuple(_intervals(tally, outcomes, seconds, step)),
        engine=engine if times else None,
    )


def spread(values: Iterable[float]) -> Percentiles:
    """Return mean and percentiles by the nearest-rank method."""
    ordered = sorted(values)
    if not ordered:
        return Percentiles()
    p50, p90, p95, p99 = (ordered[max(math.ceil(percent * len(ordered) / 100), 1) - 1] for percent in PERCENTILES)
    return Percentiles(mean=math.fsum(ordered) / len(ordered), p50=p50, p90=p90, p95=p95, p99=p99, most=ordered[-1])


def _intervals(tally: Tally, outcomes: Sequence[RequestOutcome], seconds: float, step: int) -> Iterable[Stretch]:
    """Yield the intervals; a request counts in the one in which it was sent, its end in the one in which it ended."""
    count = max(math.ceil(seconds / step), 1)
    sent: list[list[RequestOutcome]] = [[] for _ in range(count)]
    ended: list[list[RequestOutcome]] = [[] for _ in range(count)]
    gaps: list[list[float]] = [[] for _ in range(count)]

    def index(at: float) -> int:
        return min(int(at // step), count - 1)

    for outcome in outcomes:
        sent[index(outcome.sent)].append(outcome)
        ended[index(outcome.ended)].append(outcome)
    for at, gap in zip(tally.gap_times, tally.gaps, strict=True):
        gaps[index(at)].append(gap)
    begins, ends = sorted(outcome.sent for outcome in outcomes), sorted(outcome.ended for outcome in outcomes)
    for number in range(count):
        start, end = number * step, (number + 1) * step
        answered = [outcome for outcome in ended[number] if not outcome.error]
        answered_of_sent = [outcome for outcome in sent[number] if not outcome.error]
        yield Stretch(
            start=float(start),
            sent=len(sent[number]) / step,
            answered=len(answered) / step,
            failed=(len(ended[number]) - len(answered)) / step,
            errors=dict(sorted(Counter(outcome.error for outcome in ended[number] if outcome.error).items())),
            tokens=sum(outcome.output_tokens for outcome in answered) / step,
            in_flight=bisect.bisect_right(begins, end) - bisect.bisect_right(ends, end),
            ttft=spread(outcome.ttft for outcome in answered_of_sent if outcome.ttft is not None),
            itl=spread(gaps[number]),
        )
