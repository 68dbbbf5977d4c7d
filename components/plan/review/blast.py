"""The blast radius: the effect of a change on running replicas."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from ...fleet.demand import INSTANCE_TYPE_LABEL
from ...fleet.nodes.replacement import NodeReplacement
from ...fleet.nodes.unschedulable import NodeKind
from ...fleet.shapes import pod_templates, shape_of
from ..costs.bill import CostKind
from ..costs.nodes import node_item_name
from ..rollouts import Rollout, rollout_of, update_of
from ..spans import about, span
from ..starts.estimate import StartEstimate, grace_seconds, pause_seconds, source, start_estimate
from ..starts.reading import shape_facts
from ..timeouts.objects import SKIP_AWAIT, WAIT_FOR
from .contents import CLAIM, claims_of
from .differences import Path, path_text
from .drains import NodeLoad, drained, fails
from .edits import Edit, released
from .nodes import NodeChange
from .renames import Renames
from .review import Blast, ChangeKind, Interruption, ModelChange, ResourceChange
from .room import CLOUD, Room
from .snapshot import NodeGroupState, RegisteredResource, Snapshot, WorkloadState
from .units import Units, is_replaced, unit_rollout

_SHARED = ("ReadWriteMany", "ReadOnlyMany")
_NEW_FIRST = "hardening.newReplicasFirst: true"
_NOT_AWAITED = (
    "without missing replicas: let Pulumi wait for the rollout (waitForModels: true, the default, and no annotation "
    "pulumi.com/skipAwait), and plan again; otherwise it deletes the old nodes before the pods have moved"
)
_HOUR, _PLACES = 3600, 4
_ANY = [{"operator": "Exists"}]
"""Tolerations of every taint: pods tolerate the taints of the nodes that they run on."""
OUTAGE = "an outage: its operator deletes all replicas before it creates new ones"


def blasts(
    base: Snapshot,
    head: Snapshot,
    changes: Sequence[ResourceChange],
    models: Iterable[ModelChange],
    renames: Renames,
    nodes: Mapping[str, NodeChange],
) -> tuple[Blast, ...]:
    """Return the effect on each workload that changes, ordered by title."""
    before = {workload.title: workload for workload in base.workloads}
    after = {workload.title: workload for workload in head.workloads}
    site = _Surroundings.of(base, head, changes, models, renames, nodes)
    effects = (_blast(before.get(title), after.get(title), site) for title in sorted({*before, *after}))
    return tuple(blast for blast in effects if blast)


@dataclass(frozen=True, slots=True)
class _Surroundings:
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
    """

    room: Room
    replaced: Mapping[str, tuple[str, ...]]
    nodes: Mapping[str, NodeChange]
    models: Mapping[str, tuple[int | None, int | None]]
    successors: Mapping[str, tuple[str, ...]]
    predecessors: Mapping[str, tuple[WorkloadState, ...]]
    units: Units
    prices: Mapping[str, Decimal]
    awaited: frozenset[str] = frozenset()
    groups: Mapping[str, NodeGroupState] = field(default_factory=dict)
    """Node groups before the change."""
    later: Mapping[str, NodeGroupState] = field(default_factory=dict)
    """Those after it."""
    single: frozenset[str] = frozenset()
    """Titles of the claims that pods on one node only can mount."""

    @classmethod
    def of(
        cls,
        base: Snapshot,
        head: Snapshot,
        changes: Sequence[ResourceChange],
        models: Iterable[ModelChange],
        renames: Renames,
        nodes: Mapping[str, NodeChange],
    ) -> "_Surroundings":
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


def _blast(old: WorkloadState | None, new: WorkloadState | None, site: _Surroundings) -> Blast | None:
    if old is None:
        return None if new is None else _addition(new, site)
    if new is None:
        titles = site.successors.get(old.title, ())
        verb = "replaces" if len(titles) == 1 else "replace"
        causes = (f"{_joined(titles)} {verb} it; it is deleted last",) if titles else ()
        return Blast(old.title, old.served, Interruption.REMOVED, old.replicas[0], because=causes, waves=0)
    blast = _change(old, new, site)
    if blast is None:
        return None
    if blast.disruption is Interruption.GAP and not blast.pending:
        blast = replace(blast, advice=_way_without_gap(old, new, site))
    # Accelerators of added replicas, in addition to those that the update needs temporarily.
    more, most = (max(0, new.replicas[n] * new.accelerators - old.replicas[n] * old.accelerators) for n in (0, 2))
    most = most if old.replicas[2] != new.replicas[2] else 0
    return replace(blast, extra_accelerators=blast.extra_accelerators + more, extra_at_most=most)


