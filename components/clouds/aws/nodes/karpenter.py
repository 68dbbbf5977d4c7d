"""Node groups as Karpenter objects: a NodePool and an EC2NodeClass each (aws-gpu spec 10)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....fleet.demand import INSTANCE_TYPE_LABEL, ZONE_LABEL
from ....fleet.instances import MAX_PODS, Instance, instance, instances
from ....fleet.nodes.policy import most_at_once
from ....fleet.objects import Object
from ..names import KARPENTER_CAPACITY_LABEL
from ..words import NodeImage
from .labels import karpenter_capacity
from .launch import OS_DISK_GIB, Disk, data_device
from .plan import NodeEnvironment, NodeGroupPlan, release_of
from .pool_rules import Disruption, GeneralPool
from .replacement import static_name
from .user_data import Start, karpenter_user_data

_FAMILIES = {NodeImage.AL2023: "AL2023", NodeImage.BOTTLEROCKET: "Bottlerocket"}
_GROUP = "karpenter.k8s.aws"
_STEP = 10
_WELL_KNOWN = "karpenter.k8s.aws/"
_DEFAULT = Disruption()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Infrastructure that nodes are launched into.

    Attributes:
        subnets: IDs of the subnets in their zones.
        security_groups: IDs of their security groups.
        role: Name of their IAM role, or an output.
        tags: Tags of instances, volumes and interfaces.
        hops: Hop limit of the instance metadata service.
        placement_group: Name of their placement group, or an output.
    """

    subnets: Sequence[Any]
    security_groups: Sequence[Any]
    role: Any
    tags: Mapping[str, str]
    hops: int = 1
    placement_group: Any = None


def node_pool(plan: NodeGroupPlan, disruption: Disruption = _DEFAULT) -> Object:
    """Return the NodePool of a group, which launches nodes for Pending pods.

    The first flavor of a model has the highest weight. The minimum nodes belong to :func:`static_pool`.
    """
    spec = {
        "weight": max(1, 100 - _STEP * plan.demand.rank),
        "limits": _limits(plan),
        "disruption": disruption.wire(),
        "template": _template(plan),
    }
    return pool_object(plan.name, spec)


def static_pool(plan: NodeGroupPlan, disruption: Disruption = _DEFAULT) -> Object:
    """Return the static NodePool with a group's minimum nodes, which run whether or not pods need them.

    A pool cannot change between static and dynamic. A static pool has no weight and can limit only nodes; a limit of
    one more than the replicas lets Karpenter replace one node at a time (kubernetes-sigs/karpenter v1.14.1,
    pkg/apis/v1/nodepool.go and pkg/controllers/disruption/staticdrift.go). It requires the feature staticCapacity.
    """
    spec = {
        "replicas": plan.minimum,
        "limits": {"nodes": str(plan.minimum + 1)},
        "disruption": disruption.wire(),
        "template": _template(plan),
    }
    return pool_object(static_name(plan.name), spec)


def pool_object(name: str, spec: Object) -> Object:
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def class_reference(name: str) -> Object:
    """Return the reference of a NodePool to its EC2NodeClass."""
    return {"group": _GROUP, "kind": "EC2NodeClass", "name": name}


def _template(plan: NodeGroupPlan) -> Object:
    requirements = {
        INSTANCE_TYPE_LABEL: list(plan.instance_types),
        "kubernetes.io/arch": [plan.node.arch],
        "kubernetes.io/os": ["linux"],
        KARPENTER_CAPACITY_LABEL: [karpenter_capacity(plan.demand.capacity)],
        ZONE_LABEL: list(plan.zones),
    }
    # A pod that selects one of Karpenter's own labels gets it only from a pool that requires it.
    requirements |= {key: [value] for key, value in plan.demand.labels.items() if key.startswith(_WELL_KNOWN)}
    return {
        "metadata": {"labels": dict(plan.labels)},
        "spec": {
            "nodeClassRef": class_reference(plan.name),
            "requirements": among(requirements),
            "expireAfter": "Never",
            **({"taints": [dict(taint) for taint in plan.demand.taints]} if plan.demand.taints else {}),
        },
    }


def _limits(plan: NodeGroupPlan) -> dict[str, str]:
    """Return limits that bound the cost of the pool; AWS's own quotas are larger and shared.

    The limit is the maximum number of nodes times the devices of the largest type, because Karpenter excludes types
    that exceed the remaining limit, and subtracts the largest of the types that it requests. A limit on nodes alone
    is not enough, because it is not counted within one round of launches (kubernetes-sigs/karpenter v1.14.1,
    pkg/controllers/provisioning/scheduling/scheduler.go, filterByRemainingResources and subtractMax).
    """
    resource = plan.node.accelerator_resource
    types = [plan.node, *filter(None, map(instance, plan.demand.alternatives))]
    most = max(node.accelerators if resource else node.vcpu for node in types)
    blocks = [block.reservation for block in plan.blocks]
    # maxNodes of the type may be lower than the reservation.
    bounded = plan.reservation is not None and plan.maximum < plan.reservation.count
    maximum = most_at_once(blocks) if blocks and not bounded else plan.maximum
    nodes = maximum - plan.minimum
    return {resource or "cpu": str(most * nodes), "nodes": str(nodes)}


def among(allowed: Mapping[str, Sequence[str]]) -> list[Object]:
    """Return the requirements that limit each label to the given values."""
    return [{"key": key, "operator": "In", "values": list(values)} for key, values in sorted(allowed.items())]


