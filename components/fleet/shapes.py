"""Workload shapes: everything in which Deployments, StatefulSets and LeaderWorkerSets differ.

A shape describes the pod templates of a workload, the pods of a replica, the labels of its pods, its scale target,
how an update replaces its pods, and its immutable fields. All other modules ask the shape instead of comparing kinds,
so that supporting another kind means adding an entry to ``SHAPES``.
"""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from .controllers import Controller, Course, TemplateChange, deployment, leader_worker_set, stateful_set
from .objects import LWS_LABEL, Object
from .words import LEADER_WORKER_SET as LWS_CONTROLLER

POD = "Pod"
"""Kind of pods that an operator creates without a workload object."""
# Default maxSurge and maxUnavailable of a Deployment (kubernetes/kubernetes v1.36.3, pkg/apis/apps/v1/defaults.go:
# SetDefaults_Deployment).
_DEFAULT_SURGE = "25%"
_RECREATE, _ON_DELETE = "Recreate", "OnDelete"


class TemplateField(NamedTuple):
    """A field that holds a pod template.

    Attributes:
        path: The field, such as ``spec.template``.
        role: Role of its pods within a replica, such as ``leader``; empty if all pods of a replica are equal.
    """

    path: str
    role: str = ""


class PodTemplate(NamedTuple):
    """A pod template of one workload.

    Attributes:
        pods: Pods of one replica that are created from it.
    """

    field: TemplateField
    body: Object
    pods: int


class PodUpdate(NamedTuple):
    """How the controller of a workload replaces its pods when their template changes.

    Attributes:
        surge: Extra replicas during the update: a number, or a percentage that is rounded up.
        unavailable: Replicas that may be unavailable: a number, or a percentage that is rounded down.
        one_by_one: Whether at most one replica is unavailable, whatever ``unavailable`` allows.
        partition: Index of the first replica that is replaced.
        is_recreate: Whether all pods terminate before the first new one starts.
        is_manual: Whether pods keep their template until they are deleted by hand.
        is_paused: Whether pods keep their template until the update is resumed.
    """

    surge: int | str = 0
    unavailable: int | str = 1
    one_by_one: bool = False
    partition: int = 0
    is_recreate: bool = False
    is_manual: bool = False
    is_paused: bool = False

    def added(self, replicas: int) -> int:
        """Return the extra replicas that an update of this many replicas creates."""
        return 0 if self.is_recreate else _count(self.surge, replicas, math.ceil)

    def missing(self, replicas: int) -> int:
        """Return how many of this many replicas an update makes unavailable."""
        return min(1, self.allowed(replicas)) if self.one_by_one else self.allowed(replicas)

    def allowed(self, replicas: int) -> int:
        """Return how many of this many replicas may be unavailable."""
        return _count(self.unavailable, replicas, math.floor)


def _count(amount: int | str, replicas: int, rounding: Callable[[Decimal], int]) -> int:
    if isinstance(amount, str):
        return rounding(Decimal(amount.removesuffix("%")) * replicas / 100)
    return int(amount)


