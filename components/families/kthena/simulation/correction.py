"""Limits on how fast and how steadily replicas follow the recommendations (Kthena spec 4.4)."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..autoscaling.effective import Pace
from .settings import Defects, ScalingPolicy

Choice = Callable[[Iterable[int]], int]
"""``min`` or ``max``."""


class Recommendations:
    """The minimum or maximum of the recommendations in a window, in milliseconds; nothing if the window is 0."""

    def __init__(self, window: int, choose: Choice) -> None:
        self._window = window
        self._choose = choose
        self._values: deque[tuple[int, int]] = deque()

    def append(self, now: int, value: int) -> None:
        """Add a recommendation."""
        self._values.append((now, value))
        self._expire(now)

    def at(self, now: int) -> int | None:
        """Return the minimum or maximum of the window, which includes its start; None if it is empty."""
        self._expire(now)
        if not self._window or not self._values:
            return None
        return self._choose(value for _, value in self._values)

    def _expire(self, now: int) -> None:
        while self._values and self._values[0][0] + self._window < now:
            self._values.popleft()


class SizeHistory:
    """The minimum or maximum of the replicas in a period, in milliseconds; nothing if the period is 0.

    A number counts for one period after it was superseded. The last one counts for two periods after it was added:
    after a longer gap in the metrics, the period begins again.
    """

    def __init__(self, period: int, choose: Choice) -> None:
        self._period = period
        self._choose = choose
        self._superseded: deque[tuple[int, int]] = deque()
        self._last: tuple[int, int] | None = None

    def append(self, now: int, value: int) -> None:
        """Add a number of replicas, which supersedes the last one."""
        self._expire(now)
        if self._last is not None:
            self._superseded.append((now, self._last[1]))
        self._last = now, value

    def at(self, now: int, current: int) -> int | None:
        """Return the minimum or maximum of the period and the current number; None without a period."""
        if not self._period:
            return None
        self._expire(now)
        last = () if self._last is None else (self._last[1],)
        return self._choose((current, *last, *(value for _, value in self._superseded)))

    def _expire(self, now: int) -> None:
        while self._superseded and self._superseded[0][0] + self._period < now:
            self._superseded.popleft()
        if self._last is not None and self._last[0] + 2 * self._period < now:
            self._last = None


@dataclass(frozen=True, slots=True)
class Situation:
    """The current and the recommended replicas of all targets, at a time in milliseconds."""

    now: int
    current: int
    recommendation: int


class Corrector:
    """Limits recommendations, and keeps the history that the limits depend on."""

    def __init__(self, policy: ScalingPolicy, bounds: tuple[int, int], defects: Defects) -> None:
        self._policy, self._bounds, self._defects = policy, bounds, defects
        self._highest = Recommendations(policy.down.window, max)
        self._lowest = Recommendations(policy.up.window, min)
        self._before_down = SizeHistory(policy.down.period, min if defects.least_of_period else max)
        self._before_up = SizeHistory(policy.up.period, min)
        self._before_panic = SizeHistory(policy.panic.period if policy.panic else 0, min)
        self._panic_until: int | None = None

    def correct(self, step: Situation) -> tuple[int, bool]:
        """Return the replicas to set, and whether panic mode is on."""
        now, current, recommendation, policy = step.now, step.current, step.recommendation, self._policy
        panic = policy.panic if policy.panic and policy.panic.hold else None
        if panic and recommendation * 100 >= current * panic.threshold:
            self._panic_until = now + panic.hold
        if self._panic_until is None or now > self._panic_until:
            panic = None
        limited = recommendation
        if panic:
            # Stabilization windows do not count, and no replicas are removed.
            before = self._before_panic.at(now, current)
            if before is not None:
                limited = min(limited, before + before * panic.percent // 100)
            limited = max(limited, current)
        elif recommendation < current:
            highest, before = self._highest.at(now), self._before_down.at(now, current)
            if highest is not None:
                limited = max(limited, highest)
            if before is not None:
                limited = max(limited, before - _change(policy.down, before))
            limited = min(limited, current)
        elif recommendation > current:
            lowest, before = self._lowest.at(now), self._before_up.at(now, current)
            if lowest is not None:
                limited = min(limited, lowest)
            if before is not None:
                limited = min(limited, before + _change(policy.up, before))
            limited = max(limited, current)
        minimum, maximum = self._bounds
        corrected = min(max(limited, minimum), maximum)
        # The windows should hold what was recommended; the controller adds what was set (D-17).
        recorded = corrected if self._defects.windows_of_corrected else recommendation
        for window in (self._highest, self._lowest):
            window.append(now, recorded)
        for sizes in (self._before_down, self._before_up, self._before_panic):
            sizes.append(now, corrected)
        return corrected, panic is not None


def _change(pace: Pace, before: int) -> int:
    """Return by how many replicas a number may change in a period."""
    choose = max if pace.fastest else min
    return choose(pace.instances, before * pace.percent // 100)
