"""LeaderWorkerSets in place of serving groups, and the Services for their pods (Kthena spec 7).

If each serving group is one role instance, one set has a group for each serving group: it can be scaled, and rolls
out as configured. Otherwise there is one set for each role instance, with the names and labels that Kthena's
controller gives its pods.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ....contract.texts.secrets import masked
from ....fleet.objects import Object, new_object
from ....fleet.shapes import LEADER_WORKER_SET, group_update
from ....fleet.workloads import PodSet, UpdateUnit, Workload
from ...leaderworkerset.rules import share
from ..controllers import Controllers
from ..names import (
    entry_labels,
    entry_name,
    instance_labels,
    instance_name,
    role_labels,
    role_service,
    serving_labels,
)
from ..types.model_serving import Role
from .context import ServingContext
from .groups import gang_annotations, is_one_set, pods_per_instance
from .pods import LEADER_ADDRESS, RoleInstance, Template, instance_template
from .roles import RolePods, ports_in

# A group of a set is one role instance. Where that is not the whole serving group, checks.py rejects
# ServingGroupRecreate.
_RESTART_POLICIES = {
    "RoleRecreate": "RecreateGroupOnPodRestart",
    "ServingGroupRecreate": "RecreateGroupOnPodRestart",
    "None": "None",
}
_NOT_IN_PODS = ("replicas", "maxUnavailable")
_DIGEST = 12


def workloads(serving: ServingContext, roles: list[RolePods]) -> Iterator[Workload]:
    """Yield the LeaderWorkerSets of a ModelServing."""
    if is_one_set(serving.group):
        rolling_update = serving.rolling_update
        bounds: Object = {"maxUnavailable": rolling_update.max_unavailable, "maxSurge": rolling_update.max_surge}
        if rolling_update.partition is not None:
            bounds["partition"] = serving.partition
        rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": bounds}
        spec = {
            "replicas": serving.replicas,
            # With LeaderReady, a leader that becomes ready only once its workers have joined would never get them.
            "startupPolicy": "LeaderCreated",
            "rolloutStrategy": rollout,
            "leaderWorkerTemplate": _leader_worker_template(serving, roles[0], RoleInstance()),
        }
        yield _workload(serving, roles[0], serving.name, spec, group_update(rollout).added(serving.replicas))
        return
    for group in range(serving.replicas):
        for role in roles:
            for instance in range(role.role.replicas):
                # Only roles with a worker template have the headless Services of instance_services.
                has_service = role.role.worker_template is not None
                service = f"{entry_name(serving.name, group, role.name, instance)}.{serving.namespace}"
                role_instance = RoleInstance(
                    entry_address=service if has_service else LEADER_ADDRESS,
                    labels=instance_labels(serving.name, group, role.name, instance),
                    annotations=gang_annotations(serving, group, role.name, instance),
                )
                spec = {
                    "replicas": 1,
                    "startupPolicy": "LeaderCreated",
                    "leaderWorkerTemplate": _leader_worker_template(serving, role, role_instance),
                }
                workload = _workload(serving, role, instance_name(serving.name, group, role.name, instance), spec)
                yield replace(workload, part_of=_pod_set(serving, role))


def operated_workload(serving: ServingContext, role: RolePods) -> Workload:
    """Return the pods of a role, which Kthena's controller creates one by one."""
    instance = RoleInstance(entry_address=entry_name(serving.name, 0, role.name, 0))
    spec = {
        "replicas": serving.replicas * role.role.replicas,
        "leaderWorkerTemplate": _leader_worker_template(serving, role, instance),
    }
    workload = _workload(serving, role, role_service(serving.name, role.name), spec)
    unit = update_unit(serving, role.role)
    return replace(workload, operated=True, bare=True, part_of=_pod_set(serving, role), unit=unit)


def entry_service(serving: ServingContext, role: RolePods) -> Object:
    """Return the Service for the entry pods of a role, of all groups and instances."""
    ports = [
        {"name": f"port-{number}" if position else "http", "port": number, "protocol": "TCP", "targetPort": number}
        for position, number in enumerate(ports_in(role.role, role.port))
    ]
    spec = {"ports": ports, "selector": entry_labels(serving.name, role.name)}
    body = new_object("v1", "Service", role_service(serving.name, role.name), serving.namespace, spec)
    body["metadata"]["labels"] = role_labels(serving.name, role.name)
    return body


