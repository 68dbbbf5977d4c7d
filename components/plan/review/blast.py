"""The blast radius: the effect of a change on running replicas."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .contents import claims_of
from .differences import Path, path_text
from .edits import Edit, released
from .gap_advice import way_without_gap
from .interruptions import estimate, pending_reason, recreation
from .node_effects import may_stay, node_effect, with_nodes
from .nodes import NodeChange
from .renames import Renames
from .review import Blast, Interruption, ModelChange, ResourceChange
from .rolling_updates import rolling_update, running_after, scaling, scaling_causes
from .snapshot import Snapshot, WorkloadState
from .surroundings import ChangeSurroundings
from .units import is_replaced, unit_rollout


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
    site = ChangeSurroundings.of(base, head, changes, models, renames, nodes)
    effects = (_blast(before.get(title), after.get(title), site) for title in sorted({*before, *after}))
    return tuple(blast for blast in effects if blast)


def _blast(old: WorkloadState | None, new: WorkloadState | None, site: ChangeSurroundings) -> Blast | None:
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
        blast = replace(blast, advice=way_without_gap(old, new, site))
    # Accelerators of added replicas, in addition to those that the update needs temporarily.
    more, most = (max(0, new.replicas[n] * new.accelerators - old.replicas[n] * old.accelerators) for n in (0, 2))
    most = most if old.replicas[2] != new.replicas[2] else 0
    return replace(blast, extra_accelerators=blast.extra_accelerators + more, extra_at_most=most)


def _addition(new: WorkloadState, site: ChangeSurroundings) -> Blast:
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
        estimate="" if pending else estimate("serves after", start, start.seconds),
        warning=pending_reason(pending, new, site.room),
        pending=pending,
    )


def _change(old: WorkloadState, new: WorkloadState, site: ChangeSurroundings) -> Blast | None:
    edit = Edit.of(dict(old.body), dict(new.body))
    scaled = tuple(scaling_causes(old, new))
    by_operator = is_replaced(old, new)
    restarts = () if by_operator is False else edit.restarting
    causes = tuple(path_text(path) for path in restarts)
    if by_operator:
        causes = (*causes, *site.units.causes(new)) or (f"the pods of {new.served} change",)
    causes = (*causes, *scaled)
    if new.title in site.replaced:
        return recreation(new, site, (*site.replaced[new.title], *causes), new_image=_has_new_image(restarts))
    runs = bool(old.replicas[0] and new.replicas[0])
    nodes = site.nodes.get(old.group) if runs else None
    if (restarts or by_operator) and runs:
        stays = nodes is not None and nodes.at_once and may_stay(new, nodes)
        cold = (old.group != new.group and not stays) or _has_new_image(restarts)
        before, after = old.replicas[0], running_after(old, new)
        # In another group, old and new replicas do not share the room; those that run have theirs.
        room = site.room.replicas(new) if old.group == new.group else None
        room = None if room is None else max(room, before)
        rollout = unit_rollout(new, before) if by_operator else edit.rollout(after, before, room)
        update = rolling_update(old, new, site, rollout, causes, new_image=cold, stays=stays)
        return with_nodes(update, new, site, nodes) if nodes else update
    claims = tuple(title for title in claims_of(new) if title in site.replaced)
    if claims and old.replicas[0]:
        return recreation(new, site, tuple(f"{title} is replaced" for title in claims), new_image=False)
    if nodes:
        return node_effect(new, site, nodes)
    if scaled:
        return scaling(old, new, site, scaled, edit)
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


def _joined(titles: Sequence[str]) -> str:
    """Write a list: ``a, b and c``."""
    return f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else "".join(titles)
