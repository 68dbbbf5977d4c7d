"""Node groups as Karpenter objects: a NodePool and an EC2NodeClass each (aws-gpu spec 10)."""

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
from .user_data import Start, karpenter_user_data

_FAMILIES = {NodeImage.AL2023: "AL2023", NodeImage.BOTTLEROCKET: "Bottlerocket"}
_GROUP = "karpenter.k8s.aws"
_STEP = 10
_WELL_KNOWN = "karpenter.k8s.aws/"
_DEFAULT = Disruption()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What nodes are launched into.

    Attributes:
        subnets: IDs of the subnets in their zones.
        security_groups: IDs of their security groups.
        role: Name of their IAM role, or the promise of one.
        tags: Tags of instances, volumes and interfaces.
        hops: Hop limit of the instance metadata service.
        placement_group: Name of their placement group, or the promise of one.
    """

    subnets: Sequence[Any]
    security_groups: Sequence[Any]
    role: Any
    tags: Mapping[str, str]
    hops: int = 1
    placement_group: Any = None


def node_pool(plan: NodeGroupPlan, disruption: Disruption = _DEFAULT) -> Object:
    """Return the NodePool of a group, which launches nodes for Pending pods.

    The first flavor of a model weighs most. Nodes that are always there are those of another pool.
    """
    spec = {
        "weight": max(1, 100 - _STEP * plan.demand.rank),
        "limits": _limits(plan),
        "disruption": disruption.wire(),
        "template": _template(plan),
    }
    return pool_object(plan.name, spec)


def static_pool(plan: NodeGroupPlan, disruption: Disruption = _DEFAULT) -> Object:
    """Return the NodePool of a group's nodes that are always there, whether a pod needs them or not.

    A pool is one or the other for life, and a static one has neither weight nor limits but on nodes; one more node
    than wanted lets it replace one at a time (kubernetes-sigs/karpenter v1.14.1, pkg/apis/v1/nodepool.go and
    pkg/controllers/disruption/staticdrift.go). It needs the feature staticCapacity.
    """
    spec = {
        "replicas": plan.minimum,
        "limits": {"nodes": str(plan.minimum + 1)},
        "disruption": disruption.wire(),
        "template": _template(plan),
    }
    return pool_object(f"{plan.name}-static", spec)


def pool_object(name: str, spec: Object) -> Object:
    """Return a NodePool."""
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def class_reference(name: str) -> Object:
    """Return what a NodePool says about its EC2NodeClass."""
    return {"group": _GROUP, "kind": "EC2NodeClass", "name": name}


def _template(plan: NodeGroupPlan) -> Object:
    return {
        "metadata": {"labels": dict(plan.labels)},
        "spec": {
            "nodeClassRef": class_reference(plan.name),
            "requirements": _requirements(plan),
            "expireAfter": "Never",
            **({"taints": [dict(taint) for taint in plan.demand.taints]} if plan.demand.taints else {}),
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
    blocks = [block.reservation for block in plan.blocks]
    # A setting of a type may bound its nodes further.
    bounded = plan.reservation is not None and plan.maximum < plan.reservation.count
    maximum = most_at_once(blocks) if blocks and not bounded else plan.maximum
    nodes = maximum - plan.minimum
    return {resource or "cpu": str(most * nodes), "nodes": str(nodes)}


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
    return among({**wanted, **asked})


def among(wanted: Mapping[str, Sequence[str]]) -> list[Object]:
    """Return what a node must be as requirements: one of some values, by label."""
    return [{"key": key, "operator": "In", "values": list(values)} for key, values in sorted(wanted.items())]


def node_class(plan: NodeGroupPlan, place: Surroundings) -> Object:
    """Return the EC2NodeClass of a group."""
    image = {"id": plan.ami_id} if plan.ami_id else image_alias(plan.image, plan.release)
    return class_object(plan.name, image, plan.disk, place, kubelet={"maxPods": plan.start.pods}, **_extras(plan))


def image_alias(image: NodeImage, release: str) -> Object:
    """Return what selects a release of an image of AWS's."""
    return {"alias": f"{image}@{release}"}


