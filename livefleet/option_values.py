"""Values of command-line options.

This module imports almost nothing, because every start of the command line loads it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class LiveFault(StrEnum):
    """A fault that can be injected into a fleet."""

    NODE = "node"
    """A node disappears at once, with its pods."""
    POD = "pod"
    """The process of a pod is killed; its controller creates a new pod."""
    SPOT = "spot"
    """The cloud reclaims a spot node in two minutes: its pods terminate gracefully before it disappears."""
    ZONE = "zone"
    """All nodes of a zone disappear at once, and no new ones start there for a while."""


class Order(StrEnum):
    """Sort order of the table of models."""

    MOVEMENT = "movement"
    """Models that need attention first: unavailable, scaling, queueing, under load."""
    NAME = "name"
    COST = "cost"
    """Highest hourly cost first."""
    QUEUE = "queue"
    """Longest queue first."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """How much faster than real time the fleet answers and starts; None keeps the current speed.

    Attributes:
        answers: Speed of generated tokens.
        starts: Speed at which nodes and pods start.
        SLOWEST: The lowest speed that can be set.
        FASTEST: The highest: an hour per second. Beyond it, clients mostly measure this machine.
        ANSWERS_HELP: First sentence of the help of options that set ``answers``.
        STARTS_HELP: First sentence of the help of options that set ``starts``.
    """

    answers: float | None = None
    starts: float | None = None
    SLOWEST: ClassVar[float] = 0.01
    FASTEST: ClassVar[float] = 3600.0
    ANSWERS_HELP: ClassVar[str] = "Generate tokens N times as fast as in real time."
    STARTS_HELP: ClassVar[str] = "Start nodes and pods N times as fast as in real time."
