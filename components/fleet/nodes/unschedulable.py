"""Pods that no node of an environment accepts, so that they would stay Pending forever.

Only for environments whose nodes are all known. A pod that selects an instance type has a node group of that type
(:mod:`.groups`), and :mod:`.fit` checks whether it fits; here such a pod only needs to tolerate the taints of its
nodes. Whether there are enough nodes for all pods is not checked here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ..cloud_facts import is_set_by_cloud
from ..demand import INSTANCE_TYPE_LABEL, NodeField, PodDemand
from ..instances import instances
from ..objects import Object
from ..origins import Origin
from ..placement import tolerates
from ..rendered import Fleet
from ..workloads import Workload
from .fit import amount_needed, amount_of
from .groups import NodeGroupDemand, offered_by, takes

_SHOWN = 3
"""Maximum kinds of nodes in a message."""
_USUAL_ARCH = "amd64"
_WHOLE_GIB = 14
"""Memory below which an accelerator is taken for a fraction of one."""


class NodeKind(NamedTuple):
    """Nodes of one kind, as the scheduler sees them.

    Attributes:
        offered: Allocatable resources of an empty node; empty for an unknown type.
        labels: The known labels. The cloud may set others.
    """

    name: str
    offered: Mapping[str, Decimal]
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]] = ()

    @classmethod
    def of_group(cls, group: NodeGroupDemand) -> "NodeKind":
        return cls(
            group.name, offered_by(group.instance_type, efa=group.efa, pods=group.pods), group.labels, group.taints
        )

    @classmethod
    def of_type(cls, name: str, instance_type: str) -> "NodeKind":
        """Return nodes of an instance type without further labels or taints."""
        return cls(name, offered_by(instance_type, efa=False), {INSTANCE_TYPE_LABEL: instance_type})

    def obstacle(self, pod: Object, requests: Mapping[str, Decimal]) -> str:
        """Return why these nodes reject a pod; empty if they accept it."""
        taint = untolerated(pod, self.taints)
        if taint:
            return f"{self.name} is kept for pods that tolerate {taint}"
        label = _unmatched(pod, self.labels)
        if label:
            return f"{self.name} does not have the label {label}"
        lacking = next((key for key, amount in sorted(requests.items()) if amount > self.offered.get(key, 0)), "")
        return f"{self.name} has only {amount_of(lacking, self.offered.get(lacking, Decimal(0)))}" if lacking else ""


def unschedulable(fleet: Fleet, kinds: Sequence[NodeKind], *, tolerates_devices: bool = False) -> Iterator[Problem]:
    """Report pods that no kind of node accepts, each with a fix.

    Args:
        fleet: The rendered fleet.
        kinds: Every kind of node that may exist.
        tolerates_devices: Whether the API server adds tolerations for the devices that pods request.
    """
    for item, workload in fleet.workloads:
        problems: dict[Problem, None] = {}  # templates of a workload may have equal problems
        for template, demand in pods_of(workload):
            pod = admitted(template, demand) if tolerates_devices else template
            chosen = next((choice.chosen_by for choice in demand.choices if choice.chosen_by), demand.node_field)
            field = chosen or NodeField(Origin(item.source, "spec"))
            reason = _obstacles(pod, demand, field, kinds) if demand.most else ""
            if reason:
                problems[field.origin.problem(reason, rule=RuleId.NODES_UNSERVED)] = None
        yield from problems


def pods_of(workload: Workload) -> Iterable[tuple[Object, PodDemand]]:
    """Return the spec of each pod template of a workload with its node demand."""
    return zip((template["spec"] for template in workload.templates), workload.pods, strict=False)


def admitted(pod: Object, demand: PodDemand) -> Object:
    """Return a pod spec with the tolerations that the admission plugin ExtendedResourceToleration adds."""
    added = [{"key": key, "operator": "Exists"} for key in demand.requests if "/" in key]
    return {**pod, "tolerations": [*(pod.get("tolerations") or ()), *added]}


def _obstacles(pod: Object, demand: PodDemand, field: NodeField, kinds: Sequence[NodeKind]) -> str:
    types = {choice.instance_type for choice in demand.choices}
    if types and None not in types:
        return _intolerant(pod, types, kinds)
    obstacles = [kind.obstacle(pod, demand.requests) for kind in kinds]
    if not all(obstacles):
        return ""
    requested = ", ".join(amount_needed(key, amount) for key, amount in sorted(demand.requests.items())) or "nothing"
    reasons = "; ".join(obstacles[:_SHOWN]) or "it has no nodes"
    more = f"; and {len(obstacles) - _SHOWN} more" if len(obstacles) > _SHOWN else ""
    remedy = field.remedy.format(type=_suggested(demand.requests))
    return (
        f"no node of this environment takes its pods, which request {requested} each and would stay Pending: "
        f"{reasons}{more}; for example, {remedy}"
    )


def _intolerant(pod: Object, types: set[str | None], kinds: Sequence[NodeKind]) -> str:
    """Return the problem of a hand-written pod that does not tolerate a taint of its own nodes; empty without one."""
    chosen = [kind for kind in kinds if kind.labels.get(INSTANCE_TYPE_LABEL) in types]
    refusing = [taint for kind in chosen if (taint := untolerated(pod, kind.taints))]
    if not chosen or len(refusing) < len(chosen):
        return ""
    return (
        f"its nodes have the taint {refusing[0]}, which its pods do not tolerate, so they would stay Pending; add "
        f"tolerations: [{{key: {refusing[0]}, operator: Exists}}]"
    )


def untolerated(pod: Object, taints: Iterable[Mapping[str, str]]) -> str:
    """Return the key of the first taint that a pod does not tolerate; empty if it tolerates all."""
    tolerations = pod.get("tolerations") or ()
    return next((taint["key"] for taint in taints if not any(tolerates(t, taint) for t in tolerations)), "")


def _unmatched(pod: Object, labels: Mapping[str, str]) -> str:
    """Return a label that a pod requires and the nodes cannot have; empty if they may match."""
    for key, value in (pod.get("nodeSelector") or {}).items():
        if not _may_be(labels, str(key), [str(value)]):
            return f"{key}={value}"
    node = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    unmet = [
        next((e["key"] for e in term.get("matchExpressions") or () if not _may_match(e, labels)), "")
        for term in terms
    ]
    return unmet[0] if unmet and all(unmet) else ""


def _may_match(expression: Object, labels: Mapping[str, str]) -> bool:
    key, values = str(expression["key"]), [str(value) for value in expression.get("values") or ()]
    match expression["operator"]:
        case "In":
            return _may_be(labels, key, values)
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels or is_set_by_cloud(key)
        case "DoesNotExist":
            return key not in labels
    return True


def _may_be(labels: Mapping[str, str], key: str, values: Sequence[str]) -> bool:
    return labels[key] in values if key in labels else is_set_by_cloud(key)


def _suggested(requests: Mapping[str, Decimal]) -> str:
    """Suggest the cheapest instance type that fits a pod; types without a price rank last, by size.

    Types with accelerators that the pod does not request, with fractional accelerators, or with another architecture
    than that of most images are not suggested.
    """
    fitting = [
        node
        for node in instances().values()
        if node.is_suggested
        and bool(node.accelerators) == any("/" in key for key in requests)
        and node.arch == _USUAL_ARCH
        and (node.accelerator_memory_gib is None or node.accelerator_memory_gib >= _WHOLE_GIB)
        and takes(node, requests)
    ]
    cheapest = min(
        fitting,
        key=lambda node: (node.usd_per_hour is None, node.usd_per_hour or 0, node.vcpu, node.memory_gib, node.name),
        default=None,
    )
    return cheapest.name if cheapest else "<type>"