def _addition(new: WorkloadState, site: _Surroundings) -> Blast:
    predecessors = site.predecessors.get(new.title, ())
    start = site.start(new, new_node=site.room.needs_node(new, 0), new_image=True)
    extra = sum(other.replicas[0] * other.accelerators for other in predecessors)
    pending = site.room.pending(new, new.replicas[0])
    return Blast(
        new.title,
        new.served,
        Interruption.NEW,
        new.replicas[0],
        short=pending,
        seconds=None if pending else 0,
        extra_accelerators=extra,
        because=(f"replaces {_joined([other.title for other in predecessors])}",) if predecessors else (),
        estimate="" if pending else _estimate("serves after", start, start.seconds),
        warning=_pending_reason(pending, new, site.room),
        pending=pending,
    )


def _pending_reason(number: int, workload: WorkloadState, room: Room, extra: int = 0) -> str:
    """Explain why replicas stay Pending; empty if none do."""
    if not number:
        return ""
    subject = "a replica stays" if number == 1 else f"up to {number} replicas stay"
    return f"{subject} Pending until there is room: {room.crowded(workload, extra)}"


def _change(old: WorkloadState, new: WorkloadState, site: _Surroundings) -> Blast | None:
    edit = Edit.of(dict(old.body), dict(new.body))
    scaled = tuple(_scaling_causes(old, new))
    by_operator = is_replaced(old, new)
    restarts = () if by_operator is False else edit.restarting
    causes = tuple(path_text(path) for path in restarts)
    if by_operator:
        causes = (*causes, *site.units.causes(new)) or (f"the pods of {new.served} change",)
    causes = (*causes, *scaled)
    if new.title in site.replaced:
        return _recreation(new, site, (*site.replaced[new.title], *causes), new_image=_has_new_image(restarts))
    runs = bool(old.replicas[0] and new.replicas[0])
    nodes = site.nodes.get(old.group) if runs else None
    if (restarts or by_operator) and runs:
        stays = nodes is not None and nodes.at_once and _may_stay(new, nodes)
        cold = (old.group != new.group and not stays) or _has_new_image(restarts)
        before, after = old.replicas[0], _running_after(old, new)
        # In another group, old and new replicas do not share the room; those that run have theirs.
        room = site.room.replicas(new) if old.group == new.group else None
        room = None if room is None else max(room, before)
        rollout = unit_rollout(new, before) if by_operator else edit.rollout(after, before, room)
        update = _rolling_update(old, new, site, rollout, causes, new_image=cold, stays=stays)
        return _with_nodes(update, new, site, nodes) if nodes else update
    claims = tuple(title for title in claims_of(new) if title in site.replaced)
    if claims and old.replicas[0]:
        return _recreation(new, site, tuple(f"{title} is replaced" for title in claims), new_image=False)
    if nodes:
        return _node_effect(new, site, nodes)
    if scaled:
        return _scaling(old, new, site, scaled, edit)
    if not edit.changed:
        return None
    return Blast(
        new.title,
        new.served,
        Interruption.NONE,
        0,
        because=tuple(map(path_text, edit.changed)),
        waves=0,
        warning=released(dict(old.body), dict(new.body)) if runs else "",
    )


def _has_new_image(paths: Iterable[Path]) -> bool:
    return any(path[-1] == "image" for path in paths)


def _running_after(old: WorkloadState, new: WorkloadState) -> int:
    """Return how many replicas run after an update: an autoscaler lowers them later, except to its maximum."""
    before = old.replicas[0]
    number, least, most = new.replicas
    return min(before, most) if number < before and least < most else number


def _scaling_causes(old: WorkloadState, new: WorkloadState) -> Iterator[str]:
    if _running_after(old, new) != new.replicas[0]:
        yield f"replicas stay until the autoscaler lowers them, at least {new.replicas[1]}"
    elif old.replicas[0] != new.replicas[0]:
        yield f"replicas {old.replicas[0]} -> {new.replicas[0]}"
    if old.replicas[2] != new.replicas[2] and (old.replicas[0], new.replicas[0]) != (
        old.replicas[2],
        new.replicas[2],
    ):
        removed = f": replicas above {new.replicas[2]} are removed" if new.replicas[2] < old.replicas[2] else ""
        yield f"at most {old.replicas[2]} -> {new.replicas[2]} replicas{removed}"


