"""Instance types: what a node of each offers. Every registered cloud brings its own table."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from .clouds import cleared_with_clouds, clouds

MAX_PODS = 110
"""Pods of one node: kubelet's default, written into its configuration where another component would change it."""
VENDOR_RESOURCES: Mapping[str, str] = MappingProxyType(
    {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "Habana": "habana.ai/gaudi"}
)
"""Extended resource under which a vendor's device plugin offers its accelerators, on whichever cloud they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance type of a cloud.

    Attributes:
        name: Value of the label ``node.kubernetes.io/instance-type`` of its nodes, unique over all clouds.
        family: The types that differ from it in size alone; equal to the name where a cloud has no families.
        memory_gib: Memory in binary GiB.
        arch: Value of the label ``kubernetes.io/arch`` of its nodes.
        allocatable_cpu: Cores that pods can request, after what the node reserves for itself.
        allocatable_memory: Bytes of memory that pods can request, likewise.
        accelerator: What the vendor calls the accelerator; empty without one.
        manufacturer: Vendor of the accelerator; empty without one.
        accelerators: How many accelerators a pod on it can request; 0 for general purpose types.
        accelerator_memory_gib: Memory of one accelerator, in GiB as the cloud's API reports it.
        product: What labels of its nodes call the product, as GPU feature discovery names it; empty where that is not
            known.
        accelerator_resource: Extended resource by which pods request its accelerators; None without accelerators.
        fabric_resource: Extended resource by which pods request its network interfaces for traffic between nodes that
            bypasses the kernel, such as RDMA; empty without such interfaces.
        fabric_interfaces: How many such interfaces it can have; 0 where it has none.
        fabric_memory: Bytes of memory that a node sets aside as huge pages when it has these interfaces.
        local_nvme_gb: Size of its local NVMe disks together, in GB; 0 without.
        address_pods: Pods that its network interfaces have addresses for, where each pod needs one of its own.
        usd_per_hour: On-demand price in the region that the cloud's tables are about; None where no source gives one.
    """

    name: str
    family: str
    vcpu: int
    memory_gib: Decimal
    arch: str
    allocatable_cpu: Decimal
    allocatable_memory: Decimal
    accelerator: str = ""
    manufacturer: str = ""
    accelerators: int = 0
    accelerator_memory_gib: Decimal | None = None
    product: str = ""
    accelerator_resource: str | None = None
    fabric_resource: str = ""
    fabric_interfaces: int = 0
    fabric_memory: Decimal = Decimal(0)
    local_nvme_gb: int = 0
    address_pods: int = MAX_PODS
    usd_per_hour: Decimal | None = None


def instance(name: str) -> Instance | None:
    """Return what is known of an instance type."""
    return instances().get(name)


@cleared_with_clouds
@functools.cache
def instances() -> Mapping[str, Instance]:
    """Return every known instance type by name.

    Raises:
        ValueError: Two clouds have an instance type of the same name, so that a manifest could not name one of them.
    """
    found: dict[str, Instance] = {}
    clouds_of: dict[str, str] = {}
    for cloud, nodes in clouds().items():
        for each in nodes.instances:
            if each.name in found:
                raise ValueError(
                    f"instance type {each.name!r} is in the tables of both {clouds_of[each.name]!r} and {cloud!r}; "
                    "the names of instance types must differ over all clouds"
                )
            found[each.name], clouds_of[each.name] = each, cloud
    return MappingProxyType(found)


@cleared_with_clouds
@functools.cache
def accelerator_resources() -> frozenset[str]:
    """Return the extended resources by which pods request accelerators, of vendors and of clouds."""
    known = {each.accelerator_resource for each in instances().values() if each.accelerator_resource}
    return frozenset((*VENDOR_RESOURCES.values(), *known))


@cleared_with_clouds
@functools.cache
def fabrics() -> Mapping[str, str]:
    """Return what users call the fast network interfaces of nodes, by the extended resource that requests them."""
    return MappingProxyType({resource: name for each in clouds().values() for resource, name in each.fabrics.items()})
