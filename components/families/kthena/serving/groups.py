"""Serving groups in numbers: their pods, and what of them must find room together."""

from ..types.model_serving import Role, ServingGroup


def pods_of_group(group: ServingGroup) -> int:
    """Count the pods of one serving group."""
    return sum(size_of(role) * role.replicas for role in group.roles)


def size_of(role: Role) -> int:
    """Count the pods of one instance of a role."""
    return 1 + role.worker_replicas


def is_gang(group: ServingGroup) -> bool:
    """Tell whether pods of a group must find room together."""
    return group.gang_policy is not None or group.network_topology is not None


def least_instances(group: ServingGroup, role: Role) -> int:
    """Return how many instances of a role must find room: all of them unless the policy says fewer."""
    stated = (group.gang_policy.min_role_replicas or {}) if group.gang_policy else {}
    return max(0, min(role.replicas, stated.get(role.name, role.replicas)))


def least_pods(group: ServingGroup) -> int:
    """Count the pods of a group that must find room together."""
    return sum(least_instances(group, role) * size_of(role) for role in group.roles)


def is_one_set(group: ServingGroup) -> bool:
    """Tell whether one LeaderWorkerSet stands for all serving groups.

    Each of them must be one role instance, and no gang may span several of its pods: each gang has a PodGroup of its
    own that its pods name, and all groups of a set have one template.
    """
    return len(group.roles) == 1 and group.roles[0].replicas == 1 and not _binds_pods(group)


def has_pod_groups(group: ServingGroup) -> bool:
    """Tell whether the pods of each serving group are a gang for the scheduler."""
    return is_gang(group) and not is_one_set(group)


def _binds_pods(group: ServingGroup) -> bool:
    """Tell whether a gang is more than a pod that is scheduled by itself anyway."""
    if group.network_topology is not None:
        return pods_of_group(group) > 1
    return group.gang_policy is not None and least_pods(group) > 1
