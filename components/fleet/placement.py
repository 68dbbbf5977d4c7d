"""Node affinity, taints and tolerations, derived from the same node choices so that they agree (llmaz spec 2.7)."""

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
"""Weights of preferred terms: the Fibonacci numbers 34, 21, 13, 8, 5, 3, 2, 1 scaled to 100 (llmaz spec 2.7)."""


def assign_nodes(spec: Object, choices: tuple[NodeChoice, ...]) -> None:
    """Restrict a pod spec to its node choices: required affinity over all, preferences in order, tolerations."""
    # A choice without labels allows any node, so that an affinity over the others would exclude some of them.
    if choices and all(choice.labels for choice in choices):
        terms = [{"matchExpressions": _expressions(choice)} for choice in choices]
        node = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        required = node.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": []})
        # Terms are ORed. Those of a hand-written template must hold as well, so each is combined with each choice.
        required["nodeSelectorTerms"] = [
            {**old, "matchExpressions": [*old.get("matchExpressions", []), *new["matchExpressions"]]}
            for old in required["nodeSelectorTerms"] or [{}]
            for new in terms
        ]
        if len(terms) > 1:
            node.setdefault("preferredDuringSchedulingIgnoredDuringExecution", []).extend(
                {"weight": weight, "preference": term} for weight, term in zip(_WEIGHTS, terms, strict=False)
            )
    tolerate(spec, (taint["key"] for choice in choices for taint in taints(choice.instance_type)))


def tolerate(spec: Object, keys: Iterable[str]) -> None:
    """Add tolerations for taints with these keys and any value."""
    for key in dict.fromkeys(keys):
        toleration = {"key": key, "operator": "Exists", "effect": "NoSchedule"}
        tolerations = spec.setdefault("tolerations", [])
        if toleration not in tolerations:
            tolerations.append(toleration)


def _expressions(choice: NodeChoice) -> list[Object]:
    accepted = {key: [value] for key, value in choice.labels.items()}
    if choice.instance_type:
        accepted[INSTANCE_TYPE_LABEL] += choice.alternatives
    return [{"key": key, "operator": "In", "values": values} for key, values in accepted.items()]


def taints(instance_type: str | None) -> tuple[dict[str, str], ...]:
    """Return the taints of an instance type; accelerator nodes are reserved for pods that request accelerators."""
    known = instance(instance_type) if instance_type else None
    resource = known.accelerator_resource if known else None
    return ({"key": resource, "value": TAINT_VALUE, "effect": "NoSchedule"},) if resource else ()


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    """Return whether a toleration matches a taint; like in the scheduler, absent fields match everything."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    exists = toleration.get("operator") == "Exists"
    key = toleration.get("key") or ""
    if not key:
        return exists
    return key == taint["key"] and (exists or toleration.get("value") == taint["value"])


def requests_of(pod_spec: Object) -> dict[str, Decimal]:
    """Return the effective requests of a pod: the sum of its containers, or its largest init container.

    A resource with a limit and no request counts with its limit, as the API server defaults it.
    """
    total: dict[str, Decimal] = {}
    for container in pod_spec["containers"]:
        for key, amount in _requests(container).items():
            total[key] = total.get(key, Decimal(0)) + amount
    for container in pod_spec.get("initContainers", ()):
        for key, amount in _requests(container).items():
            total[key] = max(total.get(key, Decimal(0)), amount)
    return total


def requested_by(pod_spec: Object) -> dict[str, None]:
    """Return the resource names that a pod requests, in the order of :func:`requests_of`."""
    containers = (*pod_spec["containers"], *pod_spec.get("initContainers", ()))
    return dict.fromkeys(key for container in containers for key in _amounts(container))


def _requests(container: Object) -> dict[str, Decimal]:
    return {key: parse_quantity(value) for key, value in _amounts(container).items()}


def _amounts(container: Object) -> Object:
    resources = container.get("resources")
    return {**(resources.get("limits") or {}), **(resources.get("requests") or {})} if resources else {}
