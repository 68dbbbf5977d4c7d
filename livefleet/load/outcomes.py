"""Outcomes of requests."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

CONNECTION_LOST, CUT_OFF = "connection lost", "stream cut off"


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """Times of a request by the clock of a simulated engine, in simulated seconds.

    Attributes:
        first: Time to the first token.
        between: Mean time between tokens.
        took: Time to the end.
    """

    first: float
    between: float
    took: float


@dataclass(slots=True)
class RequestOutcome:
    """Outcome of a request. Times are seconds after the start of the load.

    Attributes:
        due: Scheduled send time.
        sent: Actual send time.
        first: Arrival of the first token; None without one.
        ended: End of the request.
        input_tokens: Count of the server; None if it sends none.
        output_tokens: Count of the server, or else the number of chunks.
        error: Cause of the failure in a few words; empty if it was answered.
        number: Index in the order of sending.
        engine: Times of a simulated engine; None for other servers.
    """

    due: float
    sent: float
    first: float | None = None
    ended: float = 0.0
    input_tokens: int | None = None
    output_tokens: int = 0
    error: str = ""
    number: int = 0
    engine: EngineTimes | None = None

    @property
    def is_broken(self) -> bool:
        """Whether the connection broke before the end of the answer."""
        return self.error in (CONNECTION_LOST, CUT_OFF)

    @property
    def ttft(self) -> float | None:
        """Time to the first token in seconds."""
        return None if self.first is None else self.first - self.sent

    @property
    def took(self) -> float:
        """Time to the end in seconds."""
        return self.ended - self.sent


@dataclass(slots=True)
class Tally:
    """Measurements so far.

    Attributes:
        gaps: Seconds between consecutive chunks, of all answers.
        gap_times: End time of each gap.
        in_flight: Unfinished requests.
        most_in_flight: Maximum of unfinished requests.
    """

    outcomes: list[RequestOutcome] = field(default_factory=list)
    gaps: "array[float]" = field(default_factory=lambda: array("f"))
    gap_times: "array[float]" = field(default_factory=lambda: array("f"))
    in_flight: int = 0
    most_in_flight: int = 0

    def begin(self) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def end(self, outcome: RequestOutcome) -> None:
        self.in_flight -= 1
        self.outcomes.append(outcome)

    def add_gap(self, at: float, gap: float) -> None:
        """Record a chunk other than the first of its answer."""
        self.gaps.append(gap)
        self.gap_times.append(at)

    @property
    def errors(self) -> Counter[str]:
        """Number of failed requests by cause."""
        return Counter(outcome.error for outcome in self.outcomes if outcome.error)
