"""Changes of node groups: which nodes go away or are replaced, and with them the pods that run there."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...fleet.cloud_providers import rolling_fields, rolling_on_removal
from ...fleet.nodes.replacement import NodeReplacement
from .differences import is_within, parse_path
from .resources import RETAINED
from .review import ChangeKind, FieldDifference, ResourceChange
from .room import CLOUD
from .snapshot import NodeGroupState, Snapshot

_MOST_FIELDS = 3
_UNKNOWN = NodeReplacement("")
"""For groups of snapshots that do not say how their nodes are replaced: one after another, the old one first."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A change of the nodes of a group, before which pods run there.

    Attributes:
        group: The group before the change.
        because: The change that causes it.
        at_once: Whether its nodes are deleted; otherwise they are replaced one after another.
        nodes: The most nodes that are deleted; None for all of them.
        upgrades: Whether the image of its nodes follows another version of the cluster.
        urn: The resource whose change replaces nodes one after another; empty without one.
    """

    group: NodeGroupState
    because: str
    at_once: bool = False
    nodes: int | None = None
    upgrades: bool = False
    urn: str = ""

    @property
    def drifts(self) -> bool:
        """Whether nodes are replaced one after another because of the version of the cluster."""
        return self.upgrades and not self.replacement.blocked

    @property
    def replacement(self) -> NodeReplacement:
        """How nodes are replaced one after another."""
        return self.group.replacement or _UNKNOWN


def node_changes(base: Snapshot, head: Snapshot, changes: Sequence[ResourceChange]) -> Mapping[str, NodeChange]:
    """Return the changes of the base's node groups, by name."""
    before = {resource.urn: resource.nodes_of for resource in base.resources if resource.nodes_of}
    after = {resource.urn: resource.nodes_of for resource in head.resources if resource.nodes_of}
    of_group: dict[str, list[tuple[ResourceChange, int]]] = {}
    for change in changes:
        belongs = before.get(change.former or change.urn) or after.get(change.urn) or {}
        for name, nodes in belongs.items():
            of_group.setdefault(name, []).append((change, nodes))
    owners = Counter[str]()
    for nodes_of in before.values():
        owners.update({name: 1 for name, nodes in nodes_of.items() if nodes})
    versions = {group.replacement.version for group in head.groups if group.replacement} - {""}
    kept = {group.name for group in head.groups}
    found: dict[str, NodeChange] = {}
    for group in base.groups:
        changed = _change(group, of_group.get(group.name, []), owners[group.name], versions)
        if after and not before and group.made_by == CLOUD and group.name not in kept:
            # Earlier code planned the base, and did not tell which resources belong to its groups.
            changed = NodeChange(group, f"node group {group.name} is deleted", at_once=True)
        if changed:
            found[group.name] = changed
    return found


def _change(
    group: NodeGroupState, own: Sequence[tuple[ResourceChange, int]], owners: int, versions: set[str]
) -> NodeChange | None:
    """Return the change of the nodes of a group.

    Args:
        group: The group before the change.
        own: Changes of its resources, each with the most nodes that disappear with the resource.
        owners: Number of its resources with which nodes disappear.
        versions: Versions of the cluster that images follow after the change.
    """
    upgrade = _upgrade(group, versions)
    gone = [(change, nodes) for change, nodes in own if nodes and _deletes(change)]
    if gone:
        nodes = None if len(gone) >= owners else sum(nodes for _, nodes in gone)
        because = _deletion(gone[0][0])
        return NodeChange(group, because, at_once=True, nodes=nodes, upgrades=bool(upgrade))
    rolled = next((change for change, _ in own if _rolls(change)), None)
    if rolled:
        return NodeChange(group, _one_after_another(group, rolled.title, _paths(rolled)), urn=rolled.urn)
    if upgrade:
        return NodeChange(group, _one_after_another(group, f"node group {group.name}", upgrade), upgrades=True)
    return None


def noted(changes: Iterable[ResourceChange], nodes: Mapping[str, NodeChange]) -> tuple[ResourceChange, ...]:
    """Return the changes of resources, with a note on each update that replaces nodes."""
    notes = {node.urn: _note(node) for node in nodes.values() if node.urn}
    return tuple(
        replace(change, note=notes[change.urn]) if change.urn in notes and not change.note else change
        for change in changes
    )


def _note(node: NodeChange) -> str:
    how = node.replacement
    if how.blocked:
        return f"nodes stay as they are: {how.blocked}"
    return f"nodes are replaced one after another{f' ({how.name})' if how.name else ''}"


def _deletes(change: ResourceChange) -> bool:
    return change.kind in (ChangeKind.DELETED, ChangeKind.REPLACED) and change.note != RETAINED


def _deletion(change: ResourceChange) -> str:
    if change.kind is ChangeKind.DELETED:
        return f"{change.title} is deleted, and its nodes with it"
    return f"{change.title} is replaced ({_paths(change)})"


def _one_after_another(group: NodeGroupState, title: str, cause: str) -> str:
    by = f" ({group.replacement.name})" if group.replacement and group.replacement.name else ""
    return f"{title}: nodes are replaced one after another{by}: {cause}"


def _paths(change: ResourceChange) -> str:
    paths = ", ".join(field.path for field in change.fields[:_MOST_FIELDS])
    more = len(change.fields) - _MOST_FIELDS
    return f"{paths} and {more} more" if more > 0 else paths


def _upgrade(group: NodeGroupState, versions: set[str]) -> str:
    """Return the change of the cluster's version that the image of the nodes follows; empty without one."""
    before = group.replacement.version if group.replacement else ""
    after = versions - {before}
    return f"the image follows the version of the cluster, {before} -> {min(after)}" if before and after else ""


def _rolls(change: ResourceChange) -> bool:
    """Whether a change of a resource replaces the nodes that come from it one after another."""
    if change.kind not in (ChangeKind.UPDATED, ChangeKind.REPLACED):
        return False
    rolling = [parse_path(path) for path in rolling_fields(change.type)]
    shrinking = [parse_path(path) for path in rolling_on_removal(change.type)]
    fields = [field for field in change.fields if is_within(parse_path(field.path), rolling)]
    limited = {id(field) for field in fields if is_within(parse_path(field.path), shrinking)}
    if any(id(field) not in limited or _has_rules(field) for field in fields):
        return True
    # Nodes that still match stay: only a value that is no longer allowed replaces the nodes that have it.
    before, after = Counter[str](), Counter[str]()
    for field in fields:
        before.update(_values(field.before))
        after.update(_values(field.after))
    return bool(before - after)


def _has_rules(field: FieldDifference) -> bool:
    """Whether the items of a list have several keys, so that an additional one may exclude nodes."""
    items = (*_items(field.before), *_items(field.after))
    return any(isinstance(item, Mapping) and len(item) > 1 for item in items)


def _values(text: str | None) -> Iterator[str]:
    yield from (json.dumps(item, sort_keys=True) for item in _items(text))


def _items(text: str | None) -> list[Any]:
    """Return the values in the text of a field: its items if it is a list."""
    if text is None:
        return []
    try:
        value: Any = json.loads(text) if text[:1] in ("[", "{") else text
    except ValueError:
        value = text
    return value if isinstance(value, list) else [value]
