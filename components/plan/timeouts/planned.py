"""Timeouts of the objects of a plan, computed from the cold starts of its models."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...checks.memory.verdicts import WorkloadVerdict
from ...families import member_of
from ...fleet.nodes.availability import has_budget, runs_on
from ...fleet.nodes.policy import NodePolicy
from ...fleet.objects import Key, Object, is_core_service, key_of
from ...fleet.rendered import Fleet, Rendered
from ...fleet.shapes import shape_of
from ...fleet.timeouts import Timeouts, Waits, with_margin
from ...fleet.workloads import Workload
from ..environment import Environment
from ..starts.estimate import grace_seconds
from ..starts.longest import longest_start
from ..starts.planned import replica_facts, shapes_of, title_of
from .objects import (
    NO_PODS,
    deletion_timeouts,
    lone_timeouts,
    object_timeouts,
    pod_timeouts,
    until_ready,
    update_seconds,
    without_waiting,
)

if TYPE_CHECKING:
    from ...fleet.cloud import NodePlan


@dataclass(frozen=True, slots=True)
class ObjectTimeouts:
    """The timeouts of the objects of a fleet.

    Attributes:
        planned: Timeouts of objects whose pods are known.
        grace: Longest time that a pod of the fleet may take to terminate, in seconds.
        longest: Longest waits for pods of the fleet, for Services of no resource, such as those of a door.
        waits: The settings.
        expected: Seconds of the longest update of each awaited workload, without a margin, by its title.
        drains: Seconds until the pods of each node group have moved to other nodes, at most, by its name.
    """

    planned: Mapping[Key, Timeouts] = field(default_factory=dict)
    grace: int = 0
    longest: Timeouts = NO_PODS
    waits: Waits = field(default_factory=Waits)
    expected: Mapping[str, int] = field(default_factory=dict)
    drains: Mapping[str, int] = field(default_factory=dict)

    def of(self, body: Object) -> Timeouts | None:
        """Return the timeouts of an object; None for one that the provider does not wait for."""
        planned = self.planned.get(key_of(body))
        if planned is not None:
            return planned
        if is_core_service(body):
            timeouts = object_timeouts(body, self.longest)
        elif _ends_with_pods(body):
            timeouts = object_timeouts(body, Timeouts(0, 0, with_margin(self.grace)))
        else:
            timeouts = lone_timeouts(body)
        return timeouts and timeouts.replaced(self.waits.models)


def planned_timeouts(
    fleet: Fleet,
    verdicts: tuple[WorkloadVerdict, ...],
    environment: Environment,
    groups: "Sequence[NodePlan]" = (),
) -> ObjectTimeouts:
    """Return the timeouts of the objects of a fleet.

    Args:
        fleet: The rendered fleet.
        verdicts: Its memory verdicts, which know the models.
        environment: The environment.
        groups: Node groups of the cloud.
    """
    shapes = shapes_of(verdicts)
    policy = (environment.cloud and environment.cloud.node_policy) or NodePolicy()
    pods: dict[Key, Timeouts] = {}
    expected: dict[str, int] = {}
    drains = dict.fromkeys((group.name for group in groups), 0)
    for item, workload in fleet.workloads:
        facts = replica_facts(workload, shapes.get(title_of(workload)), environment)
        start = longest_start(workload.body, facts)
        most = max(workload.replicas, workload.most or 0)
        pods[key_of(workload.body)] = pod_timeouts(workload.body, start, workload.replicas, most)
        # A start of unknown length has a generous timeout, which is no estimate.
        if facts.weights is not None and not workload.operated and environment.waits.for_models:
            expected[title_of(workload)] = update_seconds(workload.body, start, most)
        drained = drain_seconds(item, workload, start, most)
        for group in groups:
            if runs_on(workload, group.demand, policy):
                drains[group.name] = max(drains[group.name], drained)
    every = _longest(pods.values())
    planned: dict[Key, Timeouts] = {}
    for item in fleet.rendered:
        own = [pods[key_of(workload.body)] for workload in item.workloads]
        # Services of a resource without pods may belong to those of any other.
        longest = _longest(own) if own else every
        for body in item.objects:
            body = as_registered(body, environment.waits, item)
            timeouts = _timeouts_of(body, item, pods.get(key_of(body), longest))
            if timeouts is not None:
                planned[key_of(body)] = timeouts.replaced(environment.waits.models)
    graces = (grace_seconds(workload.body) for _, workload in fleet.workloads)
    return ObjectTimeouts(
        planned=planned,
        grace=max(graces, default=0),
        longest=every,
        waits=environment.waits,
        expected=expected,
        drains=drains,
    )


def as_registered(body: Object, waits: Waits, item: Rendered | None = None) -> Object:
    """Return an object with the annotation that tells the provider whether to wait for its pods, if it needs one.

    Args:
        body: The object.
        waits: What updates wait for.
        item: The resource that it belongs to; None for an object of no resource.
    """
    if not waits.for_models:
        return without_waiting(body)
    if not waits.controlled:
        return body
    if item is None or not _is_operated(body, item):
        return until_ready(body)
    # An operator sets no condition for a resource without pods.
    has_pods = all(workload.replicas for workload in item.workloads)
    return until_ready(body, member_of(item.source.kind)[1].ready_condition) if has_pods else body


def drain_seconds(item: Rendered, workload: Workload, start: int, most: int) -> int:
    """Return the seconds until all pods of a workload have left nodes that are drained, at most.

    A disruption budget lets a pod go only when the one before serves again elsewhere.

    Args:
        item: Its resource.
        workload: The workload.
        start: Seconds until a replica is ready, at most.
        most: Its replicas, at most.
    """
    grace = grace_seconds(workload.body)
    return max(1, most) * (start + grace) if has_budget(item, workload) else grace


def _longest(timeouts: Iterable[Timeouts]) -> Timeouts:
    longest = NO_PODS
    for each in timeouts:
        longest = longest.at_least(each)
    return longest


def _timeouts_of(body: Object, item: Rendered, pods: Timeouts) -> Timeouts | None:
    """Return the timeouts of an object of a resource; None for one that does not wait for pods."""
    if shape_of(body) or is_core_service(body):
        return object_timeouts(body, pods)
    if not _is_operated(body, item):
        return None
    # The deletion of an operator's custom resource waits for its pods, its creation only with an annotation.
    return object_timeouts(body, pods) or deletion_timeouts().at_least(pods)


def _is_operated(body: Object, item: Rendered) -> bool:
    """Whether an object is the custom resource of an operator that creates its pods."""
    return body["kind"] == item.kind and any(workload.operated for workload in item.workloads)


def _ends_with_pods(body: Object) -> bool:
    """Whether the deletion of an object waits for the pods of the fleet."""
    return body["kind"] in ("Namespace", "PersistentVolumeClaim")
