"""Estimates the remaining time of a build from the packages compiled so far."""

import time
from collections.abc import Callable

_MIN_PACKAGES = 20
"""Packages after which an estimate is meaningful."""
_MINUTE = 60


class Estimate:
    """Counts compiled packages. Cached packages are not counted, so that a build may end earlier than estimated."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._begin = clock()
        self._done = self._tenths = 0

    def step(self) -> None:
        self._done += 1

    def new_tenth(self) -> bool:
        """Return whether another tenth of the packages has been compiled since the last call."""
        tenths = 10 * self._done // self._total if self._total else 0
        previous, self._tenths = self._tenths, tenths
        return tenths > previous

    def __str__(self) -> str:
        if self._done > self._total:  # the total is unknown or wrong
            return f"{self._done} packages"
        share = f"{self._done} of {self._total} packages"
        if self._done < _MIN_PACKAGES:
            return share
        left = (self._clock() - self._begin) / self._done * (self._total - self._done)
        return f"{share}, about {max(1, round(left / _MINUTE))} min left"
