"""LeaderWorkerSets in place of serving groups (Kthena spec 7).

One set with a group for each serving group where a serving group is one role instance: it can be scaled, and rolls
out as it is told. Else one set for each role instance, named and labelled as Kthena's controller does it with pods.
"""

from collections.abc import Iterator

from ....fleet.objects import LEADER_WORKER_SET, Object, new_object
from ....fleet.origins import Origin
from ....fleet.workloads import Workload, surge_of
from ..names import entry_name, instance_labels, instance_name
from ..types.model_serving import RollingUpdateConfiguration
from .asked import AskedServing
from .gang import binds_pods, gang_annotations
from .pods import RoleInstance, Template, template_for
from .roles import RolePods

_RESTART = {
    "RoleRecreate": "RecreateGroupOnPodRestart",
    "ServingGroupRecreate": "RecreateGroupOnPodRestart",
    "None": "None",
}


def is_one_set(asked: AskedServing) -> bool:
    """Tell whether one set stands for all serving groups: each is one role instance, and no gang spans its pods."""
    roles = asked.group.roles
    return len(roles) == 1 and roles[0].replicas == 1 and not binds_pods(asked.group)


def workloads(asked: AskedServing, roles: list[RolePods]) -> Iterator[Workload]:
    """Yield the sets of a ModelServing."""
    if is_one_set(asked):
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
    return _workload(asked, role, asked.name, spec, surge_of(rollout, asked.replicas))


def _instance(asked: AskedServing, role: RolePods, group: int, instance: int) -> Workload:
    which = RoleInstance(
        entry_address=f"{entry_name(asked.name, group, role.name, instance)}.{asked.namespace}",
        labels=instance_labels(asked.name, group, role.name, instance),
        annotations=gang_annotations(asked, group, role.name, instance),
    )
    spec = {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "leaderWorkerTemplate": _template(asked, role, which),
    }
    return _workload(asked, role, instance_name(asked.name, group, role.name, instance), spec)


def _workload(asked: AskedServing, role: RolePods, name: str, spec: Object, surge: int = 0) -> Workload:
    replicas: int = spec["replicas"]
    workers = role.role.worker_replicas
    parts: list[tuple[Template, int]] = [(role.entry, 1), *([(role.worker, workers)] if role.worker else [])]
    return Workload(
        body=new_object("leaderworkerset.x-k8s.io/v1", LEADER_WORKER_SET, name, asked.namespace, spec),
        server=role.server,
        port=role.port,
        replicas=replicas,
        pods=tuple(part.demand(replicas * pods, per_replica=pods, surge=surge * pods) for part, pods in parts),
        model=asked.name,
        origin=Origin(asked.source, "spec"),
        role=role.name,
    )


def _template(asked: AskedServing, role: RolePods, instance: RoleInstance) -> Object:
    """Return the pods of a group; that of an entry pod alone has one template, which sets call that of workers."""
    group: Object = {"size": role.size, "restartPolicy": _RESTART[asked.serving.spec.recovery_policy]}
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
