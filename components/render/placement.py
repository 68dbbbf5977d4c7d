"""Where pods may run and what nodes must look like.

One family of functions, so that labels, taints, tolerations and affinity cannot disagree (llmaz spec 2.7).
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ..api.llmaz import Flavor
from ..api.names import is_label_value, is_qualified_name
from ..api.quantity import parse_quantity
from ..catalog.instances import Instance, instance
from .findings import Findings
from .types import INSTANCE_TYPE_LABEL, Fleet, NodeChoice, NodeGroupDemand, Object, PodDemand

TAINT_VALUE = "true"
_WEIGHTS = (39, 24, 15, 9, 6, 3, 2, 1)
"""Fibonacci numbers 34, 21, 13, 8, 5, 3, 2, 1 of 87, as parts of 100 (llmaz spec 2.7)."""
_MAX_PODS = 110
_MAX_NODES = 450
"""Nodes of one EKS node group (aws-gpu spec 7)."""
_NAME_LENGTH = 48
"""Of the 63 characters that EKS allows, so that a cluster's name can go before it."""
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_MIB = Decimal(2**20)
_RESERVED_CPU = (
    (1, Decimal("0.06")),
    (1, Decimal("0.01")),
    (2, Decimal("0.005")),
    (math.inf, Decimal("0.0025")),
)
_INSTANCE_TYPE = "INSTANCE-TYPE"


def param(flavor: Flavor, key: str) -> str | None:
    """Return a flavor's parameter; the key is accepted in any case (llmaz spec 7.3)."""
    return next((value for name, value in (flavor.params or {}).items() if name.upper() == key), None)


def node_choices(flavors: Iterable[Flavor]) -> tuple[NodeChoice, ...]:
    """Return what nodes the flavors stand for, in order of preference."""
    return tuple(
        NodeChoice(flavor.name, param(flavor, _INSTANCE_TYPE), dict(sorted((flavor.node_selector or {}).items())))
        for flavor in flavors
    )


def place(spec: Object, choices: tuple[NodeChoice, ...]) -> None:
    """Bind a pod spec to its nodes: required affinity over all choices, preferences in order, tolerations."""
    affinity = _affinity(choices)
    if affinity:
        node = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        _require(node, affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"])
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution", [])
        if preferred:
            node.setdefault("preferredDuringSchedulingIgnoredDuringExecution", []).extend(preferred)
    for key in dict.fromkeys(taint["key"] for choice in choices for taint in taints(choice.instance_type)):
        toleration = {"key": key, "operator": "Exists", "effect": "NoSchedule"}
        there = spec.setdefault("tolerations", [])
        if toleration not in there:
            there.append(toleration)


def _require(node: Object, terms: list[Object]) -> None:
    """Require one of ``terms``; terms that a hand-written template has hold as well, so both are combined."""
    required = node.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": []})
    before = required["nodeSelectorTerms"]
    required["nodeSelectorTerms"] = [
        {**old, "matchExpressions": [*old.get("matchExpressions", []), *new["matchExpressions"]]}
        for old in before or [{}]
        for new in terms
    ]


def _affinity(choices: tuple[NodeChoice, ...]) -> Object | None:
    """One OR-ed term per flavor; none at all when a flavor takes any node."""
    if not choices or not all(choice.labels for choice in choices):
        return None
    terms = [
        {"matchExpressions": [{"key": k, "operator": "In", "values": [v]} for k, v in choice.labels.items()]}
        for choice in choices
    ]
    affinity: Object = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    if len(terms) > 1:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": term} for weight, term in zip(_WEIGHTS, terms, strict=False)
        ]
    return affinity


def taints(instance_type: str | None) -> tuple[dict[str, str], ...]:
    """Return the taints of a node: accelerators are kept for those who ask for them."""
    known = instance(instance_type) if instance_type else None
    resource = known.accelerator_resource if known else None
    return ({"key": resource, "value": TAINT_VALUE, "effect": "NoSchedule"},) if resource else ()


