"""What a node says of itself: its state is kept in the cluster, so that the process may end at any moment."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ...fleet import ServedGroup
from ...kwok_stages import SEEN
from ..kubelet import moment

Json = Mapping[str, Any]
SINCE = "workbench/since"
"""Annotation: when the state began."""


REMADE = "workbench/remade"
"""Annotation of nodes that the process made: no stack knows them, so that it has to remove them, too."""


class NodeStage(StrEnum):
    """Where a simulated node is in its life."""

    THERE = "there"
    RESERVE = "reserve"
    """It is not there, as far as anybody but this process is concerned: cordoned, and without pods."""
    STARTING = "starting"
    """It was asked for, and is cordoned until it is there."""
    LEAVING = "leaving"
    """The cloud takes it back: cordoned, and soon gone."""


def stage_of(node: Json) -> NodeStage | None:
    """Return the state that a node is in; None before the process has seen it."""
    found = (node["metadata"].get("annotations") or {}).get(SEEN)
    return NodeStage(found) if found in list(NodeStage) else None


def since(node: Json) -> float:
    """Return when the state of a node began, in seconds since the epoch."""
    annotations = node["metadata"].get("annotations") or {}
    return moment(annotations.get(SINCE) or node["metadata"]["creationTimestamp"])


def is_there(node: Json) -> bool:
    """Tell whether a node is one that somebody pays for, and pods may run on."""
    return stage_of(node) in (NodeStage.THERE, NodeStage.LEAVING, None)


def is_starting(node: Json) -> bool:
    """Tell whether a node was asked for."""
    return stage_of(node) is NodeStage.STARTING


def is_remade(node: Json) -> bool:
    """Tell whether the process made a node, in place of one that was lost."""
    return REMADE in (node["metadata"].get("annotations") or {})


def group_of(node: str, groups: Mapping[str, ServedGroup]) -> ServedGroup | None:
    """Return the group of a node: nodes are called after their group."""
    name, _, index = node.rpartition("-")
    return groups.get(name) if index.isdecimal() else None
