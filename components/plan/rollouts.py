"""How a controller rolls out a new pod template: how many replicas at a time."""

import math
from dataclasses import dataclass

from ..fleet.objects import Object
from ..fleet.shapes import PodUpdate, shape_of

_DEFAULT = PodUpdate()
"""For unknown kinds: one replica after the other."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """The effect of an update on replicas.

    Attributes:
        replicas: Replicas that restart.
        short: Maximum number of replicas that are missing at once.
        extra: Maximum number of additional replicas.
        waves: Number of successive steps in which replicas start.
    """

    replicas: int
    short: int
    extra: int
    waves: int


def update_of(body: Object) -> PodUpdate:
    """Return how the controller of a workload replaces its pods."""
    shape = shape_of(body)
    return shape.update_of(body) if shape else _DEFAULT


def rollout_of(body: Object, replicas: int) -> Rollout:
    """Return the effect of an update on a workload with a number of replicas.

    Percentages of ``maxSurge`` round up, those of ``maxUnavailable`` down; if both are 0, one replica may be missing
    (kubernetes/kubernetes v1.36.3, pkg/controller/deployment/util: ResolveFenceposts; kubernetes-sigs/lws,
    pkg/controllers: rollingUpdateParameters, which updates the groups from the partition on).
    """
    update = update_of(body)
    moving = 0 if update.is_manual else max(0, replicas - update.partition)
    if not moving:
        return Rollout(0, 0, 0, 0)
    if update.is_recreate:
        return Rollout(moving, replicas, 0, 1)
    extra = update.added(replicas)
    if update.limits_surge:
        extra = min(extra, replicas)
    short = min(moving, update.missing(replicas))
    if not extra and not short:
        short = 1
    return Rollout(moving, short, min(extra, moving), math.ceil(moving / (short + extra)))