class WorkloadShape(NamedTuple):
    """What all workloads of one kind have in common.

    Attributes:
        kind: Their kind; ``Pod`` if an operator creates the pods without a workload object.
        api_version: API version of the kind.
        templates: The pod template fields, that of the pods that receive requests first. If a workload lacks the
            first one, the pods of the next one receive requests.
        restarted_by: Changes of or below these fields replace pods.
        set_annotations: Annotations that are part of the pods of a StatefulSet that its controller creates, but not
            of a revision: that StatefulSet replaces the pods one at a time, whatever the strategy of the workload.
        update_of: Returns how the pods of a workload are replaced.
        controller: The model of the controller that replaces them.
        completed: Returns a workload with the defaults that its admission adds to fields in ``restarted_by``.
        rollout_status: Returns what a live workload still waits for until all its replicas are ready; empty when
            they are. None if the cluster may lack the controller, so that waiting might never end.
        ready_condition: Condition of the status that is true once all replicas are ready and of the latest revision;
            empty for kinds that Pulumi's provider waits for by itself.
        starts_in_order: Returns whether each replica of a workload starts only after the previous one is ready.
        start_first: Makes updates of a workload start a new replica before they stop an old one, in place; None if
            its controller cannot.
        fixed: Immutable fields; changing one requires a new object.
        group_field: The field of ``spec`` with the pods of a replica; empty if a replica is always one pod.
        has_selector: Whether ``spec.selector`` selects their pods; otherwise their controller labels them.
        makes_service: Whether their controller creates a headless Service of the same name.
        makes_sets: Whether their controller creates a StatefulSet of the same name for the leaders, and one per
            replica for its workers.
        is_set: Whether pods carry the name of a StatefulSet in the label ``controller-revision-hash``.
        claims_field: The field with PersistentVolumeClaim templates, from which each pod gets its own claims; empty
            without one.
        requires: Capabilities that the cluster must provide; see ``words``.
    """

    kind: str
    api_version: str
    templates: tuple[TemplateField, ...]
    restarted_by: tuple[str, ...]
    update_of: Callable[[Object], PodUpdate]
    controller: Controller = stateful_set
    set_annotations: tuple[str, ...] = ()
    completed: Callable[[Object], Object] = lambda body: body
    rollout_status: Callable[[Mapping[str, Any]], str] | None = None
    ready_condition: str = ""
    starts_in_order: Callable[[Object], bool] = lambda _: False
    start_first: Callable[[Object], None] | None = None
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
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def has_groups(self) -> bool:
        """Whether a replica may consist of several pods."""
        return bool(self.group_field)

    def pod_templates(self, body: Object) -> tuple[PodTemplate, ...]:
        """Return the pod templates of a workload, that of the pods that receive requests first."""
        present = [
            (template_path, template)
            for template_path in self.templates
            if (template := _at(body, template_path.path))
        ]
        if not present:
            return ()
        # A leader is one pod of its group; all other pods come from the last template.
        counts = [1] * (len(present) - 1) + [self.size_of(body) - len(present) + 1]
        return tuple(PodTemplate(*pair, pods) for pair, pods in zip(present, counts, strict=True))

    def course(self, body: Object, after: int, before: int | None = None, room: int | None = None) -> Course:
        """Return the course of an update of the pods of a workload.

        Args:
            body: The workload after the update.
            after: Its replicas after the update.
            before: Its replicas before; None for the same number.
            room: Replicas that have room at the same time; None if all have.
        """
        return self.controller(self._change(body, after, before, room))

    def scaling(self, body: Object, old: Object, after: int, before: int, room: int | None = None) -> Course:
        """Return the course of an edit that leaves the template of a workload as it is; see ``course``.

        Args:
            body: The workload after the update.
            old: The workload before it.
            after: Its replicas after the update.
            before: Its replicas before.
            room: Replicas that have room at the same time; None if all have.
        """
        change = self._change(body, after, before, room)
        return self.controller(replace(change, held=self.update_of(old).partition, is_scaling=True))

    def set_course(self, body: Object, after: int, before: int, room: int | None = None) -> Course:
        """Return the course of an edit of ``set_annotations``; see ``course``."""
        return stateful_set(self._change(body, after, before, room))

    def _change(self, body: Object, after: int, before: int | None, room: int | None) -> TemplateChange:
        update = self.update_of(body)
        return TemplateChange(
            before=after if before is None else before,
            after=after,
            surge=update.added(after),
            unavailable=update.allowed(after),
            partition=update.partition,
            recreates=update.is_recreate,
            keeps=update.is_manual or update.is_paused,
            ordered=self.starts_in_order(body),
            room=room,
        )

    def size_of(self, body: Object) -> int:
        """Return the number of pods of one replica."""
        size = _at(body, f"spec.{self.group_field}") if self.group_field else None
        return 1 if size is None else int(size)

    def labels_of(self, body: Object) -> tuple[dict[str, str], dict[str, str] | None]:
        """Return the labels of the pods that receive requests, and those of all pods of a group.

        The latter is None if a replica is a single pod.
        """
        if self.has_selector:
            return dict(body["spec"]["selector"]["matchLabels"]), None
        group = {f"{LWS_LABEL}/name": str(body["metadata"]["name"])}
        return {**group, f"{LWS_LABEL}/worker-index": "0"}, group

    def claims_of(self, body: Object) -> dict[str, Object]:
        """Return the specs of the claims that each pod gets its own copy of, by name."""
        claims = _at(body, self.claims_field) if self.claims_field else None
        # The API server rejects templates without a name or a spec; they must not break rendering before that.
        return {str((claim.get("metadata") or {}).get("name", "")): claim.get("spec") or {} for claim in claims or ()}

    def target(self, name: str) -> Object:
        """Return the ``scaleTargetRef`` of a workload."""
        return {"apiVersion": self.api_version, "kind": self.kind, "name": name}

    def as_single_pods(self) -> "WorkloadShape":
        """Return the shape of pods that an operator creates without a workload object, laid out like this one."""
        return _as_single_pods(self)


