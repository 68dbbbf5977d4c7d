"""The nodes of the toy cloud."""

from decimal import Decimal

from components.fleet.cloud_facts import CloudFacts
from components.fleet.instances import Instance

GIB = 2**30
SMALL = Instance(
    name="toy-small",
    family="toy",
    vcpu=8,
    memory_gib=Decimal(64),
    arch="amd64",
    allocatable_cpu=Decimal("7.5"),
    allocatable_memory=Decimal(60 * GIB),
    accelerator="L4",
    manufacturer="NVIDIA",
    accelerators=1,
    accelerator_memory_gib=Decimal(24),
    accelerator_resource="nvidia.com/gpu",
    usd_per_hour=Decimal(2),
)
LARGE = Instance(
    name="toy-large",
    family="toy",
    vcpu=32,
    memory_gib=Decimal(256),
    arch="amd64",
    allocatable_cpu=Decimal(31),
    allocatable_memory=Decimal(240 * GIB),
    accelerator="L4",
    manufacturer="NVIDIA",
    accelerators=4,
    accelerator_memory_gib=Decimal(24),
    accelerator_resource="nvidia.com/gpu",
    usd_per_hour=Decimal(7),
)


def cloud_facts() -> CloudFacts:
    """Return what the fleet has to know of it."""
    return CloudFacts(instances=(SMALL, LARGE), label_domains=("toys.example",))
