"""What happens to the nodes of groups: those that are replaced take the pods on them with them."""

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
    """What happens to the nodes of a group.

    Attributes:
        because: Which change does it.
        at_once: Whether the whole group is another one afterwards; otherwise one node goes after the other.
        accelerators: Accelerators of one node.
    """

    because: str
    at_once: bool
    accelerators: int


def node_changes(groups: Iterable[NodeGroupState], changes: Sequence[ResourceChange]) -> Mapping[str, NodeChange]:
    """Return what happens to the nodes of each group, by name; nothing of groups that come or go."""
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
    """Whether a resource is what nodes of a group are made of: its name ends in that of the group.

    Behind it comes the ID of a Capacity Block, each of which has a managed node group of its own.
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
