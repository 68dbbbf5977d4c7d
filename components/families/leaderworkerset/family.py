"""The family of hand-written LeaderWorkerSets."""

from ...contract.kinds import Column, Kind
from ..family import Family, Member
from .rendering import render
from .types import LeaderWorkerSet

LEADER_WORKER_SET = Kind(
    "leaderworkerset.x-k8s.io/v1",
    "LeaderWorkerSet",
    LeaderWorkerSet,
    "leaderworkersets",
    namespaced=True,
    short_names=("lws",),
    scale_selector=".status.hpaPodSelector",
    columns=(
        Column("Ready", "integer", ".status.readyReplicas"),
        Column("Desired", "integer", ".spec.replicas"),
        Column("Up-to-date", "integer", ".status.updatedReplicas"),
    ),
)
FAMILY = Family(
    name="leaderworkerset",
    package=__package__ or "",
    members=(Member(LEADER_WORKER_SET, render, serves=True),),
)
