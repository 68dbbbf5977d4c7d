"""How a cloud replaces the nodes of a group, and which resources of a program the nodes come from."""

from dataclasses import dataclass
from typing import NamedTuple


class NodeSource(NamedTuple):
    """A resource of a program that determines the nodes of a group.

    Attributes:
        type: Its type token.
        name: Its logical name, without that of its component and the hyphen after it.
        nodes: The most nodes that disappear with it; 0 for a template, without which its nodes stay.
    """

    type: str
    name: str
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class NodeReplacement:
    """How the nodes of a group are replaced one after another when their configuration changes.

    Attributes:
        name: The cloud's name for it, such as ``drift``.
        at_once: Nodes that are drained at the same time; 0 if no node may be replaced.
        surge: New nodes that exist before the first old one is drained; 0 if each old node ends first.
        launches_each: Whether each new node is launched only when its predecessor is to be replaced, which takes the
            time of a node between two drains.
        pause: Least seconds between the end of a drain and the next one.
        patience: Seconds that a drain waits for a disruption budget; None without a limit.
        forced: Whether pods are deleted after that; otherwise the update fails.
        deletion_waits: Whether the deletion of the group also waits for disruption budgets without a limit.
        version: Kubernetes version of the cluster that the image follows by itself; empty if it follows none.
        blocked: Why no node is replaced; empty if they are.
        free: Reserved instances that no node at rest uses; None without a reservation.
        move: Setting with which pods move to another node group before theirs is deleted; empty if there is none.
        hold: Setting with which nodes stay until their pods have moved; empty if they do so anyway.
    """

    name: str
    at_once: int = 1
    surge: int = 0
    launches_each: bool = False
    pause: int = 0
    patience: int | None = None
    forced: bool = False
    deletion_waits: bool = False
    version: str = ""
    blocked: str = ""
    free: int | None = None
    move: str = ""
    hold: str = ""
