"""LeaderWorkerSets in place of serving groups (Kthena spec 7).

One set with a group for each serving group where a serving group is one role instance: it can be scaled, and rolls
out as it is told. Else one set for each role instance, named and labelled as Kthena's controller does it with pods.
"""

from collections.abc import Iterator
from dataclasses import replace

from ....fleet.objects import Object, new_object
from ....fleet.shapes import LEADER_WORKER_SET, group_update
from ....fleet.workloads import PodSet, Workload
from ..names import (
    entry_labels,
    entry_name,
    instance_labels,
    instance_name,
    role_service,
    serving_labels,
)
from ..types.model_serving import RollingUpdateConfiguration
from .asked import AskedServing
from .gang import gang_annotations
from .groups import is_one_set, size_of
from .pods import LEADER_ADDRESS, RoleInstance, Template, template_for
from .roles import RolePods

_RESTART = {
    "RoleRecreate": "RecreateGroupOnPodRestart",
    "ServingGroupRecreate": "RecreateGroupOnPodRestart",
    "None": "None",
}


def workloads(asked: AskedServing, roles: list[RolePods]) -> Iterator[Workload]:
    """Yield the sets of a ModelServing."""
    if is_one_set(asked.group):
        yield _scalable(asked, roles[0])
        return
    for group in range(asked.replicas):
        for role in roles:
            yield from (_instance(asked, role, group, instance) for instance in range(role.role.replicas))


def _scalable(asked: AskedServing, role: RolePods) -> Workload:
    rollout = _rollout(asked)
    spec = {
        "replicas": asked.replicas,
        "startupPolicy": "LeaderCreated",
        "rolloutStrategy": rollout,
        "leaderWorkerTemplate": _template(asked, role, RoleInstance()),
    }
    return _workload(asked, role, asked.name, spec, group_update(rollout).added(asked.replicas))


def _instance(asked: AskedServing, role: RolePods, group: int, instance: int) -> Workload:
    # An entry pod has a Service of its own only where there is a template of workers; else the set has one for it.
    own = f"{entry_name(asked.name, group, role.name, instance)}.{asked.namespace}"
    which = RoleInstance(
        entry_address=LEADER_ADDRESS if role.role.worker_template is None else own,
        labels=instance_labels(asked.name, group, role.name, instance),
        annotations=gang_annotations(asked, group, role.name, instance),
    )
    spec = {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "leaderWorkerTemplate": _template(asked, role, which),
    }
    workload = _workload(asked, role, instance_name(asked.name, group, role.name, instance), spec)
    return replace(workload, part_of=pods_of_role(asked, role))


def operated(asked: AskedServing, role: RolePods) -> Workload:
    """Return the pods of a role as Kthena's controller makes them, one by one."""
    which = RoleInstance(entry_address=entry_name(asked.name, 0, role.name, 0))
    spec = {"replicas": asked.replicas * role.role.replicas, "leaderWorkerTemplate": _template(asked, role, which)}
    workload = _workload(asked, role, role_service(asked.name, role.name), spec)
    return replace(workload, operated=True, bare=True, part_of=pods_of_role(asked, role))


def pods_of_role(asked: AskedServing, role: RolePods) -> PodSet:
    """Return what the pods of all instances of a role are together; roles of a serving talk to one another."""
    return PodSet(
        name=role_service(asked.name, role.name),
        front=entry_labels(asked.name, role.name),
        group=serving_labels(asked.name),
        prefix=asked.name,
    )


def _workload(asked: AskedServing, role: RolePods, name: str, spec: Object, surge: int = 0) -> Workload:
    replicas: int = spec["replicas"]
    workers = role.role.worker_replicas
    parts: list[tuple[Template, int]] = [(role.entry, 1), *([(role.worker, workers)] if role.worker else [])]
    return Workload(
        body=new_object(LEADER_WORKER_SET.api_version, LEADER_WORKER_SET.kind, name, asked.namespace, spec),
        server=role.server,
        port=role.port,
        replicas=replicas,
        pods=tuple(part.demand(replicas * pods, per_replica=pods, surge=surge * pods) for part, pods in parts),
        model=asked.model,
        origin=asked.origin("spec"),
        role=role.name,
    )


def _template(asked: AskedServing, role: RolePods, instance: RoleInstance) -> Object:
    """Return the pods of a group; that of an entry pod alone has one template, which sets call that of workers."""
    group: Object = {"size": size_of(role.role), "restartPolicy": _RESTART[asked.serving.spec.recovery_policy]}
    entry = template_for(role.entry, instance)
    if role.worker is None:
        return {**group, "workerTemplate": entry}
    return {**group, "leaderTemplate": entry, "workerTemplate": template_for(role.worker, instance)}


def _rollout(asked: AskedServing) -> Object:
    strategy = asked.serving.spec.rollout_strategy
    stated = (strategy and strategy.rolling_update_configuration) or RollingUpdateConfiguration()
    bounds: Object = {"maxUnavailable": stated.max_unavailable, "maxSurge": stated.max_surge}
    if stated.partition is not None:
        bounds["partition"] = stated.partition
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": bounds}
