"""What the autoscaler remembers: recommendations, and how many replicas there were (Kthena spec 4.4)."""

from collections import deque
from collections.abc import Callable, Iterable

Choice = Callable[[Iterable[int]], int]
"""``min`` or ``max``."""


class Recommendations:
    """The least or the largest recommendation of the last milliseconds; nothing where the window is 0."""

    def __init__(self, window: int, best: Choice) -> None:
        self._window = window
        self._best = best
        self._kept: deque[tuple[int, int]] = deque()

    def append(self, now: int, value: int) -> None:
        """Remember a recommendation."""
        self._kept.append((now, value))
        self._expire(now)

    def at(self, now: int) -> int | None:
        """Return the best of the window, whose border belongs to it; None where it is empty."""
        self._expire(now)
        if not self._window or not self._kept:
            return None
        return self._best(value for _, value in self._kept)

    def _expire(self, now: int) -> None:
        while self._kept and self._kept[0][0] + self._window < now:
            self._kept.popleft()


class SizeHistory:
    """The least or the largest number of replicas within a period; nothing where the period is 0.

    A number counts until the period after it was superseded has passed. The last one counts for two periods after it
    was appended, and is forgotten then: after a longer gap in the metrics the period begins anew.
    """

    def __init__(self, period: int, best: Choice) -> None:
        self._period = period
        self._best = best
        self._superseded: deque[tuple[int, int]] = deque()
        self._last: tuple[int, int] | None = None

    def append(self, now: int, value: int) -> None:
        """Remember a number of replicas, which supersedes the last one."""
        self._expire(now)
        if self._last is not None:
            self._superseded.append((now, self._last[1]))
        self._last = now, value

    def at(self, now: int, current: int) -> int | None:
        """Return the best of the period, with the current number; None without a period."""
        if not self._period:
            return None
        self._expire(now)
        last = () if self._last is None else (self._last[1],)
        return self._best((current, *last, *(value for _, value in self._superseded)))

    def _expire(self, now: int) -> None:
        while self._superseded and self._superseded[0][0] + self._period < now:
            self._superseded.popleft()
        if self._last is not None and self._last[0] + 2 * self._period < now:
            self._last = None
