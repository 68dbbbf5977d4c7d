"""What became of requests."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

CONNECTION_LOST, CUT_OFF = "connection lost", "stream cut off"


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """How long a simulated engine took for a request by its own clock, in simulated seconds.

    Attributes:
        first: Until the first token.
        between: Between two tokens, on average.
        took: Until the end.
    """

    first: float
    between: float
    took: float


@dataclass(slots=True)
class RequestOutcome:
    """What became of one request. Times are seconds after the start.

    Attributes:
        due: When it was to be sent.
        sent: When it was sent.
        first: When the first token arrived; None if none did.
        ended: When it was over.
        input_tokens: As the server counts them; None where it does not say.
        output_tokens: Likewise; of an answer without a count, the pieces that arrived.
        error: What went wrong, in a few words; empty if nothing did.
        number: Which one it is, in the order of sending.
        engine: What a simulated engine says of its own time; None of any other server.
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
        """Whether the connection broke before the whole answer was there."""
        return self.error in (CONNECTION_LOST, CUT_OFF)

    @property
    def ttft(self) -> float | None:
        """Seconds until the first token."""
        return None if self.first is None else self.first - self.sent

    @property
    def took(self) -> float:
        """Seconds until the end."""
        return self.ended - self.sent


@dataclass(slots=True)
class Tally:
    """Everything that was seen so far.

    Attributes:
        gaps: Seconds between two pieces of an answer, of all answers.
        gap_times: When each of these ended.
        in_flight: Requests that have no end yet.
        most_in_flight: The largest number of them.
    """

    outcomes: list[RequestOutcome] = field(default_factory=list)
    gaps: "array[float]" = field(default_factory=lambda: array("f"))
    gap_times: "array[float]" = field(default_factory=lambda: array("f"))
    in_flight: int = 0
    most_in_flight: int = 0

    def begun(self) -> None:
        """Count a request that is sent."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def over(self, outcome: RequestOutcome) -> None:
        """Count a request that is over."""
        self.in_flight -= 1
        self.outcomes.append(outcome)

    def piece(self, at: float, gap: float) -> None:
        """Count a piece of an answer that is not its first."""
        self.gaps.append(gap)
        self.gap_times.append(at)

    @property
    def errors(self) -> Counter[str]:
        """How often each thing went wrong."""
        return Counter(each.error for each in self.outcomes if each.error)
