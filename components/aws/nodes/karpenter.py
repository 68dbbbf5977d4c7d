"""The same node groups in Karpenter's words: a NodePool and an EC2NodeClass each (aws-gpu spec 10)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...fleet.demand import INSTANCE_TYPE_LABEL, ZONE_LABEL
from ...fleet.objects import Object
from ...nodes.instances import instance
from ..names import KARPENTER_CAPACITY_LABEL
from ..words import NodeImage
from .labels import karpenter_capacity
from .plan import NodeGroupPlan
from .user_data import karpenter_user_data

_FAMILIES = {NodeImage.AL2023: "AL2023", NodeImage.BOTTLEROCKET: "Bottlerocket"}
_GROUP = "karpenter.k8s.aws"
_STEP = 10
_WELL_KNOWN = "karpenter.k8s.aws/"


def node_pool(plan: NodeGroupPlan) -> Object:
    """Return the NodePool of a group.

    Nodes go when they are empty and never to save a few: loading a model again costs more. The first flavor of a
    model weighs most.
    """
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": plan.name},
        "spec": {
            "weight": max(1, 100 - _STEP * plan.demand.rank),
            "limits": _limits(plan),
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "10m",
                "budgets": [{"nodes": "1"}],
            },
            "template": {
                "metadata": {"labels": dict(plan.labels)},
                "spec": {
                    "nodeClassRef": {"group": _GROUP, "kind": "EC2NodeClass", "name": plan.name},
                    "requirements": _requirements(plan),
                    "expireAfter": "Never",
                    **({"taints": [dict(taint) for taint in plan.demand.taints]} if plan.demand.taints else {}),
                },
            },
        },
    }


def _limits(plan: NodeGroupPlan) -> dict[str, str]:
    """Bound what the pool may cost: AWS's own quotas are larger and shared.

    As much as its largest type has, on every node: Karpenter leaves out types that have more than what remains, and
    takes as used what the largest of those that it asks for has. The number of nodes alone would not do, for it is
    not counted within one round of launches (kubernetes-sigs/karpenter v1.14.1,
    pkg/controllers/provisioning/scheduling/scheduler.go, filterByRemainingResources and subtractMax).
    """
    resource = plan.node.accelerator_resource
    types = [plan.node, *filter(None, map(instance, plan.demand.alternatives))]
    most = max(node.accelerators if resource else node.vcpu for node in types)
    return {resource or "cpu": str(most * plan.maximum), "nodes": str(plan.maximum)}


def _requirements(plan: NodeGroupPlan) -> list[Object]:
    wanted = {
        INSTANCE_TYPE_LABEL: list(plan.instance_types),
        "kubernetes.io/arch": [plan.node.arch],
        "kubernetes.io/os": ["linux"],
        KARPENTER_CAPACITY_LABEL: [karpenter_capacity(plan.demand.capacity)],
        ZONE_LABEL: list(plan.zones),
    }
    # A pod that selects one of Karpenter's own labels gets it only from a pool that names it.
    asked = {key: [value] for key, value in plan.demand.labels.items() if key.startswith(_WELL_KNOWN)}
    return [{"key": key, "operator": "In", "values": values} for key, values in sorted({**wanted, **asked}.items())]


def node_class(
    plan: NodeGroupPlan,
    subnets: Sequence[Any],
    security_groups: Sequence[Any],
    role: Any,  # noqa: ANN401  a name, or the promise of one
    tags: Mapping[str, str],
) -> Object:
    """Return the EC2NodeClass of a group.

    Args:
        plan: The group.
        subnets: IDs of the subnets in its zones.
        security_groups: IDs of the security groups of its nodes.
        role: Name of the nodes' IAM role.
        tags: Tags of instances, volumes and interfaces.
    """
    spec: Object = {
        "amiSelectorTerms": [{"id": plan.ami_id} if plan.ami_id else {"alias": f"{plan.image}@{plan.release}"}],
        "role": role,
        "subnetSelectorTerms": [{"id": subnet} for subnet in subnets],
        "securityGroupSelectorTerms": [{"id": group} for group in security_groups],
        "blockDeviceMappings": [_volume(plan)],
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
        "kubelet": {"maxPods": plan.start.pods},
        "tags": dict(tags),
        **_extras(plan),
    }
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": plan.name},
        "spec": spec,
    }


def _extras(plan: NodeGroupPlan) -> Object:
    """Return what only some nodes have: an image of one's own, local disks, EFA, a reservation, more to be told."""
    spec: Object = {}
    if plan.ami_id:
        spec["amiFamily"] = _FAMILIES[plan.image]
    if plan.node.local_nvme_gb:
        spec["instanceStorePolicy"] = "RAID0"
    if plan.interfaces:
        spec["networkInterfaces"] = [
            {"networkCardIndex": i.card, "deviceIndex": i.device, "interfaceType": i.type} for i in plan.interfaces
        ]
    if plan.reservation:
        spec["capacityReservationSelectorTerms"] = [{"id": plan.reservation.id}]
    words = karpenter_user_data(plan.start, plan.image)
    if words:
        spec["userData"] = words
    return spec


def _volume(plan: NodeGroupPlan) -> Object:
    disk = plan.disk
    ebs: Object = {"volumeSize": f"{disk.gib}Gi", "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True}
    chosen = {"throughput": disk.throughput, "iops": disk.iops, "kmsKeyID": disk.kms_key}
    return {"deviceName": disk.device, "ebs": {**ebs, **{key: value for key, value in chosen.items() if value}}}
