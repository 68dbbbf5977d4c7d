"""How long a build will take, from the packages that have been compiled so far."""

import time
from collections.abc import Callable

_ENOUGH = 20
"""Packages after which a pace can be told."""
_MINUTE = 60


class Estimate:
    """Counts the packages of all programs; those that are compiled already make the build shorter than told."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Start the clock."""
        self._total, self._clock = total, clock
        self._begin = clock()
        self._done = self._tenths = 0

    def step(self) -> None:
        """Take note of a package."""
        self._done += 1

    def new_tenth(self) -> bool:
        """Say whether another tenth of the packages is done since the last time that this was asked."""
        tenths = 10 * self._done // self._total if self._total else 0
        before, self._tenths = self._tenths, tenths
        return tenths > before

    def __str__(self) -> str:
        """Say how far it is, and how long the rest takes at the pace so far."""
        if self._done > self._total:  # the count is not known, or not right
            return f"{self._done} packages"
        share = f"{self._done} of {self._total} packages"
        if self._done < _ENOUGH:
            return share
        left = (self._clock() - self._begin) / self._done * (self._total - self._done)
        return f"{share}, about {max(1, round(left / _MINUTE))} min left"
