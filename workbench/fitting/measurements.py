"""What benchmarks measured, whoever ran them, and what is wrong or odd about their files."""

import enum
from dataclasses import dataclass, field

from components.contract.problems import Problem


class Latency(enum.StrEnum):
    """Which latency of a benchmark counts."""

    ITL = "itl"
    """Inter-token latency: the time from one token to the next, the mean over all of them."""
    TPOT = "tpot"
    """Time per output token after the first one: of each request its time over its tokens, the mean over requests."""


class Counting(enum.StrEnum):
    """How it is known how many requests were worked on at once."""

    GIVEN = "given"
    """A table says so."""
    MEASURED = "measured"
    """The mean over the run."""
    CONFIGURED = "configured"
    """What the benchmark was told to keep up."""
    LITTLE = "Little's law"
    """Requests a second times the seconds that one takes."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a benchmark.

    Attributes:
        concurrency: Requests that were worked on at once, in the mean.
        itl_ms: Mean milliseconds from one token to the next.
        place: Where it was read, for messages.
        counted: How the concurrency is known.
        error_ms: Standard error of the latency; None where nobody gives one.
    """

    concurrency: float
    itl_ms: float
    place: str
    counted: Counting = Counting.GIVEN
    error_ms: float | None = None


@dataclass(slots=True)
class Benchmarks:
    """What is read so far.

    Attributes:
        latency: Which latency to read.
        notes: What is odd, but usable.
        problems: What cannot be used.
    """

    latency: Latency = Latency.ITL
    measurements: list[Measurement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, file: str, line: int, path: str, reason: str) -> None:
        """Remember that something cannot be used."""
        self.problems.append(Problem(file, line, "", "", path, reason))
