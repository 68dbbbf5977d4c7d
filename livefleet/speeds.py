"""How much faster than life the live fleet is."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Speeds:
    """How much faster than life answers and starts are; None leaves them as they are.

    Attributes:
        answers: Of the tokens of an answer.
        starts: Of nodes and pods.
        SLOWEST: The lowest speed that can be set.
        FASTEST: The highest: an hour in a second. Faster, clients measure little but this machine.
        ANSWERS_HELP: The first sentence of the help of options that set ``answers``.
        STARTS_HELP: That of options that set ``starts``.
    """

    answers: float | None = None
    starts: float | None = None
    SLOWEST: ClassVar[float] = 0.01
    FASTEST: ClassVar[float] = 3600.0
    ANSWERS_HELP: ClassVar[str] = "Tokens come N times as fast as in life."
    STARTS_HELP: ClassVar[str] = "Nodes and pods start N times as fast as in life."