def class_object(name: str, image: Object, disk: Disk, place: Surroundings, **more: Any) -> Object:  # noqa: ANN401
    """Return an EC2NodeClass with what all nodes have: an encrypted disk, IMDSv2, tags."""
    metadata = {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": place.hops}
    spec: Object = {
        "amiSelectorTerms": [image],
        "role": place.role,
        "subnetSelectorTerms": [{"id": subnet} for subnet in place.subnets],
        "securityGroupSelectorTerms": [{"id": group} for group in place.security_groups],
        "blockDeviceMappings": [_volume(disk)],
        "metadataOptions": metadata,
        "tags": dict(place.tags),
        **({"placementGroupSelector": {"name": place.placement_group}} if place.placement_group is not None else {}),
        **more,
    }
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
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
        held = [block.reservation for block in plan.blocks] or [plan.reservation]
        spec["capacityReservationSelectorTerms"] = [{"id": each.id} for each in held]
    words = karpenter_user_data(plan.start, plan.image)
    if words:
        spec["userData"] = words
    return spec


def _volume(disk: Disk) -> Object:
    ebs: Object = {"volumeSize": f"{disk.gib}Gi", "volumeType": "gp3", "encrypted": True, "deleteOnTermination": True}
    chosen = {"throughput": disk.throughput, "iops": disk.iops, "kmsKeyID": disk.kms_key}
    return {"deviceName": disk.device, "ebs": {**ebs, **{key: value for key, value in chosen.items() if value}}}


NAME = "general"
_INSTANCE = "karpenter.k8s.aws/instance"
_LEAST = (("-generation", "4"), ("-cpu", "1"))
"""Newer than the fourth generation, for all of those take address prefixes and so the pods that kubelet is told; and
more than one vCPU, of which the system would take most."""


def general_pool(pool: GeneralPool, environment: NodeEnvironment) -> Object:
    """Return the NodePool.

    It weighs least, so that pods which name an instance type get the nodes of their own pool. Drains end after a
    while: what runs here runs elsewhere too, and a disruption budget must not keep a node that is to go.
    """
    wanted = {
        "kubernetes.io/arch": [pool.arch],
        "kubernetes.io/os": ["linux"],
        KARPENTER_CAPACITY_LABEL: sorted(pool.capacity),
        ZONE_LABEL: list(environment.zones),
        f"{_INSTANCE}-category": list(pool.categories),
    }
    above = [{"key": f"{_INSTANCE}{key}", "operator": "Gt", "values": [value]} for key, value in _LEAST]
    spec = {
        "limits": {"cpu": str(pool.max_vcpus)},
        "disruption": _consolidating(environment.pools.disruption).wire(),
        "template": {
            "spec": {
                "nodeClassRef": class_reference(NAME),
                "requirements": [*among(wanted), *above],
                "expireAfter": "Never",
                "terminationGracePeriod": "30m",
            }
        },
    }
    return pool_object(NAME, spec)


def _consolidating(rules: Disruption) -> Disruption:
    """Return the rules of the other pools, but that nodes go too whose pods fit elsewhere."""
    return replace(rules, policy="WhenEmptyOrUnderutilized")


def general_class(environment: NodeEnvironment, place: Surroundings) -> Object:
    """Return the EC2NodeClass."""
    image = image_alias(environment.image, release_of(environment))
    disk = Disk(data_device(environment.image), OS_DISK_GIB, kms_key=environment.boot.kms_key)
    words = karpenter_user_data(Start(MAX_PODS, extra=environment.boot.user_data), environment.image)
    more: Object = {"userData": words} if words else {}
    if environment.nodes.prefixes:
        # Without prefixes each type takes as many as its interfaces have addresses for, which Karpenter knows.
        more["kubelet"] = {"maxPods": MAX_PODS}
    return class_object(NAME, image, disk, place, **more)


def largest(pool: GeneralPool) -> Instance | None:
    """Return the largest known instance type that the pool may launch; None where none is known."""
    found = [
        node
        for node in instances().values()
        if not node.accelerators
        and node.arch == pool.arch
        and node.name[0] in pool.categories
        and node.vcpu <= pool.max_vcpus
    ]
    return max(found, key=lambda node: (node.memory_gib, node.vcpu, node.name), default=None)
