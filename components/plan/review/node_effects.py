"""Replicas whose nodes are deleted or replaced."""

import math
from dataclasses import replace

from ...fleet.demand import INSTANCE_TYPE_LABEL
from ...fleet.nodes.unschedulable import NodeKind
from ...fleet.shapes import pod_templates
from ..rollouts import Rollout
from ..spans import about
from ..starts.estimate import grace_seconds
from .drains import NodeLoad, drained, fails
from .interruptions import estimate, interruption, starts_in_order
from .nodes import NodeChange
from .review import Blast, Interruption
from .snapshot import WorkloadState
from .surroundings import ChangeSurroundings

_ANY = [{"operator": "Exists"}]
"""Tolerations of every taint: pods tolerate the taints of the nodes that they run on."""


def with_nodes(update: Blast, new: WorkloadState, site: ChangeSurroundings, nodes: NodeChange) -> Blast:
    """Return the effect of an update of a workload whose nodes change too.

    Pulumi deletes after all creations and updates. By then the pods of a rollout that it waited for run on the nodes
    that their template selects, so that they do not notice the deletion of others.
    """
    if not update.replicas:
        return node_effect(new, site, nodes)
    if not nodes.at_once:
        return _both(update, node_effect(new, site, nodes))
    if new.title in site.awaited and not update.pending and not may_stay(new, nodes):
        if nodes.drifts:
            return _both(update, _one_after_another(new, site, nodes))
        return replace(update, because=(*update.because, nodes.because))
    removal = _removal(new, site, nodes)
    if update.short >= update.replicas and not may_stay(new, nodes):
        # Its rollout has ended all of them already, so that each starts once, on other nodes.
        return replace(removal, because=(*update.because, *removal.because))
    return _both(update, removal)


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


def node_effect(new: WorkloadState, site: ChangeSurroundings, nodes: NodeChange) -> Blast:
    """Return the effect on a workload whose template stays the same and whose nodes change."""
    if nodes.at_once:
        return _removal(new, site, nodes)
    return _one_after_another(new, site, nodes)


def _removal(new: WorkloadState, site: ChangeSurroundings, nodes: NodeChange) -> Blast:
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
        rollout = Rollout(number, number, 0, number if starts_in_order(new) else 1)
    return interruption(new, site, rollout, (nodes.because,), new_node=new_node, new_image=True, ahead=True)


def _one_after_another(new: WorkloadState, site: ChangeSurroundings, nodes: NodeChange) -> Blast:
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
        estimate=estimate(
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


def may_stay(workload: WorkloadState, nodes: NodeChange) -> bool:
    """Whether the new pods of a workload may run on the nodes that are deleted."""
    labels = nodes.group.labels or {INSTANCE_TYPE_LABEL: nodes.group.instance_type}
    kind = NodeKind(nodes.group.name, {}, labels)
    pods = [template.body["spec"] for template in pod_templates(dict(workload.body))]
    return any(not kind.obstacle({**pod, "tolerations": _ANY}, {}) for pod in pods)
