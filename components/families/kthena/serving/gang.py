"""Pods that find room together or not at all, for the scheduler Volcano (Kthena spec 3.3)."""

from decimal import Decimal
from typing import Any

from ....contract.quantity import format_quantity, parse_quantity
from ....fleet.objects import Object, new_object
from ..names import SERVING_LABEL, group_name, role_id, serving_labels
from ..types.model_serving import ServingGroup
from .asked import AskedServing
from .groups import is_gang, least_instances, size_of

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
TASK_ANNOTATION = "volcano.sh/task-spec"
SCHEDULER = "volcano"


def pod_groups(asked: AskedServing) -> list[Object]:
    """Return the PodGroup of each serving group; none without a gang."""
    if not is_gang(asked.group):
        return []
    spec = _spec(asked.group)
    return [_pod_group(asked, group, spec) for group in range(asked.replicas)]


def _pod_group(asked: AskedServing, group: int, spec: Object) -> Object:
    name = group_name(asked.name, group)
    body = new_object("scheduling.volcano.sh/v1beta1", "PodGroup", name, asked.namespace, spec)
    body["metadata"]["labels"] = {**serving_labels(asked.name), f"{SERVING_LABEL}/group-name": name}
    body["metadata"]["annotations"] = {GROUP_ANNOTATION: name}
    return body


def gang_annotations(asked: AskedServing, group: int, role: str, instance: int) -> dict[str, str]:
    """Return what tells the scheduler the gang of a pod, and its task in it."""
    if not is_gang(asked.group):
        return {}
    return {GROUP_ANNOTATION: group_name(asked.name, group), TASK_ANNOTATION: role_id(role, instance)}


def _spec(group: ServingGroup) -> Object:
    members = {
        role_id(role.name, instance): size_of(role)
        for role in group.roles
        for instance in range(least_instances(group, role))
    }
    spec: Object = {
        "minMember": sum(members.values()),
        "minTaskMember": members,
        "minResources": {key: format_quantity(amount) for key, amount in sorted(_resources(group).items())},
    }
    if group.network_topology is not None:
        topology = group.network_topology
        spec["networkTopology"] = {"mode": topology.mode, "highestTierAllowed": topology.highest_tier_allowed}
    return spec


def _resources(group: ServingGroup) -> dict[str, Decimal]:
    """Sum the requests of the containers of all pods that must find room; init containers do not count.

    What has a limit alone is requested as well: so the API server completes pods, and a gang that left its
    accelerators out would be let in before there are any.
    """
    total: dict[str, Decimal] = {}
    for role in group.roles:
        entry = role.entry_template.spec or {}
        worker = (role.worker_template.spec if role.worker_template else None) or {}
        for pod, count in ((entry, 1), (worker, role.worker_replicas)):
            for key, amount in _requests(pod).items():
                total[key] = total.get(key, Decimal(0)) + amount * count * least_instances(group, role)
    return {key: amount for key, amount in total.items() if amount}


def _requests(pod: dict[str, Any]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for container in pod.get("containers") or ():
        resources = container.get("resources") or {}
        for key, amount in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            total[key] = total.get(key, Decimal(0)) + parse_quantity(amount)
    return total
