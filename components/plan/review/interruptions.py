"""Replicas that end before new ones start, and the words for how long that takes."""

from ...fleet.shapes import shape_of
from ..rollouts import Rollout
from ..spans import about, span
from ..starts.estimate import StartEstimate, grace_seconds, source
from .review import Blast, Interruption
from .room import Room
from .snapshot import WorkloadState
from .surroundings import ChangeSurroundings


def interruption(
    new: WorkloadState,
    site: ChangeSurroundings,
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
        estimate=estimate("short for", start, seconds, rollout, ending),
        waves=rollout.waves,
    )


def recreation(new: WorkloadState, site: ChangeSurroundings, causes: tuple[str, ...], *, new_image: bool) -> Blast:
    """Return the effect of removing all old replicas before new ones start."""
    number = new.replicas[0]
    waves = number if starts_in_order(new) else 1
    return interruption(new, site, Rollout(number, number, 0, waves), causes, new_node=False, new_image=new_image)


def starts_in_order(workload: WorkloadState) -> bool:
    """Whether each replica starts only after the previous one is ready."""
    shape = shape_of(workload.body)
    return shape is not None and shape.starts_in_order(dict(workload.body))


def estimate(
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


def pending_reason(number: int, workload: WorkloadState, room: Room, extra: int = 0) -> str:
    """Explain why replicas stay Pending; empty if none do."""
    if not number:
        return ""
    subject = "a replica stays" if number == 1 else f"up to {number} replicas stay"
    return f"{subject} Pending until there is room: {room.crowded(workload, extra)}"