def node_class(plan: NodeGroupPlan, surroundings: Surroundings) -> Object:
    """Return the EC2NodeClass of a group."""
    image = {"id": plan.ami_id} if plan.ami_id else image_alias(plan.image, plan.release)
    more: Object = {"kubelet": {"maxPods": plan.start.pods}}
    if plan.ami_id:
        # Karpenter infers the family from an alias, but not from an ID.
        more["amiFamily"] = _FAMILIES[plan.image]
    if plan.node.local_nvme_gb:
        more["instanceStorePolicy"] = "RAID0"
    if plan.interfaces:
        more["networkInterfaces"] = [
            {"networkCardIndex": i.card, "deviceIndex": i.device, "interfaceType": i.type} for i in plan.interfaces
        ]
    if plan.reservation:
        reservations = [block.reservation for block in plan.blocks] or [plan.reservation]
        more["capacityReservationSelectorTerms"] = [{"id": reservation.id} for reservation in reservations]
    user_data = karpenter_user_data(plan.start, plan.image)
    if user_data:
        more["userData"] = user_data
    return class_object(plan.name, image, plan.disk, surroundings, **more)


def image_alias(image: NodeImage, release: str) -> Object:
    """Return the selector of a release of an AWS image."""
    return {"alias": f"{image}@{release}"}


def class_object(name: str, image: Object, disk: Disk, surroundings: Surroundings, **more: Any) -> Object:  # noqa: ANN401
    """Return an EC2NodeClass with the settings of all nodes: an encrypted disk, IMDSv2, tags."""
    metadata = {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": surroundings.hops}
    ebs: Object = {"volumeSize": f"{disk.gib}Gi", "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True}
    optional = {"throughput": disk.throughput, "iops": disk.iops, "kmsKeyID": disk.kms_key}
    ebs |= {key: value for key, value in optional.items() if value}
    spec: Object = {
        "amiSelectorTerms": [image],
        "role": surroundings.role,
        "subnetSelectorTerms": [{"id": subnet} for subnet in surroundings.subnets],
        "securityGroupSelectorTerms": [{"id": group} for group in surroundings.security_groups],
        "blockDeviceMappings": [{"deviceName": disk.device, "ebs": ebs}],
        "metadataOptions": metadata,
        "tags": dict(surroundings.tags),
        **(
            {"placementGroupSelector": {"name": surroundings.placement_group}}
            if surroundings.placement_group is not None
            else {}
        ),
        **more,
    }
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": spec,
    }


NAME = "general"
_INSTANCE = "karpenter.k8s.aws/instance"
_LEAST = (("-generation", "4"), ("-cpu", "1"))
_LEAST_DRAIN = 30
"""Minutes after which a node of the general pool ends at the earliest, whatever disruption budgets allow."""
"""Exclusive lower bounds. All types after the fourth generation support address prefixes, which the pod limit of
kubelet assumes; system pods would use most of a single vCPU."""


def general_pool(pool: GeneralPool, environment: NodeEnvironment, longest_grace: int = 0) -> Object:
    """Return the NodePool for pods that name no instance type.

    It has the lowest weight, so that pods that name an instance type get nodes of their own pool. Drains are limited,
    because these pods can run elsewhere, so that a disruption budget must not keep a node forever: to 30 minutes, or
    to the grace period of the pods. Karpenter evicts a pod early enough for its grace period, but never earlier than
    the drain begins (kubernetes-sigs/karpenter v1.14.1, pkg/controllers/node/termination/terminator).

    Args:
        pool: The settings of the pool.
        environment: The environment of the nodes.
        longest_grace: Longest time that a pod may take to terminate, in seconds.
    """
    allowed = {
        "kubernetes.io/arch": [pool.arch],
        "kubernetes.io/os": ["linux"],
        KARPENTER_CAPACITY_LABEL: sorted(pool.capacity),
        ZONE_LABEL: list(environment.zones),
        f"{_INSTANCE}-category": list(pool.categories),
    }
    above = [{"key": f"{_INSTANCE}{key}", "operator": "Gt", "values": [value]} for key, value in _LEAST]
    spec = {
        "limits": {"cpu": str(pool.max_vcpus)},
        # Unlike nodes of models, these are also removed when their pods fit on other nodes.
        "disruption": replace(environment.pools.disruption, policy="WhenEmptyOrUnderutilized").wire(),
        "template": {
            "spec": {
                "nodeClassRef": class_reference(NAME),
                "requirements": [*among(allowed), *above],
                "expireAfter": "Never",
                "terminationGracePeriod": f"{max(_LEAST_DRAIN, math.ceil(longest_grace / 60))}m",
            }
        },
    }
    return pool_object(NAME, spec)


def general_class(environment: NodeEnvironment, surroundings: Surroundings) -> Object:
    """Return the EC2NodeClass of the general pool."""
    image = image_alias(environment.image, release_of(environment))
    disk = Disk(data_device(environment.image), OS_DISK_GIB, kms_key=environment.boot.kms_key)
    user_data = karpenter_user_data(Start(MAX_PODS, extra=environment.boot.user_data), environment.image)
    more: Object = {"userData": user_data} if user_data else {}
    if environment.nodes.prefixes:
        # Without prefixes, Karpenter sets the pod limit from the addresses of each type's interfaces.
        more["kubelet"] = {"maxPods": MAX_PODS}
    return class_object(NAME, image, disk, surroundings, **more)


def largest(pool: GeneralPool) -> Instance | None:
    """Return the largest known instance type that the pool may launch; None if none is known."""
    candidates = [
        node
        for node in instances().values()
        # Others of these categories have no more memory per core, and many regions lack them.
        if node.is_suggested
        and not node.accelerators
        and node.arch == pool.arch
        and node.name[0] in pool.categories
        and node.vcpu <= pool.max_vcpus
    ]
    return max(candidates, key=lambda node: (node.memory_gib, node.vcpu, node.name), default=None)
