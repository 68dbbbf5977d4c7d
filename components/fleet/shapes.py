"""The shapes of workloads: everything in which a Deployment, a StatefulSet and a LeaderWorkerSet differ.

A shape says where a workload has its pod templates, how many pods make a replica, by which labels its pods are found,
what scales it, how an update replaces its pods, and which fields the API server never changes. All other modules ask
the shape instead of comparing kinds: a further kind of workload is a further entry of ``SHAPES``.
"""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from .capabilities import LEADER_WORKER_SET as LWS_CONTROLLER
from .objects import LWS_LABEL, Object

POD = "Pod"
"""Kind of the pods that an operator makes one by one."""
_SHARE = "25%"
"""Of replicas that an update of a Deployment adds, and of those that may be missing meanwhile
(kubernetes/kubernetes v1.36.3, pkg/apis/apps/v1/defaults.go: SetDefaults_Deployment)."""


@dataclass(frozen=True, slots=True)
class TemplateField:
    """A field that holds a pod template.

    Attributes:
        path: The field, such as ``spec.template``.
        role: What its pods are called beside other pods of a replica, such as ``leader``; empty if there are no
            others.
    """

    path: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod template of one workload.

    Attributes:
        field: Where it is.
        body: The template.
        pods: How many pods of one replica are made of it.
    """

    field: TemplateField
    body: Object
    pods: int


@dataclass(frozen=True, slots=True)
class PodUpdate:
    """How the controller of one workload replaces its pods when their template changes.

    Attributes:
        surge: Replicas that it adds meanwhile: a number, or a percentage, which is rounded up.
        unavailable: Replicas that may be missing meanwhile: a number or a percentage.
        rounds_up: Whether the percentage that may be missing is rounded up; otherwise down.
        limits_surge: Whether the controller adds no more replicas than there are, whatever ``surge`` says.
        partition: Index of the first replica that is replaced.
        is_recreate: Whether all pods end before the first new one starts.
        is_manual: Whether each pod keeps its template until somebody deletes it.
    """

    surge: int | str = 0
    unavailable: int | str = 1
    rounds_up: bool = False
    limits_surge: bool = False
    partition: int = 0
    is_recreate: bool = False
    is_manual: bool = False

    def added(self, replicas: int) -> int:
        """Count the replicas that it asks for in addition to so many."""
        return 0 if self.is_recreate else _count(self.surge, replicas, math.ceil)

    def missing(self, replicas: int) -> int:
        """Count the replicas that may be missing of so many."""
        return _count(self.unavailable, replicas, math.ceil if self.rounds_up else math.floor)


def _count(amount: int | str, replicas: int, rounded: Callable[[Decimal], int]) -> int:
    if isinstance(amount, str):
        return rounded(Decimal(amount.removesuffix("%")) * replicas / 100)
    return int(amount)


@dataclass(frozen=True, slots=True)
class WorkloadShape:
    """What all workloads of one kind have in common.

    Attributes:
        kind: Their kind; ``Pod`` where an operator makes the pods one by one.
        api_version: Its API version.
        templates: The fields with pod templates, that of the pods that take requests first. If the first is absent
            in a workload, the pods of the next one take requests.
        restarted_by: The field below which every change replaces pods.
        update_of: Reads how the pods of one of them are replaced.
        unfinished: Says of one of them, as a cluster has it, what is still to come until all its replicas work;
            empty once they do. None where a cluster may lack the controller, so that waiting could last forever.
        starts_in_order: Tells whether each replica of one of them starts only when the one before is ready.
        fixed: Fields that the API server refuses to change: only a new object can have others.
        group_field: The field of ``spec`` with the number of pods of a replica; empty if that is always one pod.
        has_selector: Whether ``spec.selector`` chooses their pods; otherwise their controller labels these.
        makes_service: Whether their controller makes a headless Service of the same name.
        makes_sets: Whether their controller makes a StatefulSet of the same name, and one per replica of its workers.
        is_set: Whether pods carry the name of a StatefulSet in the label ``controller-revision-hash``.
        claims_field: The field with templates of PersistentVolumeClaims, of which each pod gets its own; empty if
            there is none.
        requires: What the cluster must provide for them; see ``capabilities``.
    """

    kind: str
    api_version: str
    templates: tuple[TemplateField, ...]
    restarted_by: str
    update_of: Callable[[Object], PodUpdate]
    unfinished: Callable[[Mapping[str, Any]], str] | None = None
    starts_in_order: Callable[[Object], bool] = lambda _: False
    fixed: tuple[str, ...] = ()
    group_field: str = ""
    has_selector: bool = True
    makes_service: bool = False
    makes_sets: bool = False
    is_set: bool = False
    claims_field: str = ""
    requires: frozenset[str] = frozenset()

    @property
    def group(self) -> str:
        """The API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def has_groups(self) -> bool:
        """Whether a replica may be several pods that work together."""
        return bool(self.group_field)

    def pod_templates(self, body: Object) -> tuple[PodTemplate, ...]:
        """Return the templates that a workload has, that of the pods that take requests first."""
        found = [(each, template) for each in self.templates if (template := _at(body, each.path))]
        if not found:
            return ()
        # A leader is one pod of its group; all others are of the last template.
        counts = [1] * (len(found) - 1) + [self.size_of(body) - len(found) + 1]
        return tuple(PodTemplate(*pair, pods) for pair, pods in zip(found, counts, strict=True))

    def size_of(self, body: Object) -> int:
        """Return the pods of one replica of a workload."""
        stated = _at(body, f"spec.{self.group_field}") if self.group_field else None
        return 1 if stated is None else int(stated)

    def labels_of(self, body: Object) -> tuple[dict[str, str], dict[str, str] | None]:
        """Return the labels of a workload's pods that take requests, and those of all pods of a group.

        The latter are None where each pod is on its own.
        """
        if self.has_selector:
            return dict(body["spec"]["selector"]["matchLabels"]), None
        group = {f"{LWS_LABEL}/name": str(body["metadata"]["name"])}
        return {**group, f"{LWS_LABEL}/worker-index": "0"}, group

    def claims_of(self, body: Object) -> dict[str, Object]:
        """Return the specs of the claims of which each pod of a workload gets its own, by their names."""
        found = _at(body, self.claims_field) if self.claims_field else None
        # A template that lacks its name or its spec is the API server's to refuse; what there is is returned.
        return {str((each.get("metadata") or {}).get("name", "")): each.get("spec") or {} for each in found or ()}

    def target(self, name: str) -> Object:
        """Return what an autoscaler says to scale a workload of a name, by its subresource ``scale``."""
        return {"apiVersion": self.api_version, "kind": self.kind, "name": name}

    def as_single_pods(self) -> "WorkloadShape":
        """Return the shape of pods that an operator makes one by one, laid out like those of this one."""
        return _single_pods(self)