def allocatable(node: Instance) -> dict[str, Decimal]:
    """Return what pods can ask of a node, after what the EKS images reserve for kubelet and system.

    Source of the reservation: the bootstrap of the EKS optimized images (memory 255 MiB + 11 MiB per pod and
    100 MiB eviction threshold; CPU 6 %, 1 %, 0.5 %, 0.5 % of the first four cores, 0.25 % of the others).
    """
    cores, reserved = node.vcpu, Decimal(0)
    for count, share in _RESERVED_CPU:
        used = min(count, cores)
        reserved += share * Decimal(used)
        cores -= int(used)
    memory = node.memory_gib * 1024 * _MIB - (255 + 11 * _MAX_PODS + 100) * _MIB
    offered = {"cpu": Decimal(node.vcpu) - reserved, "memory": memory, "pods": Decimal(_MAX_PODS)}
    return (
        {**offered, node.accelerator_resource: Decimal(node.accelerators)} if node.accelerator_resource else offered
    )


def requests_of(pod_spec: Object) -> dict[str, Decimal]:
    """Return what the scheduler counts for a pod: the containers' sum or the largest init container."""
    total: dict[str, Decimal] = {}
    for container in pod_spec["containers"]:
        for key, amount in _requests(container).items():
            total[key] = total.get(key, Decimal(0)) + amount
    for container in pod_spec.get("initContainers", ()):
        for key, amount in _requests(container).items():
            total[key] = max(total.get(key, Decimal(0)), amount)
    return total


def _requests(container: Object) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    stated = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {key: parse_quantity(value) for key, value in stated.items()}


def check_choices(flavors: tuple[Flavor, ...], path: str, findings: Findings) -> None:
    """Warn where the order of flavors cannot mean what it says (llmaz spec 2.7, 6.5)."""
    if not flavors:
        return
    _check_labels(flavors, path, findings)
    counts = {flavor.name: _accelerators(flavor) for flavor in flavors}
    if len({tuple(sorted(count.items())) for count in counts.values()}) > 1:
        findings.warn(
            path,
            f"flavors {', '.join(counts)} ask for different accelerators; only the limits of the first, "
            f"{flavors[0].name!r}, are applied: give all of them the same",
        )
    unnamed = [f.name for f in flavors if counts[f.name] and not param(f, _INSTANCE_TYPE)]
    if unnamed:
        findings.warn(
            path,
            f"flavor {', '.join(unnamed)} names no instance type, so no nodes are made for it and its price is "
            "unknown; add params: {INSTANCE-TYPE: ...}",
        )


def _check_labels(flavors: tuple[Flavor, ...], path: str, findings: Findings) -> None:
    for flavor, choice in zip(flavors, node_choices(flavors), strict=True):
        for key, value in choice.labels.items():
            if not (is_qualified_name(key) and is_label_value(value)):
                findings.error(
                    path,
                    f"flavor {flavor.name!r} asks for nodes with the label {key}: {value!r}, which no node can have; "
                    "keys and values are letters, digits, '-', '_' and '.', at most 63 of them",
                )


def _accelerators(flavor: Flavor) -> dict[str, Decimal]:
    return {k: parse_quantity(v) for k, v in (flavor.limits or {}).items() if "/" in k}


@dataclass(slots=True)
class _Group:
    """Nodes of one type, capacity kind and zone whose labels agree."""

    choice: NodeChoice
    labels: dict[str, str]
    preferred: list[PodDemand] = field(default_factory=list)
    possible: list[PodDemand] = field(default_factory=list)

    def takes(self, labels: Mapping[str, str]) -> bool:
        """Whether a node can carry these labels beside those it has."""
        return all(self.labels.get(key, value) == value for key, value in labels.items())


def node_groups(fleet: Fleet) -> tuple[NodeGroupDemand, ...]:
    """Return one node group per distinct instance type, capacity kind and zone, large enough at rest.

    Labels of flavors that agree are put on one group; where they disagree there is a group for each. A model
    counts against its preferred flavor; groups of its other flavors exist for fallback, empty at rest.
    """
    wanted = [
        (choice, position == 0, demand)
        for demand in (pod for item in fleet.rendered for pod in item.pods)
        for position, choice in enumerate(demand.choices)
        if choice.instance_type and instance(choice.instance_type)
    ]
    kinds: dict[tuple[str, str, str], list[_Group]] = {}
    for choice, preferred, demand in sorted(wanted, key=lambda w: sorted(w[0].labels.items())):
        kind = kinds.setdefault((choice.instance_type or "", choice.capacity, choice.zone or ""), [])
        group = next((g for g in kind if g.takes(choice.labels)), None)
        if group is None:
            group = _Group(choice, {})
            kind.append(group)
        group.labels.update(choice.labels)
        group.possible.append(demand)
        if preferred:
            group.preferred.append(demand)
    return tuple(
        _group_demand(group, name)
        for _, groups in sorted(kinds.items())
        for group, name in zip(groups, _names(groups), strict=True)
    )


