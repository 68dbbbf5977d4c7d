"""The state of a node, kept in its annotations so that the process may exit at any time."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ...fleet import ServedGroup
from ...kwok_stages import SEEN
from ..kubelet import moment

Json = Mapping[str, Any]
SINCE = "workbench/since"
"""Annotation with the start time of the state."""
REPLACEMENT = "workbench/remade"
"""Annotation of nodes that the process created. They belong to no stack, so the process deletes them, too."""


class NodeStage(StrEnum):
    """Lifecycle state of a simulated node; the values are stored in annotations."""

    IN_USE = "there"
    """In use."""
    RESERVE = "reserve"
    """Cordoned and without pods: not started, as far as users are concerned."""
    STARTING = "starting"
    """Requested, and cordoned until it is in use."""
    LEAVING = "leaving"
    """Cordoned; the cloud will reclaim it soon."""


def stage_of(node: Json) -> NodeStage | None:
    """Return the state of a node; None before the process has handled it."""
    state = (node["metadata"].get("annotations") or {}).get(SEEN)
    return NodeStage(state) if state in list(NodeStage) else None


def since(node: Json) -> float:
    """Return the start of the state of a node, in seconds since the epoch."""
    annotations = node["metadata"].get("annotations") or {}
    return moment(annotations.get(SINCE) or node["metadata"]["creationTimestamp"])


def is_in_use(node: Json) -> bool:
    """Tell whether a node is in use: it costs money, and pods may run on it."""
    return stage_of(node) in (NodeStage.IN_USE, NodeStage.LEAVING, None)


def is_starting(node: Json) -> bool:
    return stage_of(node) is NodeStage.STARTING


def is_replacement(node: Json) -> bool:
    """Tell whether a node replaces a lost one."""
    return REPLACEMENT in (node["metadata"].get("annotations") or {})


def group_of(node: str, groups: Mapping[str, ServedGroup]) -> ServedGroup | None:
    """Return the group of a node, which is part of its name."""
    name, _, index = node.rpartition("-")
    return groups.get(name) if index.isdecimal() else None