def _at(body: Object, path: str) -> Any:  # noqa: ANN401  any field
    value: Any = body
    for step in path.split("."):
        if not value:
            return None
        value = value.get(step)
    return value


@functools.cache
def _as_single_pods(shape: WorkloadShape) -> WorkloadShape:
    return shape._replace(
        kind=POD,
        api_version="v1",
        rollout_status=None,
        ready_condition="",
        makes_service=False,
        makes_sets=False,
        is_set=False,
        requires=frozenset(),
    )


# Updates


def _deployment_update(body: Object) -> PodUpdate:
    strategy = body["spec"].get("strategy") or {}
    bounds = {"maxSurge": _DEFAULT_SURGE, "maxUnavailable": _DEFAULT_SURGE} | _set_keys(strategy.get("rollingUpdate"))
    return PodUpdate(
        bounds["maxSurge"],
        bounds["maxUnavailable"],
        is_recreate=strategy.get("type") == _RECREATE,
        is_paused=bool(body["spec"].get("paused")),
    )


def _set_update(body: Object) -> PodUpdate:
    # The controller deletes each pod before it creates its successor under the same name, one at a time: the API
    # server drops maxUnavailable, whose feature is off by default (``controllers``).
    strategy = body["spec"].get("updateStrategy") or {}
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    return PodUpdate(one_by_one=True, partition=int(partition), is_manual=strategy.get("type") == _ON_DELETE)


def _is_ordered(body: Object) -> bool:
    return bool(body["spec"].get("podManagementPolicy") != "Parallel")


def group_update(rollout: Object) -> PodUpdate:
    """Return the update that the ``rolloutStrategy`` of a LeaderWorkerSet describes.

    Source: kubernetes-sigs/lws, api/leaderworkerset/v1.
    """
    bounds = {"maxSurge": 0, "maxUnavailable": 1, "partition": 0} | _set_keys(
        rollout.get("rollingUpdateConfiguration")
    )
    # The leaders are a StatefulSet, which replaces one at a time (``controllers``).
    return PodUpdate(
        bounds["maxSurge"], bounds["maxUnavailable"], one_by_one=True, partition=int(bounds["partition"])
    )


def _completed_groups(body: Object) -> Object:
    # pkg/webhooks/leaderworkerset_webhook.go: Default
    network = {"subdomainPolicy": "Shared", **_set_keys(body["spec"].get("networkConfig"))}
    template = {"restartPolicy": "RecreateGroupOnPodRestart", **_set_keys(body["spec"].get("leaderWorkerTemplate"))}
    if template["restartPolicy"] == "Default":
        template["restartPolicy"] = "None"
    return {**body, "spec": {**body["spec"], "networkConfig": network, "leaderWorkerTemplate": template}}


def _deployment_first(body: Object) -> None:
    update = _deployment_update(body)
    if not update.is_recreate:
        bounds = {"maxUnavailable": 0, "maxSurge": update.surge or 1}
        body["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": bounds}


def _groups_first(body: Object) -> None:
    rollout = body["spec"].get("rolloutStrategy") or {}
    bounds = {"maxUnavailable": 0, "maxSurge": group_update(rollout).surge or 1}
    bounds = {**_set_keys(rollout.get("rollingUpdateConfiguration")), **bounds}
    body["spec"]["rolloutStrategy"] = {**rollout, "type": "RollingUpdate", "rollingUpdateConfiguration": bounds}


