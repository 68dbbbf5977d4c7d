"""Instance types and what their nodes offer. Every registered cloud provides its own table."""

import functools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from .clouds import cleared_with_clouds, clouds

MAX_PODS = 110
"""Maximum pods of a node: the kubelet's default, set explicitly where another component would change it."""
VENDOR_RESOURCES: Mapping[str, str] = MappingProxyType(
    {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "Habana": "habana.ai/gaudi"}
)
"""Extended resource that a vendor's device plugin advertises, on every cloud."""
_OTHER_RESOURCES = re.compile(
    r"gpu\.intel\.com/(i915|xe)|google\.com/tpu|rebellions\.ai/\w+|huawei\.com/[Aa]scend[\w-]*(?<!-memory)(?<!-core)"
)
"""Extended resources of accelerators that no instance type in the tables has, so that only their number is known.

Sources: the device plugins of Intel (intel/intel-device-plugins-for-kubernetes, cmd/gpu_plugin; its resources for
monitoring and memory are no devices), of Google Kubernetes Engine, of Rebellions (named after the product, such as
``ATOM``; llm-d-incubation/llm-d-modelservice, examples/values-rebellions-atom.yaml at 3051935e), and of Huawei (named
after the chip, such as ``Ascend910``; HAMi's shares of memory and cores are no devices).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance type of a cloud.

    Attributes:
        name: Value of the node label ``node.kubernetes.io/instance-type``; unique over all clouds.
        family: Types that differ only in size; equal to the name if the cloud has no families.
        memory_gib: Memory in binary GiB.
        arch: Value of the node label ``kubernetes.io/arch``.
        allocatable_cpu: Cores that pods can request, without what the node reserves.
        allocatable_memory: Bytes of memory that pods can request, likewise.
        accelerator: The vendor's name for the accelerator; empty without one.
        manufacturer: Vendor of the accelerator; empty without one.
        accelerators: Accelerators that pods on it can request; 0 for general-purpose types.
        accelerator_memory_gib: Memory of one accelerator, in GiB as the cloud's API reports it.
        product: Value of the product label of its nodes, as GPU feature discovery sets it; empty if unknown.
        accelerator_resource: Extended resource by which pods request its accelerators; None without accelerators.
        fabric_resource: Extended resource of its kernel-bypass network interfaces, such as RDMA; empty without any.
        fabric_interfaces: Maximum number of such interfaces.
        fabric_memory: Bytes of memory that a node with these interfaces reserves as huge pages.
        fabric_card: Index of the first network card with such an interface, if its description says so.
        local_nvme_gb: Total size of its local NVMe disks, in GB.
        address_pods: Pods that its network interfaces have addresses for, if each pod needs its own address.
        usd_per_hour: On-demand price in the region that the cloud ranks types by; None if no source gives one.
        is_suggested: Whether hints may suggest it to those who named none.
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
    fabric_card: int = 0
    local_nvme_gb: int = 0
    address_pods: int = MAX_PODS
    usd_per_hour: Decimal | None = None
    is_suggested: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedType:
    """What settings say of an instance type that no table has; see :class:`Instance`.

    Attributes:
        address_pods: None if the settings do not say it.
    """

    name: str
    vcpu: int
    memory_gib: Decimal
    arch: str
    accelerator: str = ""
    manufacturer: str = ""
    accelerators: int = 0
    accelerator_memory_gib: Decimal | None = None
    fabric_interfaces: int = 0
    fabric_card: int = 0
    local_nvme_gb: int = 0
    address_pods: int | None = None


_BESIDE: ContextVar[Mapping[str, Instance]] = ContextVar("_BESIDE", default=MappingProxyType({}))
"""Types of one environment that no table has."""


@contextmanager
def instances_beside(others: Mapping[str, Instance]) -> Iterator[None]:
    """Know further instance types by name, which no choice of a type considers, while one environment is planned."""
    token = _BESIDE.set({**_BESIDE.get(), **others})
    try:
        yield
    finally:
        _BESIDE.reset(token)


def offered_instances() -> Mapping[str, Instance]:
    """Return all instance types by name, with those that the environment describes."""
    return {**_BESIDE.get(), **instances()}


def instance(name: str) -> Instance | None:
    """Return an instance type by name; None if it is unknown."""
    for table in _tables():
        if name in table:
            return table[name]
    return _BESIDE.get().get(name)


@cleared_with_clouds
@functools.cache
def instances() -> Mapping[str, Instance]:
    """Return all known instance types by name.

    These are more than a thousand. What needs one, or those with accelerators, asks for that.

    Raises:
        ValueError: Two clouds have an instance type of the same name, which manifests could not tell apart.
    """
    return MappingProxyType({name: node for table in _tables() for name, node in table.items()})


@cleared_with_clouds
@functools.cache
def accelerated_instances() -> tuple[Instance, ...]:
    """Return the known instance types with accelerators."""
    return tuple(node for facts in clouds().values() for node in facts.instances if node.accelerators)


@cleared_with_clouds
@functools.cache
def _tables() -> tuple[Mapping[str, Instance], ...]:
    """Return the tables of all clouds, by the names of their types; see :func:`instances`."""
    tables: list[Mapping[str, Instance]] = []
    clouds_of: dict[str, str] = {}
    for cloud, facts in clouds().items():
        own = {node.name: node for node in facts.instances}
        for name in (*own, *facts.general):
            if name in clouds_of:
                raise ValueError(
                    f"instance type {name!r} is in the tables of both {clouds_of[name]!r} and {cloud!r}; "
                    "the names of instance types must differ over all clouds"
                )
            clouds_of[name] = cloud
        tables += [own, facts.general]
    return tuple(tables)


@cleared_with_clouds
@functools.cache
def accelerator_resources() -> frozenset[str]:
    """Return the extended resources of accelerators, of vendors and of clouds."""
    known = {node.accelerator_resource for node in accelerated_instances() if node.accelerator_resource}
    others = (name for facts in clouds().values() for name in facts.accelerators)
    return frozenset((*VENDOR_RESOURCES.values(), *known, *others))


@cleared_with_clouds
@functools.lru_cache(maxsize=1024)
def is_accelerator(resource: str) -> bool:
    """Return whether pods request accelerators by a resource, of whatever vendor."""
    return resource in accelerator_resources() or _OTHER_RESOURCES.fullmatch(resource) is not None


@cleared_with_clouds
@functools.cache
def fabrics() -> Mapping[str, str]:
    """Return the display names of fast network interfaces by extended resource."""
    return MappingProxyType(
        {resource: name for cloud in clouds().values() for resource, name in cloud.fabrics.items()}
    )
