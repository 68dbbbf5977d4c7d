"""What an environment asks of every workload beside serving: few rights, orderly drains, zones, priority.

Everything is off by default: rendered objects stay what they are until an environment asks for more.
"""

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...contract.tables import load_table
from ...fleet.demand import ZONE_LABEL
from ...fleet.objects import Object, new_object
from ...fleet.rendered import Rendered
from ...fleet.workloads import Workload, by_set
from .pods import Exemption, exemptions, secure
from .words import PodSecurity, Priority

_CLASS_PREFIX = "inference-"
_POD_GROUP = "PodGroup"


@dataclass(frozen=True, slots=True)
class Hardening:
    """What to ask of workloads.

    Attributes:
        pod_security: Profile that pods shall meet as far as images allow.
        disruption_budgets: Whether a drain may take only one replica at a time.
        topology_spread: Whether replicas shall be spread over zones, where there is room.
        priority: Default priority of all models; None for the default of each family.
    """

    pod_security: PodSecurity = PodSecurity.NONE
    disruption_budgets: bool = False
    topology_spread: bool = False
    priority: Priority | None = None

    @property
    def class_name(self) -> str | None:
        """PriorityClass of pods that set none: empty for no class, None for the default of each family."""
        if self.priority is None:
            return None
        return "" if self.priority is Priority.NONE else _CLASS_PREFIX + self.priority


def harden(item: Rendered, options: Hardening) -> Rendered:
    """Return a resource whose workloads have what the options ask for; the given one is not changed.

    What an operator makes, and objects that say nothing of pods, stay what they are.
    """
    workloads = tuple(w if w.operated else _hardened(w, options) for w in item.workloads)
    sets = by_set(w for w in workloads if not w.operated).values() if options.disruption_budgets else ()
    budgets = tuple(_budget(parts[0]) for parts in sets if sum(map(_most, parts)) > 1)
    others = tuple(_ranked(body, options) if body["kind"] == _POD_GROUP else body for body in item.others)
    return replace(item, workloads=workloads, others=(*others, *budgets))


def restricted_exemptions(item: Rendered) -> tuple[Exemption, ...]:
    """Return what the profile ``restricted`` refuses of a hardened resource, each thing once."""
    templates = (template for w in item.workloads if not w.operated for template in w.templates)
    return tuple(dict.fromkeys(e for template in templates for e in exemptions(template["spec"])))


def _hardened(workload: Workload, options: Hardening) -> Workload:
    hardened = replace(workload, body=copy.deepcopy(workload.body))
    for template in hardened.templates:
        _harden_pod(template["spec"], options)
    # The pods of a group belong together: only replicas of one pod are spread.
    if options.topology_spread and _most(workload) > 1 and not hardened.shape.has_groups:
        _spread(hardened)
    return hardened


def _most(workload: Workload) -> int:
    """Count the replicas of a workload when its autoscaler, if any, has added all it may."""
    return max(1, int(workload.body["spec"].get("replicas", 1)), workload.most or 0)


def priority_classes() -> tuple[Object, ...]:
    """Return the PriorityClasses, which the whole cluster shares."""
    return tuple(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": _CLASS_PREFIX + name},
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


def _harden_pod(spec: Object, options: Hardening) -> None:
    if options.pod_security != PodSecurity.NONE:
        secure(spec, options.pod_security)
    if options.class_name:
        spec.setdefault("priorityClassName", options.class_name)


def _ranked(gang: Object, options: Hardening) -> Object:
    """Return a gang with a priority, which Volcano takes in place of the pods' (pkg/scheduler/cache/cache.go)."""
    if not options.class_name:
        return gang
    return {**gang, "spec": {"priorityClassName": options.class_name, **gang["spec"]}}


def _spread(workload: Workload) -> None:
    """Prefer zones with fewer replicas. It is only a preference: accelerators may be had in one zone alone."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE_LABEL,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(workload.own_pods.front)},
    }
    workload.front["spec"].setdefault("topologySpreadConstraints", [constraint])


def _budget(workload: Workload) -> Object:
    """Let drains take one replica at a time.

    Of a group the leader counts: a budget over all pods would count pods where replicas are meant. Pods that are
    not ready may go at any time, or a model that never becomes ready would block a drain indefinitely.
    """
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": workload.selector},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return new_object("policy/v1", "PodDisruptionBudget", workload.set_name, workload.namespace, spec)