def _scaling(
    old: WorkloadState, new: WorkloadState, site: _Surroundings, causes: tuple[str, ...], edit: Edit
) -> Blast:
    more = max(0, new.replicas[0] - old.replicas[0])
    pending = site.room.pending(new, more)
    scalable = new.replicas[2] - new.replicas[0]
    later = site.room.pending(new, scalable, scalable) if new.replicas[2] > old.replicas[2] and scalable else 0
    start = site.start(new, new_node=more > 0 and site.room.needs_node(new, 0), new_image=False)
    order = edit.rollout(old.replicas[0] + more, old.replicas[0])
    waves = order.waves
    seconds = None if start.seconds is None else start.seconds * waves
    return Blast(
        new.title,
        new.served,
        Interruption.SCALE,
        abs(_running_after(old, new) - old.replicas[0]),
        short=pending,
        seconds=None if pending else 0,
        extra_accelerators=order.extra * new.accelerators,
        because=causes,
        estimate=_estimate("the new replicas serve after", start, seconds, order) if more and not pending else "",
        waves=waves,
        warning=_pending_reason(pending, new, site.room)
        or (f"at most, {_pending_reason(later, new, site.room, scalable)}" if later else ""),
        pending=pending,
        pending_at_most=later,
    )


def _rolling_update(
    old: WorkloadState,
    new: WorkloadState,
    site: _Surroundings,
    rollout: Rollout,
    causes: tuple[str, ...],
    *,
    new_image: bool,
    stays: bool = False,
) -> Blast:
    """Return the effect of a new pod template; new pods may first stay on the nodes of old ones that are deleted."""
    if not rollout.replicas and not rollout.stuck:
        update = update_of(dict(new.body))
        if update.is_manual:
            reason = "with updateStrategy OnDelete, pods keep running unchanged until they are deleted"
        elif update.is_paused:
            reason = "the rollout is paused, pods keep running unchanged until it is resumed (spec.paused)"
        else:
            shape = shape_of(new.body)
            units = "groups" if shape and shape.has_groups else "pods"
            reason = f"the partition excludes all {units} from the update"
        return Blast(new.title, new.served, Interruption.NONE, 0, because=(*causes, reason), waves=0)
    # In another group, the new replicas are never more than those at rest: the old ones have nodes of their own.
    same_nodes = old.group == new.group
    more = rollout.extra if same_nodes else 0
    if rollout.stuck or not same_nodes:
        waiting = max(rollout.extra, new.replicas[0] - old.replicas[0])
        pending = site.room.pending(new, waiting, more)
    else:
        # Replicas without room at first get that of old ones that end.
        pending = 0
    extra = rollout.extra if rollout.stuck or not same_nodes else _placed(rollout.extra, new, site)
    first = site.slowest_start(new, extra, new_image=new_image, stays=stays and not extra)
    # Nodes of added replicas and of the surge exist after the first wave, and those of old replicas are free again;
    # replicas that move to other nodes wait for one in each wave.
    later = site.slowest_start(new, 0, new_image=new_image, stays=stays or same_nodes)
    # The pods that end are those of the old template.
    ending = 0 if not rollout.short else grace_seconds(dict(old.body)) * rollout.waves
    pause = pause_seconds(dict(new.body))
    seconds = None
    if first.seconds is not None:
        seconds = first.seconds + ((later.seconds or 0) + pause) * (rollout.waves - 1) + ending
    gap = rollout.short > 0
    if pending:
        return Blast(
            title=new.title,
            model=new.served,
            disruption=Interruption.SURGE,
            replicas=rollout_of(dict(new.body), _running_after(old, new), old.replicas[0]).replicas,
            short=rollout.short,
            seconds=None,
            extra_accelerators=extra * new.accelerators,
            because=causes,
            estimate="",
            waves=rollout.waves,
            warning=f"{_pending_reason(pending, new, site.room, more)}; the update waits, and old replicas keep "
            "serving",
            pending=pending,
        )
    nodes = site.room.extra_nodes(new, more) + site.nodes_left(old, new)
    node_seconds = None if seconds is None else nodes * seconds
    return Blast(
        title=new.title,
        model=new.served,
        disruption=Interruption.GAP if gap else Interruption.SURGE,
        replicas=rollout.replicas,
        short=rollout.short,
        seconds=seconds if gap else 0,
        extra_accelerators=max(extra * new.accelerators, site.accelerators_left(old, new)),
        because=causes,
        estimate=_estimate(
            "short for" if gap else "no capacity is missing; takes",
            first,
            seconds=seconds,
            rollout=rollout,
            ending=ending,
            pause=pause,
        ),
        waves=rollout.waves,
        warning=OUTAGE if new.unit and rollout.short >= new.replicas[0] else _left(rollout, new),
        extra_nodes=nodes,
        extra_node_seconds=node_seconds,
        extra_usd=site.node_cost(old.group, node_seconds),
    )


