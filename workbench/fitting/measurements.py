"""Measurements read from benchmark files, with notes and problems."""

import enum
from dataclasses import dataclass, field

from components.contract.problems import Problem


class Latency(enum.StrEnum):
    """Which latency of a benchmark to fit."""

    ITL = "itl"
    """Inter-token latency: the mean over all gaps between tokens."""
    TPOT = "tpot"
    """Time per output token after the first: the mean over requests of time divided by tokens."""


class ConcurrencySource(enum.StrEnum):
    """Where the concurrency of a measurement comes from."""

    GIVEN = "given"
    """A column of a table."""
    MEASURED = "measured"
    """The mean over the run."""
    CONFIGURED = "configured"
    """The setting of the benchmark."""
    LITTLE = "Little's law"
    """Throughput times latency."""


_FEW_FAILED = 0.01


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a benchmark.

    Attributes:
        concurrency: Mean number of concurrent requests.
        itl_ms: Mean inter-token latency.
        place: File and position, for messages.
        counted: Where the concurrency comes from.
        error_ms: Standard error of the latency; None if unknown.
    """

    concurrency: float
    itl_ms: float
    place: str
    counted: ConcurrencySource = ConcurrencySource.GIVEN
    error_ms: float | None = None


@dataclass(slots=True)
class Benchmarks:
    """The result of reading benchmark files.

    Attributes:
        latency: Which latency to read.
        notes: Remarks on usable measurements.
        problems: Errors.
    """

    latency: Latency = Latency.ITL
    measurements: list[Measurement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add_problem(self, file: str, line: int, path: str, reason: str) -> None:
        """Add an error."""
        self.problems.append(Problem(file=file, line=line, path=path, reason=reason))

    def note_failures(self, place: str, failed: float | None, completed: float | None) -> None:
        """Note failed requests, if they are more than 1 % of the completed ones."""
        if failed and completed and failed > _FEW_FAILED * completed:
            self.notes.append(f"{place}: {failed:g} requests failed and {completed:g} succeeded")
