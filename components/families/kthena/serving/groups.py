"""Serving groups: their size, and gangs of pods that the Volcano scheduler starts together (Kthena spec 3.3)."""

from collections.abc import Iterator
from decimal import Decimal

from ....contract.quantity import format_quantity, parse_quantity
from ....fleet.objects import Object, new_object
from ..names import SERVING_LABEL, VOLCANO, group_name, role_id, role_labels, serving_labels
from ..types.model_serving import Role, ServingGroup, TopologyPolicy
from .context import ServingContext

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
TASK_ANNOTATION = "volcano.sh/task-spec"
SCHEDULER = VOLCANO


def pods_per_group(group: ServingGroup) -> int:
    return sum(pods_per_instance(role) * role.replicas for role in group.roles)


def pods_per_instance(role: Role) -> int:
    """Return the number of pods of one role instance: the entry pod and its workers."""
    return 1 + role.worker_replicas


def is_gang(serving: ServingContext) -> bool:
    """Return whether pods of a serving group must be scheduled together.

    Those of a ModelServing without a policy are a gang only if it names Volcano itself, and if that leaves its
    workloads as they are: a group of one set has no PodGroup of its own.
    """
    group = serving.group
    if group.gang_policy is not None or group.network_topology is not None:
        return True
    names_volcano = serving.starts_groups and serving.spec.scheduler_name is not None
    return names_volcano and not is_one_set(group) and pods_per_group(group) > 1


def is_one_set(group: ServingGroup) -> bool:
    """Return whether one LeaderWorkerSet can run all serving groups.

    That takes serving groups of a single role instance. Each gang of several pods needs a PodGroup of its own, whose
    name its pods carry, while all groups of a set share one pod template.
    """
    if len(group.roles) != 1 or group.roles[0].replicas != 1:
        return False
    if group.network_topology is not None:
        return pods_per_group(group) <= 1
    gang_pods = sum(_min_instances(group, role) * pods_per_instance(role) for role in group.roles)
    return group.gang_policy is None or gang_pods <= 1


def has_pod_groups(serving: ServingContext) -> bool:
    """Return whether each serving group has a PodGroup."""
    return is_gang(serving) and not is_one_set(serving.group)


def pod_groups(serving: ServingContext) -> list[Object]:
    """Return the PodGroup of each serving group; none without a gang."""
    group = serving.group
    if not is_gang(serving):
        return []
    tasks = {
        role_id(role.name, instance): pods_per_instance(role)
        for role in group.roles
        for instance in range(_min_instances(group, role))
    }
    topology = group.network_topology
    has_sub_groups = topology is not None and topology.role_policy is not None
    spec: Object = {
        "minMember": sum(tasks.values()),
        # Sub-groups count the instances of each role themselves.
        **({} if has_sub_groups else {"minTaskMember": tasks}),
        "minResources": {key: format_quantity(amount) for key, amount in sorted(_min_resources(group).items())},
    }
    if topology is not None and topology.group:
        spec["networkTopology"] = _volcano_topology(topology.group)
    if topology is not None and topology.role_policy:
        spec["subGroupPolicy"] = list(_sub_groups(serving, topology.role_policy))
    bodies = []
    for ordinal in range(serving.replicas):
        name = group_name(serving.name, ordinal)
        body = new_object("scheduling.volcano.sh/v1beta1", "PodGroup", name, serving.namespace, spec)
        body["metadata"]["labels"] = {**serving_labels(serving.name), f"{SERVING_LABEL}/group-name": name}
        body["metadata"]["annotations"] = {GROUP_ANNOTATION: name}
        bodies.append(body)
    return bodies


def _volcano_topology(policy: TopologyPolicy) -> Object:
    tiers = {"highestTierAllowed": policy.highest_tier_allowed, "highestTierName": policy.highest_tier_name}
    return {"mode": policy.mode, **{name: tier for name, tier in tiers.items() if tier is not None}}


def _sub_groups(serving: ServingContext, policy: TopologyPolicy) -> Iterator[Object]:
    """Yield the pods of each role, of which Volcano keeps those of one role instance together."""
    for role in serving.group.roles:
        yield {
            "name": role.name,
            "labelSelector": {"matchLabels": role_labels(serving.name, role.name)},
            "matchLabelKeys": [f"{SERVING_LABEL}/role-id"],
            "subGroupSize": pods_per_instance(role),
            "minSubGroups": _min_instances(serving.group, role),
            "networkTopology": _volcano_topology(policy),
        }


def gang_annotations(serving: ServingContext, group: int, role: str, instance: int) -> dict[str, str]:
    """Return the annotations with which Volcano assigns a pod to its gang and task; none without a gang."""
    if not is_gang(serving):
        return {}
    return {GROUP_ANNOTATION: group_name(serving.name, group), TASK_ANNOTATION: role_id(role, instance)}


def _min_instances(group: ServingGroup, role: Role) -> int:
    """Return how many instances of a role the gang includes: all of them, unless the policy sets fewer."""
    min_replicas = (group.gang_policy.min_role_replicas or {}) if group.gang_policy else {}
    return max(0, min(role.replicas, min_replicas.get(role.name, role.replicas)))


def _min_resources(group: ServingGroup) -> dict[str, Decimal]:
    """Return the total requests of a gang, without init containers."""
    total: dict[str, Decimal] = {}
    for role in group.roles:
        entry = role.entry_template.spec or {}
        worker = (role.worker_template.spec if role.worker_template else None) or {}
        for pod, count in ((entry, 1), (worker, role.worker_replicas)):
            for container in pod.get("containers") or ():
                resources = container.get("resources") or {}
                # The API server defaults requests to limits. Accelerators usually have a limit only: a gang without
                # them would be admitted before there are any.
                requests = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
                for key, amount in requests.items():
                    needed = parse_quantity(amount) * count * _min_instances(group, role)
                    total[key] = total.get(key, Decimal(0)) + needed
    return {key: amount for key, amount in total.items() if amount}
