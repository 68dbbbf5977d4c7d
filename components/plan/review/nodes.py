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
    changed: dict[str, NodeChange] = {}
    for group in groups:
        # The name of the resource that creates the nodes ends in that of the group. Each Capacity Block has a managed
        # node group of its own, whose name ends in the ID of the block.
        block = "(-[0-9a-z]+)?" if group.capacity == Capacity.CAPACITY_BLOCK else ""
        named = re.compile(f"(.+-)?{re.escape(group.name)}{block}")
        replaced: ResourceChange | None = None
        rolled: ResourceChange | None = None
        for change in changes:
            rolling = [parse_path(path) for path in rolling_fields(change.type)]
            if not rolling or not named.fullmatch(change.urn.split("::", 3)[-1]):
                continue
            if change.kind is ChangeKind.REPLACED and replaced_fields(change.type):
                replaced = replaced or change
            if change.kind in (ChangeKind.UPDATED, ChangeKind.REPLACED) and any(
                is_within(parse_path(field.path), rolling) for field in change.fields
            ):
                rolled = rolled or change
        cause = replaced or rolled
        if cause:
            why = f"{cause.title} {'is replaced' if replaced else 'replaces its nodes one by one'}"
            paths = ", ".join(field.path for field in cause.fields[:_MOST_FIELDS])
            more = len(cause.fields) - _MOST_FIELDS
            paths += f" and {more} more" if more > 0 else ""
            changed[group.name] = NodeChange(f"{why} ({paths})", replaced is not None, group.accelerators)
    return changed
