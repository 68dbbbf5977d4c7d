"""A pool of Karpenter's for pods that name no instance type: general purpose nodes, as cheap as will do."""

from dataclasses import replace

from .....fleet.demand import ZONE_LABEL
from .....fleet.instances import MAX_PODS, Instance, instances
from .....fleet.objects import Object
from ...names import KARPENTER_CAPACITY_LABEL
from ..karpenter import Surroundings, among, class_object, class_reference, image_alias, pool_object
from ..launch import OS_DISK_GIB, Disk, data_device
from ..plan import NodeEnvironment, release_of
from ..user_data import Start, karpenter_user_data
from .rules import Disruption, GeneralPool

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
