"""What surrounds the workloads of a change: rooms, nodes, models and the resources that Pulumi awaits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...fleet.shapes import shape_of
from ..costs.bill import CostKind
from ..costs.nodes import node_item_name
from ..starts.estimate import StartEstimate, start_estimate
from ..starts.reading import shape_facts
from ..timeouts.objects import SKIP_AWAIT, WAIT_FOR
from .contents import CLAIM
from .drains import NodeLoad
from .nodes import NodeChange
from .renames import Renames
from .review import ChangeKind, ModelChange, ResourceChange
from .room import CLOUD, Room
from .snapshot import NodeGroupState, RegisteredResource, Snapshot, WorkloadState
from .units import Units

_SHARED = ("ReadWriteMany", "ReadOnlyMany")
_HOUR, _PLACES = 3600, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSurroundings:
    """Changes around the workloads.

    Attributes:
        replaced: Fields that require replacement, by title of the replaced object.
        nodes: Changes of the nodes on which pods run before the change, by name of their group.
        awaited: Titles of the workloads whose rollout ends before anything is deleted.
        models: Bytes of weights and number of layers, by title of the workload.
        successors: Titles of the workloads that replace a removed one, by its title.
        predecessors: Removed workloads, by title of their successor.
        units: Workloads that operators replace together.
        prices: US dollars of a node for an hour, by node group.
        groups: Node groups before the change, by name.
        later: Node groups after the change, by name.
        single: Titles of the claims that pods on one node only can mount.
    """

    room: Room
    replaced: Mapping[str, tuple[str, ...]]
    nodes: Mapping[str, NodeChange]
    models: Mapping[str, tuple[int | None, int | None]]
    successors: Mapping[str, tuple[str, ...]]
    predecessors: Mapping[str, tuple[WorkloadState, ...]]
    units: Units
    prices: Mapping[str, Decimal]
    awaited: frozenset[str]
    groups: Mapping[str, NodeGroupState]
    later: Mapping[str, NodeGroupState]
    single: frozenset[str]

    @classmethod
    def of(
        cls,
        base: Snapshot,
        head: Snapshot,
        changes: Sequence[ResourceChange],
        models: Iterable[ModelChange],
        renames: Renames,
        nodes: Mapping[str, NodeChange],
    ) -> "ChangeSurroundings":
        successors, predecessors = _replacements(base, head, models, renames)
        return cls(
            room=Room.of(head, base),
            replaced={
                change.title: tuple(field.path for field in change.fields if field.replaces)
                for change in changes
                if change.kind is ChangeKind.REPLACED
            },
            nodes=nodes,
            models={**_models(base), **_models(head)},
            successors=successors,
            predecessors=predecessors,
            units=Units.of(base, head),
            prices={**_node_prices(base), **_node_prices(head)},
            awaited=frozenset(resource.title for resource in head.resources if _is_awaited(resource)),
            groups={group.name: group for group in base.groups},
            later={group.name: group for group in head.groups},
            single=frozenset(resource.title for resource in head.resources if _is_single(resource)),
        )

    def start(self, workload: WorkloadState, *, new_node: bool, new_image: bool) -> StartEstimate:
        weights, layers = self.models.get(workload.title, (None, None))
        return start_estimate(
            dict(workload.body),
            weights,
            new_node=new_node,
            new_image=new_image,
            devices=workload.accelerators,
            layers=layers,
        )

    def node_cost(self, group: str, seconds: int | None) -> Decimal | None:
        """Return the cost of nodes of a group for some seconds; None if unknown."""
        price = self.prices.get(group)
        return None if seconds is None or price is None else round(price * seconds / _HOUR, _PLACES)

    def nodes_left(self, old: WorkloadState, new: WorkloadState) -> int:
        """Return the nodes that a workload leaves for those of another group, and that stay until it has moved."""
        group = self.groups.get(old.group)
        if old.group == new.group or group is None or group.made_by != CLOUD:
            return 0
        return NodeLoad.of(old, group).nodes

    def accelerators_left(self, old: WorkloadState, new: WorkloadState) -> int:
        """Return the accelerators of these nodes."""
        group = self.groups.get(old.group)
        return self.nodes_left(old, new) * group.accelerators if group else 0

    def slowest_start(
        self, workload: WorkloadState, extra: int, *, new_image: bool, stays: bool = False
    ) -> StartEstimate:
        """Return the start of a replica, or of a workload that is replaced with it and takes longer.

        Args:
            workload: The workload, with its replicas after the change.
            extra: Additional replicas during the update.
            new_image: Whether its node has not pulled the image before.
            stays: Whether it takes the place of an old replica on its node.
        """
        starts = [
            self.start(member, new_node=not stays and self.room.needs_node(member, extra), new_image=new_image)
            for member in self.units.members(workload)
        ]
        return next((start for start in starts if start.seconds is None), max(starts, key=lambda s: s.seconds or 0))


def _is_awaited(resource: RegisteredResource) -> bool:
    """Whether Pulumi waits for the rollout of a workload before it deletes anything.

    Its Kubernetes provider waits for workloads of Kubernetes itself unless an annotation says otherwise, and for
    others only if one says so (pulumi/pulumi-kubernetes, provider/pkg/await and metadata/overrides.go).
    """
    shape = shape_of(resource.inputs) if resource.is_object else None
    metadata = resource.inputs.get("metadata")
    if shape is None or not isinstance(metadata, Mapping):
        return False
    annotations = metadata.get("annotations") or {}
    if shape.rollout_status is None:
        return WAIT_FOR in annotations
    return str(annotations.get(SKIP_AWAIT, "false")) != "true"


def _is_single(resource: RegisteredResource) -> bool:
    """Whether a resource is a claim that pods on one node only can mount."""
    spec = resource.inputs.get("spec")
    if not resource.is_object or resource.inputs.get("kind") != CLAIM or not isinstance(spec, Mapping):
        return False
    return not any(mode in _SHARED for mode in spec.get("accessModes") or ())


def _node_prices(head: Snapshot) -> dict[str, Decimal]:
    items = head.bill.items if head.bill else ()
    prices = {item.name: item.price.usd for item in items if item.kind is CostKind.NODES and item.price}
    return {
        group.name: prices[node_item_name(group.name)]
        for group in head.groups
        if node_item_name(group.name) in prices
    }


def _models(snapshot: Snapshot) -> dict[str, tuple[int | None, int | None]]:
    verdicts = (item for model in snapshot.models for item in model.verdicts.items())
    return {title: shape_facts(verdict.asked.shape) for title, verdict in verdicts if verdict.asked}


def _replacements(
    base: Snapshot, head: Snapshot, models: Iterable[ModelChange], renames: Renames
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[WorkloadState, ...]]]:
    """Return successors and predecessors, if the workloads that serve a model have changed."""
    old = {workload.title: workload for workload in base.workloads}
    new = {workload.title for workload in head.workloads}
    successors: dict[str, tuple[str, ...]] = {}
    predecessors: dict[str, tuple[WorkloadState, ...]] = {}
    for model in models:
        if model.before and model.after:
            removed = [title for title in model.before.workloads if title in old and title not in new]
            added = [title for title in model.after.workloads if title in new and title not in old]
            for title in tuple(removed):
                renamed = next((other for other in added if renames.is_same_text(title, other)), None)
                if renamed:
                    removed.remove(title)
                    added.remove(renamed)
                    successors[title], predecessors[renamed] = (renamed,), (old[title],)
            if removed and added:
                successors.update(dict.fromkeys(removed, tuple(added)))
                predecessors.update(dict.fromkeys(added, tuple(old[title] for title in removed)))
    return successors, predecessors
