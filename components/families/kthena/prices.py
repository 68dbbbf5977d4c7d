"""The cost of a replica in US cents per hour, by which Kthena's optimizer orders backends and targets."""

from collections.abc import Iterable
from decimal import ROUND_CEILING

from ...contract.base import Json
from ...fleet.demand import TYPE_LABELS, NodeChoice, PodDemand
from ...fleet.placement import requests_of
from ...performance.simulation.prices import replica_price


def cost_of(pods: Iterable[PodDemand]) -> int | None:
    """Return the on-demand price in us-east-1 of the pods' share of their nodes, rounded up; None if unknown."""
    price = replica_price(pods)
    return None if price is None else int((price * 100).to_integral_value(ROUND_CEILING))


def backend_cost(backend: Json) -> int | None:
    """Return the cost of a replica of a ModelBackend; None if its workers do not select instance types."""
    pods = []
    for worker in backend.workers:
        count = (1 if worker.replicas is None else worker.replicas) * (1 if worker.pods is None else worker.pods)
        requests = requests_of({"containers": [{"resources": worker.resources or {}}]})
        affinity = (worker.affinity or {}).get("nodeAffinity") or {}
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
        choices = tuple(
            NodeChoice("affinity", str(instance_type))
            for term in required.get("nodeSelectorTerms") or ()
            for expression in term.get("matchExpressions") or ()
            if expression.get("key") in TYPE_LABELS and expression.get("operator") == "In"
            for instance_type in expression.get("values") or ()
        )
        pods.append(PodDemand(count, requests, choices, per_replica=count))
    return cost_of(pods)
