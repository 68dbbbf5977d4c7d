"""What a replica costs, in whole US cents an hour: what Kthena's optimizer orders backends and targets by."""

from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING
from typing import Any

from ...contract.base import Json
from ...fleet.demand import TYPE_LABELS, NodeChoice, PodDemand
from ...fleet.placement import requests_of
from ...performance.simulation.prices import replica_price

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_CENTS = 100


def cost_of(pods: Iterable[PodDemand]) -> int | None:
    """Return what the pods of a replica take of their nodes, on demand in us-east-1; None where it is not known."""
    price = replica_price(pods)
    return None if price is None else int((price * _CENTS).to_integral_value(ROUND_CEILING))


def backend_cost(backend: Json) -> int | None:
    """Return what a replica of a ModelBackend costs, as far as its workers say which nodes they are for."""
    return cost_of(_pods(worker) for worker in backend.workers)


def _pods(worker: Json) -> PodDemand:
    count = (1 if worker.replicas is None else worker.replicas) * (1 if worker.pods is None else worker.pods)
    requests = requests_of({"containers": [{"resources": worker.resources or {}}]})
    choices = tuple(NodeChoice("affinity", name) for name in _types(worker.affinity or {}))
    return PodDemand(count, requests, choices, per_replica=count)


def _types(affinity: dict[str, Any]) -> Iterator[str]:
    """Yield the instance types that a pod is for, the first choice first."""
    required = (affinity.get("nodeAffinity") or {}).get(_REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for each in term.get("matchExpressions") or ():
            if each.get("key") in TYPE_LABELS and each.get("operator") == "In":
                yield from map(str, each.get("values") or ())