def _at(body: Object, path: str) -> Any:  # noqa: ANN401  any field
    found: Any = body
    for step in path.split("."):
        found = (found or {}).get(step)
    return found


@functools.cache
def _single_pods(shape: WorkloadShape) -> WorkloadShape:
    return replace(
        shape,
        kind=POD,
        api_version="v1",
        unfinished=None,
        makes_service=False,
        makes_sets=False,
        is_set=False,
        requires=frozenset(),
    )


# -- how updates are stated


def _deployment_update(body: Object) -> PodUpdate:
    strategy = body["spec"].get("strategy") or {}
    bounds = {"maxSurge": _SHARE, "maxUnavailable": _SHARE} | _stated(strategy.get("rollingUpdate"))
    is_recreate = strategy.get("type") == "Recreate"
    return PodUpdate(bounds["maxSurge"], bounds["maxUnavailable"], is_recreate=is_recreate)


def _set_update(body: Object) -> PodUpdate:
    """Read the update of a StatefulSet, which deletes each pod before it creates the next one under its name.

    Pods that are made in order are replaced one at a time. Otherwise as many as are stated may be missing, which
    servers before 1.35 ignore unless asked (kubernetes/kubernetes v1.36.3, pkg/apis/apps/types.go:
    RollingUpdateStatefulSetStrategy).
    """
    strategy = body["spec"].get("updateStrategy") or {}
    bounds = {"maxUnavailable": 1, "partition": 0} | _stated(strategy.get("rollingUpdate"))
    return PodUpdate(
        unavailable=1 if _is_ordered(body) else bounds["maxUnavailable"],
        rounds_up=True,
        partition=int(bounds["partition"]),
        is_manual=strategy.get("type") == "OnDelete",
    )


def _is_ordered(body: Object) -> bool:
    return bool(body["spec"].get("podManagementPolicy") != "Parallel")


def group_update(rollout: Object) -> PodUpdate:
    """Read the ``rolloutStrategy`` of a LeaderWorkerSet (kubernetes-sigs/lws, api/leaderworkerset/v1)."""
    bounds = {"maxSurge": 0, "maxUnavailable": 1, "partition": 0} | _stated(rollout.get("rollingUpdateConfiguration"))
    # The controller adds no more groups than there are (pkg/controllers: rollingUpdateParameters).
    return PodUpdate(
        bounds["maxSurge"], bounds["maxUnavailable"], limits_surge=True, partition=int(bounds["partition"])
    )