def _group_demand(group: _Group, name: str) -> NodeGroupDemand:
    instance_type = group.labels[INSTANCE_TYPE_LABEL]
    nodes = _nodes_for(instance_type, group.preferred)
    return NodeGroupDemand(
        name=name,
        instance_type=instance_type,
        nodes=nodes,
        labels=dict(sorted(group.labels.items())),
        taints=taints(instance_type),
        capacity=group.choice.capacity,
        zone=group.choice.zone,
        max_nodes=max(nodes, min(_MAX_NODES, _nodes_at_most(instance_type, group.possible))),
    )


def _names(groups: list[_Group]) -> list[str]:
    """Name groups of one kind: by type, capacity and zone, then by the labels in which they differ.

    Labels on which all agree stay out of the name: a new one must not replace the nodes.
    """
    keys = sorted({key for group in groups for key in group.labels})
    differ = [key for key in keys if len({g.labels[key] for g in groups if key in g.labels}) > 1]
    names: list[str] = []
    for group in groups:
        choice = group.choice
        parts = [choice.instance_type or "", *([choice.capacity] if choice.capacity != "on-demand" else [])]
        parts += [choice.zone] if choice.zone else []
        parts += [group.labels[key] for key in differ if key in group.labels]
        name = _NOT_IN_NAME.sub("-", "-".join(parts).lower()).strip("-")
        if len(name) > _NAME_LENGTH or name in names:
            digest = hashlib.sha256(repr(sorted(group.labels.items())).encode()).hexdigest()[:6]
            name = f"{name[: _NAME_LENGTH - 7]}-{digest}"
        names.append(name)
    return names


def _nodes_at_most(instance_type: str, demands: list[PodDemand]) -> int:
    """Bound the nodes for the largest number of pods, as if no two models shared a node."""
    node = instance(instance_type)
    offered = allocatable(node) if node else {}
    total = 0
    for demand in demands:
        wanted = {**demand.requests, "pods": Decimal(1)}
        room = min((int(offered.get(k, Decimal(0)) // v) for k, v in wanted.items() if v > 0), default=1)
        total += math.ceil((demand.pods if demand.max_pods is None else demand.max_pods) / max(room, 1))
    return total


def _nodes_for(instance_type: str, demands: list[PodDemand]) -> int:
    """Count nodes by first fit, largest pods first; a pod that fits no node takes one, and ``fit`` reports it."""
    node = instance(instance_type)
    offered = allocatable(node) if node else {}
    scarce = (node.accelerator_resource if node else None) or "pods"
    count, open_nodes = 0, list[dict[str, Decimal]]()
    for demand in sorted(demands, key=lambda d: d.requests.get(scarce, Decimal(0)), reverse=True):
        wanted = {**demand.requests, "pods": Decimal(1)}
        for _ in range(demand.pods):
            room = next((f for f in open_nodes if all(f.get(k, 0) >= v for k, v in wanted.items())), None)
            if room is None:
                room = dict(offered)
                count += 1
                open_nodes.append(room)
            for key, amount in wanted.items():
                room[key] = room.get(key, Decimal(0)) - amount
            if room[scarce] <= 0:
                open_nodes.remove(room)
    return count


def autoscaler_tags(group: NodeGroupDemand) -> dict[str, str]:
    """Return the tags by which the Cluster Autoscaler knows a group without nodes (aws-gpu spec 9)."""
    prefix = "k8s.io/cluster-autoscaler/node-template"
    node = instance(group.instance_type)
    resource = node.accelerator_resource if node else None
    return {
        **{f"{prefix}/label/{key}": value for key, value in group.labels.items()},
        **{f"{prefix}/taint/{t['key']}": f"{t['value']}:{t['effect']}" for t in group.taints},
        **({f"{prefix}/resources/{resource}": str(node.accelerators)} if node and resource else {}),
    }
