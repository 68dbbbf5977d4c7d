"""How the table of models is sorted. A module of its own, since every start of the command line reads it."""

from enum import StrEnum


class Order(StrEnum):
    """What comes first in the table of models."""

    MOVEMENT = "movement"
    """What needs a look: without an answer, on the way, with a queue, with load."""
    NAME = "name"
    COST = "cost"
    """The most dollars an hour."""
    QUEUE = "queue"
    """The most requests that wait."""
