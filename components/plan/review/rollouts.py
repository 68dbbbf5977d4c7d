"""How a controller puts a new pod template in the place of the old one: how many replicas at a time."""

import math
from dataclasses import dataclass

from ...fleet.objects import Object
from ...fleet.shapes import PodUpdate, shape_of

_USUAL = PodUpdate()
"""Of what no shape is known for: one replica after the other."""


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


def update_of(body: Object) -> PodUpdate:
    """Return how the controller of a workload replaces its pods."""
    shape = shape_of(body)
    return shape.update_of(body) if shape else _USUAL


def rollout_of(body: Object, replicas: int) -> Rollout:
    """Return what an update of a workload does where there are so many replicas.

    Shares of what is added round up and of what may be missing down; where both come to nothing, one may be missing
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