def instance_services(serving: ServingContext, roles: list[RolePods]) -> Iterator[Object]:
    """Yield a headless Service for each role instance: the name that Kthena's controller gives its entry pod.

    Each role with a worker template has them, even with no workers, so that other roles can refer to the name.
    """
    if is_one_set(serving.group):
        return
    for group in range(serving.replicas):
        for role in (role for role in roles if role.role.worker_template is not None):
            for instance in range(role.role.replicas):
                labels = instance_labels(serving.name, group, role.name, instance)
                spec = {
                    "clusterIP": "None",
                    # Workers start with the entry pod, and look it up before it is ready.
                    "publishNotReadyAddresses": True,
                    "selector": {**entry_labels(serving.name, role.name), **labels},
                }
                name = entry_name(serving.name, group, role.name, instance)
                body = new_object("v1", "Service", name, serving.namespace, spec)
                body["metadata"]["labels"] = {**role_labels(serving.name, role.name), **labels}
                yield body


def _pod_set(serving: ServingContext, role: RolePods) -> PodSet:
    """Return the pods of all instances of a role; the roles of a ModelServing talk to each other."""
    return PodSet(
        name=role_service(serving.name, role.name),
        front=entry_labels(serving.name, role.name),
        group=serving_labels(serving.name),
        prefix=serving.name,
        replicas=role_labels(serving.name, role.name),
    )


def _workload(serving: ServingContext, role: RolePods, name: str, spec: Object, surge: int = 0) -> Workload:
    replicas: int = spec["replicas"]
    templates: list[tuple[Template, int]] = [(role.entry, 1)]
    if role.worker:
        templates.append((role.worker, role.role.worker_replicas))
    return Workload(
        body=new_object(LEADER_WORKER_SET.api_version, LEADER_WORKER_SET.kind, name, serving.namespace, spec),
        server=role.server,
        port=role.port,
        replicas=replicas,
        pods=tuple(
            template.demand(replicas * pods, per_replica=pods, surge=surge * pods) for template, pods in templates
        ),
        model=serving.model,
        origin=serving.origin("spec"),
        role=role.name,
    )


def _leader_worker_template(serving: ServingContext, role: RolePods, instance: RoleInstance) -> Object:
    template: Object = {
        "size": pods_per_instance(role.role),
        "restartPolicy": _RESTART_POLICIES[serving.spec.recovery_policy],
    }
    entry = instance_template(role.entry, instance)
    if role.worker is None:
        # LeaderWorkerSets use the worker template for all pods if there is no leader template.
        return {**template, "workerTemplate": entry}
    return {**template, "leaderTemplate": entry, "workerTemplate": instance_template(role.worker, instance)}


def update_unit(serving: ServingContext, role: Role) -> UpdateUnit:
    """Return how the controller replaces the instances of a role."""
    of = f"{serving.resource.kind} {serving.namespace}/{serving.name}"
    controllers = Controllers.of(serving.source)
    if _compares_roles(serving, controllers):
        # Each serving group is updated at once; maxUnavailable of the role bounds the instances within one.
        at_once = None
        if role.max_unavailable is not None:
            at_once = max(1, share(role.max_unavailable, role.replicas, up=False))
        return UpdateUnit(of, _revision([role]), role.replicas, serving.partition, at_once=at_once)
    # Until v0.2.0 maxUnavailable is ignored.
    unavailable = 1
    if not controllers.until("v0.2.0"):
        unavailable = max(1, share(serving.rolling_update.max_unavailable, serving.replicas, up=False))
    return UpdateUnit(of, _revision(serving.group.roles), role.replicas, serving.partition, unavailable)


def _compares_roles(serving: ServingContext, controllers: Controllers) -> bool:
    """Whether only the instances of an edited role are replaced.

    v0.4.0 does this also without a rolloutStrategy, although the default of its type is ServingGroupRollingUpdate
    (deleteOutdatedResourcesForRollingUpdate).
    """
    without_strategy = serving.spec.rollout_strategy is None
    return serving.rolls_roles or (without_strategy and controllers.since("v0.4.0") and controllers.until("v0.4.0"))


def _revision(roles: Iterable[Role]) -> str:
    templates: list[dict[str, Any]] = [
        {key: value for key, value in role.wire().items() if key not in _NOT_IN_PODS} for role in roles
    ]
    text = json.dumps(masked({"roles": templates}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
