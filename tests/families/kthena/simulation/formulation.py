"""The algorithm of spec 4.3 and 4.4 once more, as plain as the text: all that ever was, looked at each time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from components.families.kthena.simulation.settings import ScalingPolicy


@dataclass
class Plain:
    """The controller with its defects, for one or several targets that report one metric."""

    policy: ScalingPolicy
    minimum: int
    maximum: int
    appended: list[tuple[int, int]] = field(default_factory=list)
    panic_end: int = -1

    def step(self, now: int, cur: int, values: Sequence[float | None], unready: int) -> int:
        rec = self.recommendation(cur, values, unready)
        if rec is None:
            return cur
        corrected = min(max(self.corrected(now, cur, rec), self.minimum), self.maximum)
        self.appended.append((now, corrected))
        return corrected

    def recommendation(self, cur: int, values: Sequence[float | None], unready: int) -> int | None:
        if cur < self.minimum:
            return self.minimum
        if cur > self.maximum:
            return self.maximum
        target, tol = float(self.policy.metrics[0][1]), float(self.policy.tolerance) * 0.01
        known = [value for value in values if value is not None]
        if not known:
            return None
        n, miss, total = len(known), len(values) - len(known), sum(known)
        ratio = total / n / target
        add = unready > 0 and ratio >= 1
        if not add and not miss:
            desired = cur if abs(ratio - 1.0) <= tol else math.ceil(ratio * n)
        else:
            total += miss * target if ratio < 1 else 0
            n += miss + (unready if add else 0)
            second = total / n / target
            desired = math.ceil(second * n)
            turned = (second >= 1) != (ratio >= 1)
            against = desired > cur if second < 1 else desired < cur
            if abs(second - 1.0) <= tol or turned or against:
                desired = cur
        return min(max(desired, self.minimum), self.maximum)

    def corrected(self, now: int, cur: int, rec: int) -> int:
        policy, panic = self.policy, self.policy.panic
        if panic and panic.hold:
            if rec * 100 >= cur * panic.threshold:
                self.panic_end = now + panic.hold
            if now <= self.panic_end:
                base = self.least(now, cur, panic.period)
                limit = rec if base is None else base + math.trunc(base * panic.percent / 100)
                return max(min(rec, limit), cur)
        if rec < cur:
            base = self.least(now, cur, policy.down.period)
            choose = min if policy.down.fastest else max
            share = base is not None and base - math.trunc(base * policy.down.percent / 100)
            limit = 0 if base is None else choose(base - policy.down.instances, share)
            return min(max([rec, limit, *self.within(now, policy.down.window, max)]), cur)
        base = self.least(now, cur, policy.up.period)
        choose = max if policy.up.fastest else min
        share = base is not None and base + math.trunc(base * policy.up.percent / 100)
        limit = rec if base is None else choose(base + policy.up.instances, share)
        return max(min([rec, limit, *self.within(now, policy.up.window, min)]), cur)

    def within(self, now: int, window: int, best) -> list[int]:
        near = [value for time, value in self.appended if time >= now - window]
        return [best(near)] if window and near else []

    def least(self, now: int, cur: int, period: int) -> int | None:
        """The least of the current value, the last one, and those superseded within the period.

        The last value is forgotten after two periods; what would supersede it then supersedes nothing.
        """
        if not period:
            return None
        pairs = zip(self.appended, self.appended[1:], strict=False)
        superseded = [value for (time, value), (at, _) in pairs if at >= now - period and at <= time + 2 * period]
        last = [value for time, value in self.appended[-1:] if time >= now - 2 * period]
        return min([cur, *last, *superseded])
