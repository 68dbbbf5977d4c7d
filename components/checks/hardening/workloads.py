"""Hardening of workloads: Pod Security, disruption budgets, spreading over zones, priority."""

import copy
import functools
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ...contract.tables import load_table
from ...fleet.demand import ZONE_LABEL
from ...fleet.objects import Object, new_object
from ...fleet.rendered import Rendered
from ...fleet.workloads import Workload, by_set
from .pods import Exemption, exemptions, secure
from .settings import CLASS_PREFIX, Hardening
from .words import PodSecurity

_POD_GROUP = "PodGroup"


def harden(item: Rendered, options: Hardening) -> Rendered:
    """Return a hardened copy of a resource.

    Workloads of operators and objects without pods are not changed.
    """
    workloads = tuple(workload if workload.operated else _hardened(workload, options) for workload in item.workloads)
    own = [workload for workload in workloads if not workload.operated]
    sets = by_set(own).values() if options.disruption_budgets else ()
    budgets = tuple(_budget(pods[0]) for pods in sets if sum(map(_max_replicas, pods)) > 1)
    # Volcano uses the priority of the gang instead of that of its pods (pkg/scheduler/cache/cache.go).
    others = tuple(
        {**body, "spec": {"priorityClassName": options.class_name, **body["spec"]}}
        if body["kind"] == _POD_GROUP and options.class_name
        else body
        for body in item.others
    )
    return replace(item, workloads=workloads, others=(*others, *budgets))


def restricted_exemptions(item: Rendered) -> tuple[Exemption, ...]:
    """Return the distinct violations of the profile ``restricted`` by a hardened resource."""
    own = (workload for workload in item.workloads if not workload.operated)
    specs = (template["spec"] for workload in own for template in workload.templates)
    return tuple(dict.fromkeys(exemption for spec in specs for exemption in exemptions(spec)))


def _hardened(workload: Workload, options: Hardening) -> Workload:
    hardened = replace(workload, body=copy.deepcopy(workload.body))
    for template in hardened.templates:
        if options.pod_security != PodSecurity.NONE:
            secure(template["spec"], options.pod_security)
        if options.class_name:
            template["spec"].setdefault("priorityClassName", options.class_name)
    if options.new_replicas_first:
        hardened = _starting_first(hardened)
    # The pods of a group must stay close together, so only single-pod replicas are spread.
    if options.topology_spread and _max_replicas(workload) > 1 and not hardened.shape.has_groups:
        constraint = {
            "maxSkew": 1,
            "topologyKey": ZONE_LABEL,
            # Preferred, not required: accelerators may be available in only one zone.
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(hardened.own_pods.front)},
        }
        hardened.front["spec"].setdefault("topologySpreadConstraints", [constraint])
    return hardened


def _starting_first(workload: Workload) -> Workload:
    """Return a workload whose updates start a new replica first, and the pods that they add."""
    if workload.shape.start_first is None or workload.bare:
        return workload
    workload.shape.start_first(workload.body)
    surge = workload.surge(_max_replicas(workload))
    pods = tuple(replace(demand, surge_pods=surge * demand.per_replica) for demand in workload.pods)
    return replace(workload, pods=pods)


def _max_replicas(workload: Workload) -> int:
    """Return the maximum replicas of a workload, including those of its autoscaler."""
    return max(1, int(workload.body["spec"].get("replicas", 1)), workload.most or 0)


def priority_classes() -> tuple[Object, ...]:
    """Return the cluster-scoped PriorityClasses."""
    return tuple(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": CLASS_PREFIX + name},
            "value": facts["value"],
            "preemptionPolicy": facts["preemption"],
            "globalDefault": False,
            "description": facts["description"],
        }
        for name, facts in _classes().items()
    )


@functools.cache
def _classes() -> Mapping[str, Object]:
    return MappingProxyType(load_table(__package__, "priority_classes.yaml"))


def _budget(workload: Workload) -> Object:
    """Let drains evict one replica at a time.

    Losing any pod of a group restarts all of it, so the budget of groups selects all pods: after the first eviction,
    none is allowed until the whole group is ready again. The disruption controller adds up the pods of the
    StatefulSets of leaders and workers (kubernetes/kubernetes v1.36.3, pkg/controller/disruption: getExpectedScale).
    Pods that are not ready may always be evicted; otherwise a model that never becomes ready would block a drain
    indefinitely.
    """
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": workload.evicted},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return new_object("policy/v1", "PodDisruptionBudget", workload.set_name, workload.namespace, spec)
