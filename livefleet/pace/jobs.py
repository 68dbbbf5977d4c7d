"""A request in a replica, and where it stands."""

from dataclasses import dataclass, field
from enum import Enum, auto


class Standing(Enum):
    """Where a request stands."""

    WAITING = auto()
    """In the queue."""
    FILLING = auto()
    """In the batch; its prompt is computed in parts, and some is left."""
    ANSWERING = auto()
    """In the batch; it gets a token in each step."""
    OVER = auto()
    """It has its answer, or was cancelled."""


@dataclass(slots=True, eq=False)
class Job:
    """One request in a replica. Times are the replica's, None while they are not known.

    What has a leading underscore is the replica's own.

    Attributes:
        prompt: Tokens of the prompt.
        wanted: Tokens of the answer.
        arrived: When it was submitted.
        started: When it left the queue for the first time.
        first: When its first token was there.
        ended: When its last token was there.
    """

    prompt: int
    wanted: int
    arrived: float
    started: float | None = None
    first: float | None = None
    ended: float | None = None
    standing: Standing = field(default=Standing.WAITING, init=False)
    had: int = field(default=0, init=False, repr=False)
    """Tokens of its answer when it last joined or left the batch."""
    number: int = field(default=0, init=False, repr=False)
    """Rises with every request that joins the batch."""
    since: int = field(default=0, init=False, repr=False)
    """The step after which it would have had no token of its answer, had it had all of them in a row."""

    @property
    def last(self) -> int:
        """The step in which it gets its last token, while it is answering."""
        return self.since + self.wanted

    @property
    def uncomputed(self) -> int:
        """Tokens that are computed before it gets its next one, while it is waiting.

        One that was taken out of the batch computes its answer so far again.
        """
        return self.prompt + self.had


class QueueFullError(Exception):
    """More requests wait than the engine lets."""
