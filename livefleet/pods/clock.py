"""Time of the simulated engines."""

import asyncio
import time
from collections.abc import Callable

_LONGEST = 1.0
"""Real seconds after which a sleeper looks again: the speed may have changed meanwhile."""


class SimulatedClock:
    """Simulated seconds, which pass ``speed`` times as fast as those of the machine, and never go back.

    Args:
        speed: How much faster than life; may be changed at any time.
        real: The machine's seconds.
    """

    def __init__(self, speed: float = 1.0, real: Callable[[], float] = time.monotonic) -> None:
        self._speed, self._real = speed, real
        self._simulated, self._since = 0.0, real()

    def __call__(self) -> float:
        """Return the time."""
        return self._simulated + (self._real() - self._since) * self._speed

    @property
    def speed(self) -> float:
        """How much faster than life time passes."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._simulated, self._since = self(), self._real()
        self._speed = speed

    async def sleep(self, seconds: float) -> None:
        """Sleep so many simulated seconds, but not more than a real one: the speed may change meanwhile."""
        await asyncio.sleep(min(max(seconds, 0.0) / self._speed, _LONGEST))
