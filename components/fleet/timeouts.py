"""How long Pulumi's providers wait for an operation on a resource."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..contract.texts.durations import duration_text

_MARGIN = 1.25
"""Estimates are upper ends of published measurements; the margin is for what none of them contains."""
_STEP = 300
"""Timeouts are whole multiples of five minutes, so that a small change of an estimate leaves them unchanged."""


class Timeouts(NamedTuple):
    """Seconds that a provider waits for an operation; None where it has no configurable timeout."""

    create: int | None = None
    update: int | None = None
    delete: int | None = None

    @classmethod
    def all(cls, seconds: int) -> "Timeouts":
        """Return the same timeout for every operation."""
        return cls(seconds, seconds, seconds)

    def at_least(self, other: "Timeouts") -> "Timeouts":
        """Return the longer timeout of each operation that can be configured."""
        pairs = zip(self, other, strict=True)
        return Timeouts(*(None if own is None else max(own, more or 0) for own, more in pairs))

    def plus(self, seconds: int) -> "Timeouts":
        """Return longer timeouts for creation and updates."""
        created, updated = (None if own is None else own + seconds for own in (self.create, self.update))
        return Timeouts(created, updated, self.delete)

    def replaced(self, seconds: int | None) -> "Timeouts":
        """Return one timeout for all operations that can be configured; None changes nothing."""
        if seconds is None:
            return self
        return Timeouts(*(None if own is None else seconds for own in self))

    @property
    def texts(self) -> Mapping[str, str]:
        """The timeouts as Pulumi's ``customTimeouts``, such as ``{create: 25m}``."""
        return {name: duration_text(value) for name, value in self._asdict().items() if value is not None}


@dataclass(frozen=True, slots=True)
class Waits:
    """What updates wait for, and for how long.

    Attributes:
        for_models: Whether an update waits until the models are ready.
        models: Timeout of the objects of models, in seconds; None for the computed ones.
        charts: Timeout of charts, in seconds; None for the default.
        session: How long the credentials of an update are valid, in seconds; None if unknown.
        by_stack: Whether the settings of a stack may say that.
        controlled: Whether the controllers of custom resources run; nodes that are simulated have none.
    """

    for_models: bool = True
    models: int | None = None
    charts: int | None = None
    session: int | None = None
    by_stack: bool = False
    controlled: bool = True


def with_margin(seconds: float) -> int:
    """Return the timeout for an operation that takes at most some seconds."""
    return math.ceil(seconds * _MARGIN / _STEP) * _STEP
