"""Changes of node groups: replacing nodes evicts the pods on them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...fleet.cloud_providers import replaced_fields, rolling_fields
from ...fleet.nodes.policy import Capacity
from .differences import is_within, parse_path
from .review import ChangeKind, ResourceChange
from .snapshot import NodeGroupState

_MOST_FIELDS = 3


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A change of the nodes of a group.

    Attributes:
        because: The change that causes it.
        at_once: Whether the whole group is replaced; otherwise nodes are replaced one by one.
        accelerators: Accelerators of one node.
    """

    because: str
    at_once: bool
    accelerators: int


def node_changes(groups: Iterable[NodeGroupState], changes: Sequence[ResourceChange]) -> Mapping[str, NodeChange]:
    """Return the changes of node groups by name, without added and removed groups."""
    found: dict[str, NodeChange] = {}
    for group in groups:
        own = [change for change in changes if _is_of(change, group)]
        replaced = next((change for change in own if _is_replaced(change)), None)
        rolled = next((change for change in own if _rolls(change)), None)
        if change := replaced or rolled:
            why = f"{change.title} {'is replaced' if replaced else 'replaces its nodes one by one'}"
            paths = ", ".join(field.path for field in change.fields[:_MOST_FIELDS])
            left = len(change.fields) - _MOST_FIELDS
            paths += f" and {left} more" if left > 0 else ""
            found[group.name] = NodeChange(f"{why} ({paths})", replaced is not None, group.accelerators)
    return found


def _is_of(change: ResourceChange, group: NodeGroupState) -> bool:
    """Whether a resource creates the nodes of a group: its name ends in that of the group.

    The ID of a Capacity Block may follow: each block has a managed node group of its own.
    """
    name = change.urn.split("::", 3)[-1]
    block = "(-[0-9a-z]+)?" if group.capacity == Capacity.CAPACITY_BLOCK else ""
    is_named = re.fullmatch(f"(.+-)?{re.escape(group.name)}{block}", name) is not None
    return is_named and bool(rolling_fields(change.type))


def _is_replaced(change: ResourceChange) -> bool:
    return change.kind is ChangeKind.REPLACED and bool(replaced_fields(change.type))


def _rolls(change: ResourceChange) -> bool:
    if change.kind not in (ChangeKind.UPDATED, ChangeKind.REPLACED):
        return False
    fields = [parse_path(path) for path in rolling_fields(change.type)]
    return any(is_within(parse_path(field.path), fields) for field in change.fields)
