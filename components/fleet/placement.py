"""Where pods may run, and what nodes must look like.

One family of functions, so that labels, taints, tolerations and affinity cannot disagree (llmaz spec 2.7).
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from ..contract.quantity import parse_quantity
from .demand import INSTANCE_TYPE_LABEL, NodeChoice
from .instances import instance
from .objects import Object

SHARED_MEMORY = "dshm"
"""Name of the volume at ``/dev/shm``."""
TAINT_VALUE = "true"
_WEIGHTS = (39, 24, 15, 9, 6, 3, 2, 1)
"""Fibonacci numbers 34, 21, 13, 8, 5, 3, 2, 1 of 87, as parts of 100 (llmaz spec 2.7)."""


def assign_nodes(spec: Object, choices: tuple[NodeChoice, ...]) -> None:
    """Bind a pod spec to its nodes: required affinity over all choices, preferences in order, tolerations."""
    affinity = _affinity(choices)
    if affinity:
        node = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        _require(node, affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"])
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution", [])
        if preferred:
            node.setdefault("preferredDuringSchedulingIgnoredDuringExecution", []).extend(preferred)
    tolerate(spec, (taint["key"] for choice in choices for taint in taints(choice.instance_type)))


def tolerate(spec: Object, keys: Iterable[str]) -> None:
    """Let a pod onto nodes with some taints, whatever their value."""
    for key in dict.fromkeys(keys):
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
        {"matchExpressions": [{"key": k, "operator": "In", "values": v} for k, v in _accepted(choice).items()]}
        for choice in choices
    ]
    affinity: Object = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    if len(terms) > 1:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": term} for weight, term in zip(_WEIGHTS, terms, strict=False)
        ]
    return affinity


def _accepted(choice: NodeChoice) -> dict[str, list[str]]:
    """Return the label values that a pod takes, per key."""
    accepted = {key: [value] for key, value in choice.labels.items()}
    if choice.instance_type:
        accepted[INSTANCE_TYPE_LABEL] += choice.alternatives
    return accepted


def taints(instance_type: str | None) -> tuple[dict[str, str], ...]:
    """Return the taints of a node: accelerators are reserved for pods that request them."""
    known = instance(instance_type) if instance_type else None
    resource = known.accelerator_resource if known else None
    return ({"key": resource, "value": TAINT_VALUE, "effect": "NoSchedule"},) if resource else ()


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    """Tell whether a toleration meets a taint, as the scheduler sees it: what is left out matches all."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    exists = toleration.get("operator") == "Exists"
    key = toleration.get("key") or ""
    if not key:
        return exists
    return key == taint["key"] and (exists or toleration.get("value") == taint["value"])


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


def requested_by(pod_spec: Object) -> dict[str, None]:
    """Return the names of what the scheduler counts for a pod, in the order of :func:`requests_of`."""
    containers = (*pod_spec["containers"], *pod_spec.get("initContainers", ()))
    return dict.fromkeys(key for container in containers for key in _stated(container))


def _requests(container: Object) -> dict[str, Decimal]:
    return {key: parse_quantity(value) for key, value in _stated(container).items()}


def _stated(container: Object) -> Object:
    resources = container.get("resources")
    return {**(resources.get("limits") or {}), **(resources.get("requests") or {})} if resources else {}
