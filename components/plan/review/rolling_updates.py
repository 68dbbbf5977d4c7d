"""Replicas that are replaced by a new pod template, added or removed."""

from collections.abc import Iterator

from ...fleet.shapes import shape_of
from ..rollouts import Rollout, rollout_of, update_of
from ..starts.estimate import grace_seconds, pause_seconds
from .edits import Edit
from .interruptions import estimate, pending_reason
from .review import Blast, Interruption
from .snapshot import WorkloadState
from .surroundings import ChangeSurroundings

OUTAGE = "an outage: its operator deletes all replicas before it creates new ones"


def rolling_update(
    old: WorkloadState,
    new: WorkloadState,
    site: ChangeSurroundings,
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
    extra = rollout.extra
    if same_nodes and not rollout.stuck:
        # Only those that find room start before old ones end.
        extra -= site.room.pending(new, extra, extra)
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
            replicas=rollout_of(dict(new.body), running_after(old, new), old.replicas[0]).replicas,
            short=rollout.short,
            seconds=None,
            extra_accelerators=extra * new.accelerators,
            because=causes,
            estimate="",
            waves=rollout.waves,
            warning=f"{pending_reason(pending, new, site.room, more)}; the update waits, and old replicas keep "
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
        estimate=estimate(
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


def _left(rollout: Rollout, new: WorkloadState) -> str:
    """Warn about groups that only a later edit of the partition removes; empty without any."""
    if not rollout.left:
        return ""
    amount = f"{rollout.left} {'group' if rollout.left == 1 else 'groups'}"
    gpus = rollout.left * new.accelerators
    needs = f"{gpus} {'accelerator' if gpus == 1 else 'accelerators'}"
    return f"{amount} of the surge ({needs}) remain{'s' * (rollout.left == 1)} until the partition is 0"


def scaling(
    old: WorkloadState, new: WorkloadState, site: ChangeSurroundings, causes: tuple[str, ...], edit: Edit
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
        abs(running_after(old, new) - old.replicas[0]),
        short=pending,
        seconds=None if pending else 0,
        extra_accelerators=order.extra * new.accelerators,
        because=causes,
        estimate=estimate("the new replicas serve after", start, seconds, order) if more and not pending else "",
        waves=waves,
        warning=pending_reason(pending, new, site.room)
        or (f"at most, {pending_reason(later, new, site.room, scalable)}" if later else ""),
        pending=pending,
        pending_at_most=later,
    )


def scaling_causes(old: WorkloadState, new: WorkloadState) -> Iterator[str]:
    if running_after(old, new) != new.replicas[0]:
        yield f"replicas stay until the autoscaler lowers them, at least {new.replicas[1]}"
    elif old.replicas[0] != new.replicas[0]:
        yield f"replicas {old.replicas[0]} -> {new.replicas[0]}"
    if old.replicas[2] != new.replicas[2] and (old.replicas[0], new.replicas[0]) != (
        old.replicas[2],
        new.replicas[2],
    ):
        removed = f": replicas above {new.replicas[2]} are removed" if new.replicas[2] < old.replicas[2] else ""
        yield f"at most {old.replicas[2]} -> {new.replicas[2]} replicas{removed}"


def running_after(old: WorkloadState, new: WorkloadState) -> int:
    """Return how many replicas run after an update: an autoscaler lowers them later, except to its maximum."""
    before = old.replicas[0]
    number, least, most = new.replicas
    return min(before, most) if number < before and least < most else number