def _stated(bounds: Object | None) -> Object:
    return {name: value for name, value in (bounds or {}).items() if value is not None}


# -- when all replicas work


def _deployment_unfinished(live: Mapping[str, Any]) -> str:
    status, wanted = live.get("status", {}), live["spec"].get("replicas", 1)
    if _is_unobserved(live):
        return _UNOBSERVED
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if status.get("replicas", 0) > updated:
        return f"{status['replicas'] - updated} old pods still exist"
    return "" if updated >= wanted and available >= wanted else f"{available} of {wanted} pods available"


def _set_unfinished(live: Mapping[str, Any]) -> str:
    """Say what a StatefulSet waits for; pods that it keeps back by its own strategy are not waited for."""
    status, wanted = live.get("status", {}), live["spec"].get("replicas", 1)
    if _is_unobserved(live):
        return _UNOBSERVED
    update = _set_update(dict(live))
    moving = 0 if update.is_manual else max(0, wanted - update.partition)
    ready, updated = status.get("readyReplicas", 0), status.get("updatedReplicas", 0)
    there = min(moving, status.get("replicas", 0))
    if updated < there:
        return f"{there - updated} old pods still exist"
    return "" if ready >= wanted else f"{ready} of {wanted} pods ready"


_UNOBSERVED = "not observed by its controller yet"


def _is_unobserved(live: Mapping[str, Any]) -> bool:
    return bool(live.get("status", {}).get("observedGeneration", 0) < live["metadata"]["generation"])


# -- the shapes

_POD_TEMPLATE = TemplateField("spec.template")
DEPLOYMENT = WorkloadShape(
    kind="Deployment",
    api_version="apps/v1",
    templates=(_POD_TEMPLATE,),
    restarted_by=_POD_TEMPLATE.path,
    update_of=_deployment_update,
    unfinished=_deployment_unfinished,
    fixed=("spec.selector",),
)
STATEFUL_SET = WorkloadShape(
    kind="StatefulSet",
    api_version="apps/v1",
    templates=(_POD_TEMPLATE,),
    restarted_by=_POD_TEMPLATE.path,
    update_of=_set_update,
    unfinished=_set_unfinished,
    starts_in_order=_is_ordered,
    # kubernetes/kubernetes v1.36.3, pkg/apis/apps/validation: ValidateStatefulSetUpdate
    fixed=("spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"),
    is_set=True,
    claims_field="spec.volumeClaimTemplates",
)
LEADER_WORKER_SET = WorkloadShape(
    kind="LeaderWorkerSet",
    api_version="leaderworkerset.x-k8s.io/v1",
    templates=(
        TemplateField("spec.leaderWorkerTemplate.leaderTemplate", "leader"),
        TemplateField("spec.leaderWorkerTemplate.workerTemplate", "worker"),
    ),
    restarted_by="spec.leaderWorkerTemplate",
    update_of=lambda body: group_update(body["spec"].get("rolloutStrategy") or {}),
    group_field="leaderWorkerTemplate.size",
    has_selector=False,
    makes_service=True,
    makes_sets=True,
    is_set=True,
    claims_field="spec.leaderWorkerTemplate.volumeClaimTemplates",
    requires=frozenset({LWS_CONTROLLER}),
)
SHAPES = (DEPLOYMENT, STATEFUL_SET, LEADER_WORKER_SET)
_BY_KIND = {shape.kind: shape for shape in SHAPES}


def shape_of(body: Mapping[str, Any]) -> WorkloadShape | None:
    """Return the shape of an object; None if it is no workload, such as a namesake in another API group."""
    shape = _BY_KIND.get(str(body.get("kind")))
    if shape is None or body.get("apiVersion", shape.api_version) == shape.api_version:
        return shape
    # Another version of the same API is the same kind.
    return shape if str(body["apiVersion"]).rpartition("/")[0] == shape.group else None


def shape_named(kind: str) -> WorkloadShape | None:
    """Return the shape of a kind; None if it is no kind of workloads."""
    return _BY_KIND.get(kind)


def pod_templates(body: Object) -> tuple[PodTemplate, ...]:
    """Return the pod templates of a workload, that of the pods that take requests first; none of other objects."""
    shape = shape_of(body)
    return shape.pod_templates(body) if shape else ()
