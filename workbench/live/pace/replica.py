"""One replica: a queue with continuous batching, moved from event to event."""

from dataclasses import dataclass

from ..served import TokenPace


@dataclass(slots=True, eq=False)
class Job:
    """One request in a replica. Times are those that the caller gave, None while they are not known.

    Attributes:
        prompt: Tokens of the prompt.
        wanted: Tokens of the answer.
        arrived: When it was submitted.
        started: When it left the queue.
        first: When its first token was there.
        ended: When its last token was there.
    """

    prompt: int
    wanted: int
    arrived: float
    started: float | None = None
    first: float | None = None
    ended: float | None = None


class QueueFullError(Exception):
    """More requests wait than the engine lets."""


class EngineReplica:
    """The requests of one engine. Every call first brings it up to ``now``, which never goes back.

    Args:
        pace: How fast it is.
        queue: Requests that may wait; None without a bound.
        now: When it starts.
    """

    def __init__(self, pace: TokenPace, queue: int | None, now: float) -> None:
        raise NotImplementedError

    def submit(self, now: float, prompt: int, wanted: int) -> Job:
        """Take a request.

        Raises:
            QueueFullError: too many wait.
        """
        raise NotImplementedError

    def cancel(self, now: float, job: Job) -> None:
        """Forget a request whose client hung up; one that has ended already is left alone."""
        raise NotImplementedError

    def advance(self, now: float) -> None:
        """Bring the replica up to a time."""
        raise NotImplementedError

    def produced(self, job: Job) -> int:
        """Return how many tokens of its answer a request has, as of the last ``now``."""
        raise NotImplementedError

    def due(self, job: Job, tokens: int) -> float:
        """Return when a request will have so many tokens, if nothing else happens before."""
        raise NotImplementedError

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        raise NotImplementedError

    @property
    def running(self) -> int:
        """Requests in the batch."""
        raise NotImplementedError

    @property
    def cached(self) -> int:
        """Tokens in the cache."""
        raise NotImplementedError
