"""How long the AWS provider waits for operations on its resources."""

import functools
import math
from typing import Any, NamedTuple

from ....contract.tables import load_table
from ....fleet.timeouts import Timeouts, with_margin

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


class NodeSteps(NamedTuple):
    """Seconds of the replacement of a node of a managed group, at most.

    Attributes:
        launch: From its launch until its devices are usable.
        drain: Until its pods have left it.
        settle: Between the drain and the termination.
    """

    launch: int
    drain: int
    settle: int


def waits() -> dict[str, tuple[Timeouts, str]]:
    """Return the timeouts of each type that waits, with the setting that overrides them."""
    return {
        type_: (
            Timeouts(*(row[operation] * 60 if operation in row else None for operation in Timeouts._fields)),
            str(row["setting"]),
        )
        for type_, row in _table()["waits"].items()
    }


def does_not_wait(type_: str) -> bool:
    """Tell whether a type is known to have no timeout worth configuring."""
    return type_ in _table()["others"]


def longest_update(nodes: int, at_once: int) -> int:
    """Return the seconds of an update that replaces all nodes of a managed group, at most.

    Args:
        nodes: Nodes of the group.
        at_once: Nodes that may be unavailable at once, the group's ``maxUnavailable``.
    """
    steps = node_steps()
    waves = math.ceil(nodes / at_once)
    # The first new nodes are launched before any old one is drained (EKS user guide, Scale up phase).
    return steps.launch + waves * sum(steps)


def node_steps() -> NodeSteps:
    """Return the steps of the replacement of a node."""
    return NodeSteps(**_table()["replacement"])


def node_group_timeouts(nodes: int, at_once: int = 1) -> Timeouts:
    """Return the timeouts of a managed node group; see ``longest_update``."""
    timeouts, _ = waits()[NODE_GROUP]
    return timeouts.at_least(Timeouts(update=with_margin(longest_update(nodes, at_once))))


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load_table(__package__, "waits.yaml")
    return table
