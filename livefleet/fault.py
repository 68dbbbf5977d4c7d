"""What can be made to happen to a fleet. A module of its own, since every start of the command line reads it."""

from enum import StrEnum


class LiveFault(StrEnum):
    """What can be made to happen."""

    NODE = "node"
    """A node is gone at once, with its pods."""
    POD = "pod"
    """The process of a pod is killed; its controller makes a new one."""
    SPOT = "spot"
    """The cloud takes a spot node back in two minutes: its pods are ended in time, then it is gone."""
    ZONE = "zone"
    """All nodes of a zone are gone at once, and no new ones come there for a while."""
