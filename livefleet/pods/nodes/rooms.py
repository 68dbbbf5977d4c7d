"""Where a pod fits: what the scheduler looks at first, so that no node is started in vain.

Labels, taints and resources are looked at, as ``NodeAffinity``, ``TaintToleration`` and ``NodeResourcesFit`` of
kube-scheduler do. Spread constraints, affinity between pods and volumes are not: whether a pod goes onto a node that
was started for it stays the scheduler's matter.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from components.contract.quantity import parse_quantity
from components.fleet.placement import requests_of, tolerates

from ..selecting import is_met

Json = Mapping[str, Any]
_ONE = Decimal(1)
CORDON = "node.kubernetes.io/unschedulable"
_PASSING = (CORDON, "node.kubernetes.io/not-ready")
"""Taints that the node controller sets, and takes away again."""


class NodeRoom:
    """What is left of a node."""

    def __init__(self, node: Json, pods: Iterable[Json] = ()) -> None:
        self.node = node
        offered = node.get("status", {}).get("allocatable") or {}
        self._free = {key: parse_quantity(amount) for key, amount in offered.items()}
        for pod in pods:
            self.take(pod)

    def take(self, pod: Json) -> None:
        """Give room to a pod."""
        for key, amount in _needs(pod).items():
            self._free[key] = self._free.get(key, Decimal(0)) - amount

    def fits(self, pod: Json) -> bool:
        """Tell whether a pod may run there and finds room."""
        return is_allowed(pod, self.node) and all(
            amount <= self._free.get(key, Decimal(0)) for key, amount in _needs(pod).items() if amount
        )


def is_allowed(pod: Json, node: Json) -> bool:
    """Tell whether a pod may run on a node, with room or without."""
    spec, labels = pod["spec"], node["metadata"].get("labels") or {}
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    terms = (_affinity(pod).get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms")
    if terms is not None and not any(_meets(term, node) for term in terms):
        return False
    taints = (node.get("spec") or {}).get("taints") or ()
    return all(
        any(tolerates(each, taint) for each in spec.get("tolerations") or ())
        for taint in taints
        if taint["effect"] != "PreferNoSchedule" and taint["key"] not in _PASSING
    )


def preference(pod: Json, node: Json) -> int:
    """Return how much a pod prefers a node: the sum of the weights of what it meets."""
    preferred = _affinity(pod).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return sum(each["weight"] for each in preferred if _meets(each["preference"], node))


def _affinity(pod: Json) -> Json:
    return (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def _meets(term: Json, node: Json) -> bool:
    """Tell whether a node meets a term; an empty one chooses nothing."""
    labels, name = node["metadata"].get("labels") or {}, {"metadata.name": node["metadata"]["name"]}
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return bool(expressions or fields) and (
        all(is_met(each, labels) for each in expressions) and all(is_met(each, name) for each in fields)
    )


def _needs(pod: Json) -> dict[str, Decimal]:
    return {**requests_of(dict(pod["spec"])), "pods": _ONE}
