"""EC2 instance types: what a node of each offers.

Sources stand in each row of the CSV files. Prices are on-demand Linux, us-east-1; an empty price is unknown.
``eni_pods`` is computed from awslabs/amazon-eks-ami v20260714, nodeadm/internal/kubelet/instance-info.jsonl; for p3
from aws/karpenter-provider-aws 1d927085, pkg/providers/instancetype/zz_generated.vpclimits.go.
"""

import csv
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib.resources import files

from ...contract.tables import load_table
from ...fleet.instances import MAX_PODS, VENDOR_RESOURCES, Instance
from .names import EFA_RESOURCE, NEURON_RESOURCE

PRICED_REGION = "us-east-1"
"""The tables have prices of this region alone."""
_FILES = ("accelerated_instances.csv", "general_instances.csv")
_MIB = Decimal(2**20)
_VM_SHARE = Decimal("0.075")
_ARM_MIB = 64
_RESERVED_CPU = (
    (1, Decimal("0.06")),
    (1, Decimal("0.01")),
    (2, Decimal("0.005")),
    (math.inf, Decimal("0.0025")),
)


def instance_types() -> Iterator[Instance]:
    """Yield every EC2 instance type of the tables."""
    products = load_table(__package__, "products.yaml")
    for file in _FILES:
        text = files(__package__).joinpath(file).read_text(encoding="utf-8")
        yield from (_instance(row, products) for row in csv.DictReader(text.splitlines()))


def _instance(row: Mapping[str, str], products: Mapping[str, str]) -> Instance:
    family = row["instance_type"].partition(".")[0]
    vcpu, memory_gib, arch = int(row["vcpu"]), Decimal(row["memory_gib"]), row["arch"]
    eni_pods, efa_interfaces = int(row["eni_pods"]), int(row["efa_interfaces"])
    accelerators, manufacturer = int(row["accelerator_count"]), row["manufacturer"]
    resource = NEURON_RESOURCE if manufacturer == "AWS" else VENDOR_RESOURCES.get(manufacturer)
    return Instance(
        name=row["instance_type"],
        family=family,
        vcpu=vcpu,
        memory_gib=memory_gib,
        arch=arch,
        allocatable_cpu=_allocatable_cpu(vcpu),
        allocatable_memory=_allocatable_mib(memory_gib, arch, eni_pods) * _MIB,
        accelerator=row["accelerator"],
        manufacturer=manufacturer,
        accelerators=accelerators,
        accelerator_memory_gib=_number(row["accelerator_memory_gib"]),
        product=products.get(family, ""),
        accelerator_resource=resource if accelerators else None,
        fabric_resource=EFA_RESOURCE if efa_interfaces else "",
        fabric_interfaces=efa_interfaces,
        fabric_memory=_huge_pages_mib(vcpu) * _MIB if efa_interfaces else Decimal(0),
        local_nvme_gb=int(row["local_nvme_gb"]),
        address_pods=eni_pods,
        usd_per_hour=_number(row["usd_per_hour_us_east_1"]),
    )


def _allocatable_cpu(vcpu: int) -> Decimal:
    """Return the cores that pods can request, whoever makes the node and from whichever image.

    Source: the EKS images (nodeadm and Bottlerocket alike): 6 %, 1 %, 0.5 %, 0.5 % of the first four cores, 0.25 % of
    the others.
    """
    cores, reserved = vcpu, Decimal(0)
    for count, share in _RESERVED_CPU:
        used = min(count, cores)
        reserved += share * Decimal(used)
        cores -= int(used)
    return Decimal(vcpu) - reserved


def _allocatable_mib(memory_gib: Decimal, arch: str, eni_pods: int) -> Decimal:
    """Return the least memory that pods can count on.

    Before Karpenter has seen a node of a type it takes 7.5 % off for what the hypervisor and the kernel keep
    (VM_MEMORY_OVERHEAD_PERCENT), and off Graviton 64 MiB more; a pod that asks for more never gets a node. Kubelet
    keeps 255 MiB and 11 MiB per pod: Bottlerocket counts the pods that kubelet may run, AL2023 those that the network
    interfaces have addresses for, whatever kubelet is told. It evicts from 100 MiB on.

    Sources: aws/karpenter-provider-aws 1d927085, pkg/providers/instancetype/types.go and its troubleshooting page;
    awslabs/amazon-eks-ami v20260714, nodeadm/internal/kubelet/config.go; bottlerocket-os/bottlerocket,
    sources/api/schnauzer/src/helpers.rs.
    """
    total = memory_gib * 1024 - (_ARM_MIB if arch == "arm64" else 0)
    return total - math.ceil(total * _VM_SHARE) - (255 + 11 * max(MAX_PODS, eni_pods)) - 100


def _huge_pages_mib(vcpu: int) -> int:
    """Return the memory that nodes with EFA set aside as huge pages, which pods cannot have as memory.

    Sources: EKS user guide, "Run machine learning training on Amazon EKS with Elastic Fabric Adapter" (5128 pages of
    2 MiB); bottlerocket-os/bottlerocket-core-kit, sources/api/corndog (110 pages per core).
    """
    return 2 * max(5128, 110 * vcpu)


def _number(text: str) -> Decimal | None:
    return Decimal(text) if text else None