def kept_strategy(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the strategy in which bounds that the API server has set forbid the new type; empty if none do.

    It sets the bounds of a rolling update that an object lacks: of a Deployment always, of a StatefulSet without a
    type. These defaults have no field manager under server-side apply, so no update removes them. ``Recreate`` and
    ``OnDelete`` forbid them (kubernetes/kubernetes v1.36.3, pkg/apis/apps: defaults and validation). An update that
    owns one of the bounds removes all of them.
    """
    shape = shape_of(new)
    if shape is None or shape not in (DEPLOYMENT, STATEFUL_SET) or old.get("kind") != shape.kind:
        return ""
    is_deployment = shape is DEPLOYMENT
    field, type_ = ("strategy", _RECREATE) if is_deployment else ("updateStrategy", _ON_DELETE)
    before, after = ((body.get("spec") or {}).get(field) or {} for body in (old, new))
    is_changed = after.get("type") == type_ and before.get("type") != type_
    is_set = before.get("rollingUpdate") is None and (is_deployment or before.get("type") is None)
    return f"spec.{field}" if is_changed and is_set else ""


def _set_keys(bounds: Object | None) -> Object:
    return {name: value for name, value in (bounds or {}).items() if value is not None}


# Rollouts


def _deployment_rollout_status(live: Mapping[str, Any]) -> str:
    status, desired = live.get("status", {}), live["spec"].get("replicas", 1)
    if _is_unobserved(live):
        return _UNOBSERVED
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if status.get("replicas", 0) > updated:
        return f"{status['replicas'] - updated} old pods still exist"
    return "" if updated >= desired and available >= desired else f"{available} of {desired} pods available"


def _set_rollout_status(live: Mapping[str, Any]) -> str:
    status, desired = live.get("status", {}), live["spec"].get("replicas", 1)
    if _is_unobserved(live):
        return _UNOBSERVED
    update = _set_update(dict(live))
    # Pods that the strategy keeps at the old revision do not count as pending.
    moving = 0 if update.is_manual else max(0, desired - update.partition)
    ready, updated = status.get("readyReplicas", 0), status.get("updatedReplicas", 0)
    current = min(moving, status.get("replicas", 0))
    if updated < current:
        return f"{current - updated} old pods still exist"
    return "" if ready >= desired else f"{ready} of {desired} pods ready"


_UNOBSERVED = "not observed by its controller yet"


def _is_unobserved(live: Mapping[str, Any]) -> bool:
    return bool(live.get("status", {}).get("observedGeneration", 0) < live["metadata"].get("generation", 0))


# Shapes

_POD_TEMPLATE = TemplateField("spec.template")
DEPLOYMENT = WorkloadShape(
    kind="Deployment",
    api_version="apps/v1",
    templates=(_POD_TEMPLATE,),
    restarted_by=(_POD_TEMPLATE.path,),
    update_of=_deployment_update,
    controller=deployment,
    rollout_status=_deployment_rollout_status,
    start_first=_deployment_first,
    fixed=("spec.selector",),
)
STATEFUL_SET = WorkloadShape(
    kind="StatefulSet",
    api_version="apps/v1",
    templates=(_POD_TEMPLATE,),
    restarted_by=(_POD_TEMPLATE.path,),
    update_of=_set_update,
    rollout_status=_set_rollout_status,
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
    restarted_by=("spec.leaderWorkerTemplate", "spec.networkConfig"),
    update_of=lambda body: group_update(body["spec"].get("rolloutStrategy") or {}),
    controller=leader_worker_set,
    # pkg/controllers/leaderworkerset_controller.go: constructLeaderStatefulSetApplyConfiguration
    set_annotations=(f"{LWS_LABEL}/exclusive-topology", f"{LWS_LABEL}/subgroup-exclusive-topology"),
    completed=_completed_groups,
    # kubernetes-sigs/lws v0.9.0, pkg/controllers: updateConditions; each condition has the observed generation.
    ready_condition="Available",
    start_first=_groups_first,
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
    """Return the shape of an object; None if it is not a workload.

    Kinds of the same name in another API group are not workloads.
    """
    shape = _BY_KIND.get(str(body.get("kind")))
    if shape is None or body.get("apiVersion", shape.api_version) == shape.api_version:
        return shape
    # Another version of the same API is the same kind.
    return shape if str(body["apiVersion"]).rpartition("/")[0] == shape.group else None


def shape_named(kind: str) -> WorkloadShape | None:
    """Return the shape of a workload kind; None for other kinds."""
    return _BY_KIND.get(kind)


def pod_templates(body: Object) -> tuple[PodTemplate, ...]:
    """Return the pod templates of an object; empty if it is not a workload."""
    shape = shape_of(body)
    return shape.pod_templates(body) if shape else ()
