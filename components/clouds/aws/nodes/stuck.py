"""Rolling updates that never finish, because a new replica has to start before an old one stops, and finds no node.

The controller of a Deployment with ``maxUnavailable`` 0 deletes an old pod only when a new one is available
(kubernetes/kubernetes v1.36.3, pkg/controller/deployment/rolling.go: reconcileOldReplicaSets), and that of a
LeaderWorkerSet with ``maxSurge`` replaces groups only when the additional ones are ready, whatever ``maxUnavailable``
is: the leaders are a StatefulSet, which waits for its highest pods. The old replicas keep serving, and the new
template never runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.nodes.fit import amount_needed
from ....fleet.nodes.policy import RESERVED
from ....fleet.rendered import Fleet, Rendered
from ....fleet.workloads import Workload
from .packing import Packing, largest_at_rest, selects_types, takes
from .pending import limits_text
from .plan import NodeEnvironment, NodeGroupPlan


@dataclass(frozen=True, slots=True)
class StuckRollout:
    """A workload whose updates would never finish.

    Attributes:
        replicas: Its replicas when that happens.
        at_most: Whether that is the maximum of an autoscaler, and the minimum leaves room.
    """

    item: Rendered
    workload: Workload
    replicas: int
    at_most: bool = False


def stuck_rollouts(
    fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment
) -> Iterator[StuckRollout]:
    """Yield the workloads whose updates would never finish; those whose replicas stay Pending anyway are left out."""
    waiting = [(item, workload) for item, workload in fleet.workloads if _waits_for_new(workload, workload.replicas)]
    scaled = [
        (item, workload)
        for item, workload in fleet.workloads
        if workload.most and workload.most > workload.replicas and _waits_for_new(workload, workload.most)
    ]
    if not waiting and not scaled:
        return
    at_rest = Packing(fleet, groups, environment, lambda demand: demand.pods)
    known = set[int]()
    for item, workload in waiting:
        if id(item) not in at_rest.unplaced and not at_rest.has_room_for(workload.pods):
            known.add(id(workload))
            yield StuckRollout(item, workload, workload.replicas)
    at_most = Packing(fleet, groups, environment, largest_at_rest)
    for item, workload in scaled:
        if id(workload) not in known and id(item) not in at_most.unplaced and not at_most.has_room_for(workload.pods):
            yield StuckRollout(item, workload, workload.most or 0, at_most=True)


def _waits_for_new(workload: Workload, replicas: int) -> bool:
    """Whether an update without room for another replica waits for one, before it stops an old one."""
    if not replicas or workload.unit or not all(map(selects_types, workload.pods)):
        return False
    if workload.shape.update_of(workload.body).partition >= replicas:
        return False
    return workload.shape.course(workload.body, replicas, room=replicas).stuck


def stuck_problem(stuck: StuckRollout, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Problem:
    """Report a rollout that never finishes, with the settings that let it."""
    item, workload = stuck.item, stuck.workload
    update = workload.shape.update_of(workload.body)
    needed = ", ".join(
        f"{amount_needed(key, amount * demand.per_replica)}"
        for demand in workload.pods
        for key, amount in sorted(demand.requests.items())
        if "/" in key
    )
    when = f"with {stuck.replicas} replicas, the maximum of its autoscaler, " if stuck.at_most else ""
    plural = "s" * (stuck.replicas != 1)
    place = environment.place
    reserved = any(
        group.demand.capacity in RESERVED
        for group in groups
        for demand in workload.pods
        for choice in demand.choices
        if takes(group, choice, environment)
    )
    more = f"raise {place.key('maxNodes')} under {place.path('types')} in {place.file}"
    if reserved:
        more += ", and reserve as many instances"
    # A LeaderWorkerSet that may surge waits for the additional groups.
    bound = "maxSurge to 0 and maxUnavailable to 1" if workload.shape.has_groups else "maxUnavailable to 1"
    bounds = f"maxSurge {update.surge}, maxUnavailable {update.unavailable} of {stuck.replicas} replica{plural}"
    reason = (
        f"{when}a rollout of {workload.kind} {workload.name} would never finish: a new replica starts before an old "
        f"one stops ({bounds}), and there is no room for one more, which needs {needed or 'a node'}: "
        f"{limits_text(item, groups, environment)}; the old replicas keep serving; set {bound}, so that "
        f"an old one stops first, or {more}"
    )
    return item.source.problem("spec", reason, Severity.WARNING, rule=RuleId.ROLLOUT_STUCK)
