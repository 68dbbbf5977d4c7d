"""Send times and lengths of requests, reproducible by seed."""

import enum
import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_TOKENS = 10_000_000


class Arrivals(enum.StrEnum):
    """Distribution of the time between requests."""

    POISSON = "poisson"
    """Exponential, as of many independent clients."""
    EVEN = "even"
    """Constant."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of lengths with a uniform distribution, or a rate that changes linearly."""

    first: float
    last: float

    @property
    def top(self) -> float:
        """The larger of the two."""
        return max(self.first, self.last)


@dataclass(frozen=True, slots=True)
class DueRequest:
    """A request to send.

    Attributes:
        at: Seconds after the start.
        input_tokens: Approximate length of the prompt: only the server's tokenizer knows it exactly.
        output_tokens: Maximum tokens of the answer.
    """

    at: float
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of requests and answers in tokens."""

    input: Range
    output: Range

    def draw(self, rng: random.Random) -> tuple[int, int]:
        """Draw the lengths of a request and of its answer."""
        return _draw(rng, self.input), _draw(rng, self.output)


def _draw(rng: random.Random, span: Range) -> int:
    low, high = sorted((int(span.first), int(span.last)))
    return rng.randint(low, min(high, _MAX_TOKENS))


def planned(
    rate: Range, seconds: float, arrivals: Arrivals, burst: int, lengths: Lengths, seed: int
) -> Iterator[DueRequest]:
    """Yield the requests of an open loop, ordered by time.

    Args:
        rate: Requests per second at the start and at the end, with a linear change in between.
        seconds: Duration.
        arrivals: Distribution of the time between requests.
        burst: Requests that are sent at a time.
        lengths: Lengths of requests and answers.
        seed: Seed of the random numbers.
    """
    rng = random.Random(seed)  # noqa: S311  nothing here is secret
    for expected in _expected(arrivals, rng):
        at = reached(rate, seconds, expected * burst)
        if at is None or at >= seconds:
            return
        for _ in range(burst):
            yield DueRequest(at, *lengths.draw(rng))


def _expected(arrivals: Arrivals, rng: random.Random) -> Iterator[float]:
    """Yield the expected number of arrivals until each next one."""
    if arrivals is Arrivals.EVEN:
        yield from (number + 0.5 for number in itertools.count())
    total = 0.0
    while True:
        total += rng.expovariate(1.0)
        yield total


def reached(rate: Range, seconds: float, count: float) -> float | None:
    """Return the time until which ``count`` requests are expected at a linearly changing rate; None if never.

    The inverse of the expected number until t, first*t + slope*t²/2.
    """
    slope = (rate.last - rate.first) / seconds
    if slope == 0:
        return count / rate.first if rate.first else None
    discriminant = rate.first**2 + 2 * slope * count
    # This form of the solution is numerically stable for small slopes.
    return None if discriminant < 0 else 2 * count / (rate.first + math.sqrt(discriminant))