def _placed(extra: int, new: WorkloadState, site: _Surroundings) -> int:
    """Return how many additional replicas find room."""
    return extra - site.room.pending(new, extra, extra)


def _left(rollout: Rollout, new: WorkloadState) -> str:
    """Warn about groups that only a later edit of the partition removes; empty without any."""
    if not rollout.left:
        return ""
    amount = f"{rollout.left} {'group' if rollout.left == 1 else 'groups'}"
    gpus = rollout.left * new.accelerators
    needs = f"{gpus} {'accelerator' if gpus == 1 else 'accelerators'}"
    return f"{amount} of the surge ({needs}) remain{'s' * (rollout.left == 1)} until the partition is 0"


def _recreation(new: WorkloadState, site: _Surroundings, causes: tuple[str, ...], *, new_image: bool) -> Blast:
    """Return the effect of removing all old replicas before new ones start."""
    number = new.replicas[0]
    waves = number if _starts_in_order(new) else 1
    return _interruption(new, site, Rollout(number, number, 0, waves), causes, new_node=False, new_image=new_image)


def _starts_in_order(workload: WorkloadState) -> bool:
    """Whether each replica starts only after the previous one is ready."""
    shape = shape_of(workload.body)
    return shape is not None and shape.starts_in_order(dict(workload.body))


def _with_nodes(update: Blast, new: WorkloadState, site: _Surroundings, nodes: NodeChange) -> Blast:
    """Return the effect of an update of a workload whose nodes change too.

    Pulumi deletes after all creations and updates. By then the pods of a rollout that it waited for run on the nodes
    that their template selects, so that they do not notice the deletion of others.
    """
    if not update.replicas:
        return _node_effect(new, site, nodes)
    if not nodes.at_once:
        return _both(update, _node_effect(new, site, nodes))
    if new.title in site.awaited and not update.pending and not _may_stay(new, nodes):
        if nodes.drifts:
            return _both(update, _one_after_another(new, site, nodes))
        return replace(update, because=(*update.because, nodes.because))
    removal = _removal(new, site, nodes)
    if update.short >= update.replicas and not _may_stay(new, nodes):
        # Its rollout has ended all of them already, so that each starts once, on other nodes.
        return replace(removal, because=(*update.because, *removal.because))
    return _both(update, removal)


def _way_without_gap(old: WorkloadState, new: WorkloadState, site: _Surroundings) -> str:
    """Describe how the pods of a workload move to other nodes before theirs change, or why they cannot.

    That needs an update that starts new replicas first, and for which Pulumi waits before it deletes the old nodes.
    Empty if no change of nodes causes the gap.
    """
    nodes, group, shape = site.nodes.get(old.group), site.later.get(new.group), shape_of(new.body)
    how = group.replacement if group else None
    if nodes is None or group is None or how is None or not new.replicas[0]:
        return ""
    update = update_of(dict(new.body))
    obstacle = _obstacle(new, site, how)
    if obstacle:
        return f"no setting avoids the missing replicas: {obstacle}"
    if new.title not in site.awaited:
        return _NOT_AWAITED
    needed = NodeLoad.of(new, group).nodes
    if nodes.replacement.free is not None and how.free is not None and how.free < needed:
        return (
            f"without missing replicas, the pods move to new nodes before the old ones go: that needs {needed} free "
            f"instances of the reservation, which has {max(0, how.free)}"
        )
    number = new.replicas[0]
    starts_first = shape is not None and shape.start_first is not None
    is_first = not starts_first or (update.added(number) > 0 and not update.missing(number))
    settings = how.move if is_first else f"{how.move} and {_NEW_FIRST}"
    start = site.start(new, new_node=True, new_image=True)
    waves = math.ceil(number / max(1, update.added(number)))
    amount = f"{needed} more {'node' if needed == 1 else 'nodes'} ({_gpus(group, needed)})"
    if start.seconds is not None:
        seconds = start.seconds * waves
        cost = site.node_cost(nodes.group.name, needed * seconds)
        amount += f" for {about(seconds)}" + ("" if cost is None else f", ${cost:,.2f}")
    moved = f"set {settings} in the same change, so that the pods move by a rolling update before the old nodes go"
    result = "without missing replicas"
    if not starts_first:
        result = f"with {update.missing(number)} of {number} replicas missing at a time"
    if nodes.drifts and nodes.replacement.hold:
        first = f"first set {nodes.replacement.hold}, and update the stack"
        return f"{result}: {first}; then {moved}; it needs {amount}; remove the budgets afterwards"
    return f"{result}: {moved}; it needs {amount}"


