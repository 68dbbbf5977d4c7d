"""How a controller puts a new pod template in the place of the old one: how many replicas at a time."""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...fleet.objects import LEADER_WORKER_SET, Object
from ...fleet.workloads import surge_in

_USUAL_UNAVAILABLE = {LEADER_WORKER_SET: 1}
"""Of other workloads it is a share, as their surge is (kubernetes/kubernetes v1.36.3, pkg/apis/apps/v1/defaults.go:
SetDefaults_Deployment); of LeaderWorkerSets one group (kubernetes-sigs/lws, api/leaderworkerset/v1)."""
_USUAL_SHARE = "25%"


@dataclass(frozen=True, slots=True)
class Rollout:
    """What an update does to replicas.

    Attributes:
        replicas: How many restart.
        short: How many are missing at once, at most.
        extra: How many there are on top, at most.
        waves: How many times replicas start one after the other.
    """

    replicas: int
    short: int
    extra: int
    waves: int


def rollout_of(body: Object, replicas: int) -> Rollout:
    """Return what an update of a workload does where there are so many replicas.

    Shares of what is added round up and of what may be missing down; where both come to nothing, one may be missing
    (kubernetes/kubernetes v1.36.3, pkg/controller/deployment/util: ResolveFenceposts; kubernetes-sigs/lws,
    pkg/controllers: rollingUpdateParameters, which adds no more groups than there are, and updates those from the
    partition on).
    """
    moving = max(0, replicas - _partition(body))
    if not moving:
        return Rollout(0, 0, 0, 0)
    if (body["spec"].get("strategy") or {}).get("type") == "Recreate":
        return Rollout(moving, replicas, 0, 1)
    extra = surge_in(body, replicas)
    if body["kind"] == LEADER_WORKER_SET:
        extra = min(extra, replicas)
    short = min(moving, _unavailable_in(body, replicas))
    if not extra and not short:
        short = 1
    return Rollout(moving, short, min(extra, moving), math.ceil(moving / (short + extra)))


def _bounds(body: Object) -> Object:
    spec = body["spec"]
    if body["kind"] == LEADER_WORKER_SET:
        found: Object = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    else:
        found = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    return found


def _partition(body: Object) -> int:
    """Return the index from which on groups are updated."""
    return int(_bounds(body).get("partition") or 0) if body["kind"] == LEADER_WORKER_SET else 0


def _unavailable_in(body: Object, replicas: int) -> int:
    stated: Any = _bounds(body).get("maxUnavailable")
    if stated is None:
        stated = _USUAL_UNAVAILABLE.get(str(body["kind"]), _USUAL_SHARE)
    if isinstance(stated, str):
        return math.floor(Decimal(stated.removesuffix("%")) * replicas / 100)
    return int(stated)
