"""The way in which a change of nodes misses no replicas, or why there is none."""

import math

from ...fleet.nodes.replacement import NodeReplacement
from ...fleet.shapes import shape_of
from ..rollouts import update_of
from ..spans import about
from .contents import claims_of
from .drains import NodeLoad
from .snapshot import NodeGroupState, WorkloadState
from .surroundings import ChangeSurroundings

_NEW_FIRST = "hardening.newReplicasFirst: true"
_NOT_AWAITED = (
    "without missing replicas: let Pulumi wait for the rollout (waitForModels: true, the default, and no annotation "
    "pulumi.com/skipAwait), and plan again; otherwise it deletes the old nodes before the pods have moved"
)


def way_without_gap(old: WorkloadState, new: WorkloadState, site: ChangeSurroundings) -> str:
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


def _obstacle(new: WorkloadState, site: ChangeSurroundings, how: NodeReplacement) -> str:
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