def _obstacle(new: WorkloadState, site: _Surroundings, how: NodeReplacement) -> str:
    """Return why no setting lets fewer replicas be missing while their nodes change; empty if one does."""
    shape, update, number = shape_of(new.body), update_of(dict(new.body)), new.replicas[0]
    if new.operated:
        return "its operator decides when its pods move"
    if shape is None or update.is_recreate:
        return "all its pods end before new ones start (strategy Recreate)"
    if update.is_manual:
        return "its pods stay on their nodes until somebody deletes them (updateStrategy OnDelete)"
    if update.is_paused:
        return "its pods stay on their nodes until its rollout is resumed (spec.paused)"
    claim = next((title for title in claims_of(new) if title in site.single), "")
    if claim:
        return f"one node at a time can mount {claim}"
    if shape.start_first is None and number <= update.missing(number):
        return f"a {shape.kind} ends a pod before it starts its successor, and there is no other replica"
    return "" if how.move else "pods of existing node groups cannot move first"


def _gpus(group: NodeGroupState, nodes: int) -> str:
    """Return the accelerators of some nodes of a group: ``2 A10G of g5.2xlarge``."""
    facts = group.node
    return f"{nodes * group.accelerators} {facts.accelerator if facts else 'GPUs'} of {group.instance_type}"


def _may_stay(workload: WorkloadState, nodes: NodeChange) -> bool:
    """Whether the new pods of a workload may run on the nodes that are deleted."""
    labels = nodes.group.labels or {INSTANCE_TYPE_LABEL: nodes.group.instance_type}
    kind = NodeKind(nodes.group.name, {}, labels)
    pods = [template.body["spec"] for template in pod_templates(dict(workload.body))]
    return any(not kind.obstacle({**pod, "tolerations": _ANY}, {}) for pod in pods)


def _both(first: Blast, then: Blast) -> Blast:
    """Return the effect of two changes that each restart the replicas."""
    seconds = None if None in (first.seconds, then.seconds) else (first.seconds or 0) + (then.seconds or 0)
    return replace(
        then,
        disruption=Interruption.GAP if first.short or then.short else Interruption.SURGE,
        replicas=max(first.replicas, then.replicas),
        short=max(first.short, then.short),
        seconds=seconds,
        extra_accelerators=max(first.extra_accelerators, then.extra_accelerators),
        because=(*first.because, *then.because),
        estimate=f"first, {first.estimate}; then, {then.estimate}",
        waves=first.waves + then.waves,
        warning="; ".join(filter(None, (first.warning, then.warning))),
        pending=max(first.pending, then.pending),
    )


def _node_effect(new: WorkloadState, site: _Surroundings, nodes: NodeChange) -> Blast:
    """Return the effect on a workload whose template stays the same and whose nodes change."""
    if nodes.at_once:
        return _removal(new, site, nodes)
    return _one_after_another(new, site, nodes)


def _removal(new: WorkloadState, site: _Surroundings, nodes: NodeChange) -> Blast:
    """Return the effect of deleting nodes: their pods are evicted, and stay Pending until there are others."""
    load = NodeLoad.of(new, nodes.group)
    number = load.replicas if nodes.nodes is None else min(load.replicas, nodes.nodes * load.per_node)
    moves_back = nodes.group.name == new.group
    new_node = new.group in site.room.groups and (moves_back or site.room.needs_node(new, 0))
    if nodes.replacement.deletion_waits and new.evicted_at_once:
        # Each eviction waits until the replicas serve again; nodes for all pods are launched together.
        short = min(number, new.evicted_at_once)
        rollout = Rollout(number, short, 0, math.ceil(number / short))
    else:
        rollout = Rollout(number, number, 0, number if _starts_in_order(new) else 1)
    return _interruption(new, site, rollout, (nodes.because,), new_node=new_node, new_image=True, ahead=True)


