"""When requests are sent and how long they are: the same seed gives the same load."""

import enum
import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

_MOST_TOKENS = 10_000_000


class Arrivals(enum.StrEnum):
    """How requests follow one another."""

    POISSON = "poisson"
    """Independently, as those of many clients do."""
    EVEN = "even"
    """At even distances."""


@dataclass(frozen=True, slots=True)
class Span:
    """From one number to another: lengths, each as likely as the others; a rate that goes evenly."""

    first: float
    last: float

    @property
    def top(self) -> float:
        """The larger of the two."""
        return max(self.first, self.last)


@dataclass(frozen=True, slots=True)
class DueRequest:
    """A request to be sent.

    Attributes:
        at: Seconds after the start.
        input_tokens: Length of the prompt, about: only the server's tokenizer knows exactly.
        output_tokens: Tokens of the answer, at most.
    """

    at: float
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long requests and answers are, in tokens."""

    input: Span
    output: Span

    def drawn(self, chance: random.Random) -> tuple[int, int]:
        """Return a length of a request and one of its answer."""
        return _drawn(chance, self.input), _drawn(chance, self.output)


def _drawn(chance: random.Random, span: Span) -> int:
    low, high = sorted((int(span.first), int(span.last)))
    return chance.randint(low, min(high, _MOST_TOKENS))


def planned(
    rate: Span, seconds: float, arrivals: Arrivals, burst: int, lengths: Lengths, seed: int
) -> Iterator[DueRequest]:
    """Yield the requests of an open loop, in order of time.

    Args:
        rate: Requests a second at the start and at the end; in between it goes evenly from one to the other.
        seconds: How long.
        arrivals: How they follow one another.
        burst: Requests that come at once.
        lengths: How long they are.
        seed: Of chance.
    """
    chance = random.Random(seed)  # noqa: S311  nothing here is secret
    for expected in _expected(arrivals, chance):
        at = reached(rate, seconds, expected * burst)
        if at is None or at >= seconds:
            return
        for _ in range(burst):
            yield DueRequest(at, *lengths.drawn(chance))


def _expected(arrivals: Arrivals, chance: random.Random) -> Iterator[float]:
    """Yield after how many expected arrivals the next one is."""
    if arrivals is Arrivals.EVEN:
        yield from (number + 0.5 for number in itertools.count())
    total = 0.0
    while True:
        total += chance.expovariate(1.0)
        yield total


def reached(rate: Span, seconds: float, count: float) -> float | None:
    """Return when so many requests are expected, if the rate goes evenly from one to the other; None if never.

    The number expected until t is first*t + slope*t²/2, of which this is the inverse.
    """
    slope = (rate.last - rate.first) / seconds
    if slope == 0:
        return count / rate.first if rate.first else None
    inside = rate.first**2 + 2 * slope * count
    # Written so that nothing is lost where the slope is small.
    return None if inside < 0 else 2 * count / (rate.first + math.sqrt(inside))
