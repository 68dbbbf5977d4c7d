"""EC2 instance types, and the resources that a node of each type offers to pods.

Each row of the CSV files names its source. Prices are on-demand Linux in us-east-1, from ``prices``.
``eni_pods`` is computed from awslabs/amazon-eks-ami v20260714, nodeadm/internal/kubelet/instance-info.jsonl; for p3
from aws/karpenter-provider-aws 1d927085, pkg/providers/instancetype/zz_generated.vpclimits.go.
"""

import csv
import math
from collections.abc import Iterator
from decimal import Decimal
from importlib.resources import files

from ...contract.tables import load_table
from ...fleet.instances import MAX_PODS, VENDOR_RESOURCES, Instance
from .names import EFA_RESOURCE, NEURON_RESOURCE

PRICED_REGION = "us-east-1"
"""The only region with prices in the tables."""
_FILES = ("accelerated_instances.csv", "general_instances.csv")
_PRICES = "prices/on_demand_us_east_1.csv"
_MIB = Decimal(2**20)
_VM_SHARE = Decimal("0.075")
_ARM_MIB = 64
# Kubelet's reservation as pairs of cores and the reserved share of each of them; see _allocatable_cpu.
_RESERVED_CPU = (
    (1, Decimal("0.06")),
    (1, Decimal("0.01")),
    (2, Decimal("0.005")),
    (math.inf, Decimal("0.0025")),
)


def instance_types() -> Iterator[Instance]:
    products = load_table(__package__, "products.yaml")
    prices = {row["instance_type"]: Decimal(row["usd"]) for row in _rows(_PRICES)}
    for file in _FILES:
        for row in _rows(file):
            family = row["instance_type"].partition(".")[0]
            vcpu, memory_gib, arch = int(row["vcpu"]), Decimal(row["memory_gib"]), row["arch"]
            eni_pods, efa_interfaces = int(row["eni_pods"]), int(row["efa_interfaces"])
            accelerators, manufacturer = int(row["accelerator_count"]), row["manufacturer"]
            resource = NEURON_RESOURCE if manufacturer == "AWS" else VENDOR_RESOURCES.get(manufacturer)
            yield Instance(
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
                accelerator_memory_gib=Decimal(row["accelerator_memory_gib"]) if accelerators else None,
                product=products.get(family, ""),
                accelerator_resource=resource if accelerators else None,
                fabric_resource=EFA_RESOURCE if efa_interfaces else "",
                fabric_interfaces=efa_interfaces,
                fabric_memory=_huge_pages_mib(vcpu) * _MIB if efa_interfaces else Decimal(0),
                local_nvme_gb=int(row["local_nvme_gb"]),
                address_pods=eni_pods,
                usd_per_hour=prices.get(row["instance_type"]),
            )


def _rows(file: str) -> Iterator[dict[str, str]]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    return iter(csv.DictReader(text.splitlines()))


def _allocatable_cpu(vcpu: int) -> Decimal:
    """Return the cores that pods can request.

    The EKS images (nodeadm and Bottlerocket alike) reserve 6 %, 1 %, 0.5 % and 0.5 % of the first four cores and
    0.25 % of the others.
    """
    cores, reserved = vcpu, Decimal(0)
    for count, share in _RESERVED_CPU:
        used = min(count, cores)
        reserved += share * Decimal(used)
        cores -= int(used)
    return Decimal(vcpu) - reserved


def _allocatable_mib(memory_gib: Decimal, arch: str, eni_pods: int) -> Decimal:
    """Return the memory that pods can request in the worst case, in MiB.

    Until Karpenter has seen a node of a type, it subtracts 7.5 % for the hypervisor and the kernel
    (VM_MEMORY_OVERHEAD_PERCENT), and another 64 MiB on Graviton; a pod that requests more never gets a node. Kubelet
    reserves 255 MiB plus 11 MiB per pod. Bottlerocket counts the pods that kubelet may run; AL2023 counts those that
    the network interfaces have addresses for, regardless of kubelet's limit. Eviction starts at 100 MiB.

    Sources: aws/karpenter-provider-aws 1d927085, pkg/providers/instancetype/types.go and its troubleshooting page;
    awslabs/amazon-eks-ami v20260714, nodeadm/internal/kubelet/config.go; bottlerocket-os/bottlerocket,
    sources/api/schnauzer/src/helpers.rs.
    """
    total = memory_gib * 1024 - (_ARM_MIB if arch == "arm64" else 0)
    return total - math.ceil(total * _VM_SHARE) - (255 + 11 * max(MAX_PODS, eni_pods)) - 100


def _huge_pages_mib(vcpu: int) -> int:
    """Return the memory in MiB that nodes with EFA set aside as huge pages, so that pods cannot request it.

    Sources: EKS user guide, "Run machine learning training on Amazon EKS with Elastic Fabric Adapter" (5128 pages of
    2 MiB); bottlerocket-os/bottlerocket-core-kit, sources/api/corndog (110 pages per core).
    """
    return 2 * max(5128, 110 * vcpu)
