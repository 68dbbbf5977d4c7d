"""How fast and how steadily replicas follow the recommendations (Kthena spec 4.4)."""

from dataclasses import dataclass

from ..autoscaling.effective import Pace, Panic
from .settings import Defects, ScalingPolicy
from .windows import Recommendations, SizeHistory


@dataclass(frozen=True, slots=True)
class Situation:
    """What a binding's targets have together and are to have, at one time in milliseconds."""

    now: int
    current: int
    wanted: int


class Corrector:
    """Limits recommendations, and remembers what the limits depend on."""

    def __init__(self, policy: ScalingPolicy, bounds: tuple[int, int], defects: Defects) -> None:
        self._policy, self._bounds, self._defects = policy, bounds, defects
        self._highest = Recommendations(policy.down.window, max)
        self._lowest = Recommendations(policy.up.window, min)
        self._before_down = SizeHistory(policy.down.period, min if defects.least_of_period else max)
        self._before_up = SizeHistory(policy.up.period, min)
        self._before_panic = SizeHistory(policy.panic.period if policy.panic else 0, min)
        self._panic_until: int | None = None

    def correct(self, step: Situation) -> tuple[int, bool]:
        """Return how many replicas to set, and whether in panic."""
        panic = self._policy.panic if self._in_panic(step) else None
        if panic:
            limited = self._in_a_hurry(step, panic)
        elif step.wanted < step.current:
            limited = self._down(step)
        elif step.wanted > step.current:
            limited = self._up(step)
        else:
            limited = step.current
        minimum, maximum = self._bounds
        corrected = min(max(limited, minimum), maximum)
        self._remember(step, corrected)
        return corrected, panic is not None

    def _in_panic(self, step: Situation) -> bool:
        panic = self._policy.panic
        if panic is None or not panic.hold:
            return False
        if step.wanted * 100 >= step.current * panic.threshold:
            self._panic_until = step.now + panic.hold
        return self._panic_until is not None and step.now <= self._panic_until

    def _in_a_hurry(self, step: Situation, panic: Panic) -> int:
        before = self._before_panic.at(step.now, step.current)
        limit = step.wanted if before is None else before + before * panic.percent // 100
        return max(min(step.wanted, limit), step.current)

    def _down(self, step: Situation) -> int:
        limited, pace = step.wanted, self._policy.down
        highest = self._highest.at(step.now)
        if highest is not None:
            limited = max(limited, highest)
        before = self._before_down.at(step.now, step.current)
        if before is not None:
            limited = max(limited, before - _change(pace, before))
        return min(limited, step.current)

    def _up(self, step: Situation) -> int:
        limited, pace = step.wanted, self._policy.up
        lowest = self._lowest.at(step.now)
        if lowest is not None:
            limited = min(limited, lowest)
        before = self._before_up.at(step.now, step.current)
        if before is not None:
            limited = min(limited, before + _change(pace, before))
        return max(limited, step.current)

    def _remember(self, step: Situation, corrected: int) -> None:
        """Remember what was recommended and what is set; the controller takes the latter for both (D-17)."""
        recommendation = corrected if self._defects.windows_of_corrected else step.wanted
        for window in (self._highest, self._lowest):
            window.append(step.now, recommendation)
        for sizes in (self._before_down, self._before_up, self._before_panic):
            sizes.append(step.now, corrected)


def _change(pace: Pace, before: int) -> int:
    """Return by how much a number of replicas may change in a period."""
    choose = max if pace.fastest else min
    return choose(pace.instances, before * pace.percent // 100)