def _one_after_another(new: WorkloadState, site: _Surroundings, nodes: NodeChange) -> Blast:
    """Return the effect of replacing nodes one after another, and the pods on them."""
    how, budget = nodes.replacement, new.evicted_at_once
    if how.blocked:
        warning = f"the nodes stay as they are until there is room: {how.blocked}"
        return Blast(new.title, new.served, Interruption.NONE, 0, because=(nodes.because,), warning=warning, waves=0)
    load = NodeLoad.of(new, nodes.group)
    # Without a budget, pods may leave faster than nodes start after the first ones.
    crowded = max(load.nodes, nodes.group.nodes) > how.surge  # other workloads may take the first new nodes
    new_node = not how.surge or (not budget and not how.launches_each and crowded)
    start = site.start(new, new_node=new_node, new_image=True)
    grace = grace_seconds(dict(new.body))
    each = None if start.seconds is None else start.seconds + grace
    node = dict(site.start(new, new_node=True, new_image=True).parts).get("node", 0)
    drain = drained(load, how, budget=budget, each=each, node=node, grace=grace)
    warnings = []
    if drain.overlaps and load.replicas > 1:
        way = "hardening.disruptionBudgets: true does, one replica at a time"
        if new.operated:
            way = "a PodDisruptionBudget of your own does, as its operator creates the pods"
        warnings.append(
            f"nothing keeps the next node from being drained before the evicted replicas serve again; {way}"
        )
    if fails(load, how, budget, each):
        limit = about(how.patience or 0)
        warnings.append(
            f"a drain waits at most {limit.removeprefix('about ')} for the disruption budget, and then "
            + ("the pods are deleted" if how.forced else "the update of the nodes fails")
        )
    node_seconds = None if drain.seconds is None else how.surge * (node + drain.seconds)
    return Blast(
        title=new.title,
        model=new.served,
        disruption=Interruption.GAP,
        replicas=drain.rollout.replicas,
        short=drain.rollout.short,
        seconds=drain.seconds,
        extra_accelerators=how.surge * nodes.group.accelerators,
        because=(nodes.because,),
        estimate=_estimate(
            "short for",
            start,
            drain.seconds,
            None if drain.overlaps else drain.rollout,
            grace if drain.overlaps else grace * drain.rollout.waves,
        ),
        waves=drain.rollout.waves,
        warning="; ".join(warnings),
        extra_nodes=how.surge,
        extra_node_seconds=node_seconds,
        extra_usd=site.node_cost(nodes.group.name, node_seconds),
    )


def _interruption(
    new: WorkloadState,
    site: _Surroundings,
    rollout: Rollout,
    causes: tuple[str, ...],
    *,
    new_node: bool,
    new_image: bool,
    ahead: bool = False,
) -> Blast:
    """Return the effect of ending replicas before new ones start.

    Args:
        new: The workload.
        site: What surrounds it.
        rollout: How many replicas end at a time.
        causes: Why.
        new_node: Whether a new replica waits for a node.
        new_image: Whether its node has to pull the image.
        ahead: Whether the nodes of later replicas start together with that of the first.
    """
    start = site.start(new, new_node=new_node, new_image=new_image)
    later = site.start(new, new_node=new_node and not ahead, new_image=new_image)
    # Replicas that are all removed at once terminate at the same time.
    ends = 1 if rollout.short == rollout.replicas else rollout.waves
    ending = grace_seconds(dict(new.body)) * ends
    seconds = None
    if start.seconds is not None:
        seconds = start.seconds + (later.seconds or 0) * (rollout.waves - 1) + ending
    return Blast(
        title=new.title,
        model=new.served,
        disruption=Interruption.GAP,
        replicas=rollout.replicas,
        short=rollout.short,
        seconds=seconds,
        because=causes,
        estimate=_estimate("short for", start, seconds, rollout, ending),
        waves=rollout.waves,
    )


def _estimate(
    lead: str,
    start: StartEstimate,
    seconds: int | None,
    rollout: Rollout | None = None,
    ending: int = 0,
    pause: int = 0,
) -> str:
    """Describe an estimated duration and its parts."""
    if seconds is None:
        return f"no estimate: {start.text}"
    apart = f", {span(pause)} apart (minReadySeconds)" if pause else ""
    waves = f"; {rollout.waves} times in succession{apart}" if rollout and rollout.waves > 1 else ""
    ends = f", and up to {span(ending)} until the old ones end" if ending else ""
    return f"estimate: {lead} {about(seconds)} ({start.text}{waves}{ends}; {source()})"


def _joined(titles: Sequence[str]) -> str:
    """Write a list: ``a, b and c``."""
    return f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else "".join(titles)
