"""EC2 instance types, and the resources that a node of each type offers to pods.

``general_instances.csv`` has every type without accelerators from EC2's answer to DescribeInstanceTypes; its source
and date are in ``sources.csv``, and ``tools/refresh_instances.py`` writes both. Each row of
``accelerated_instances.csv`` names its source, because what pods can request of the accelerators is not in that
answer. Prices are on-demand Linux in us-east-1, from ``prices``. ``eni_pods`` of accelerated types is computed from
awslabs/amazon-eks-ami v20260714, nodeadm/internal/kubelet/instance-info.jsonl; for p3 from
aws/karpenter-provider-aws 1d927085, pkg/providers/instancetype/zz_generated.vpclimits.go.
"""

import csv
import functools
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Any

from ...contract.tables import load_table
from ...fleet.instances import MAX_PODS, VENDOR_RESOURCES, DescribedType, Instance, instances
from .names import EFA_RESOURCE, NEURON_RESOURCE
from .prices.matrices import on_demand

PRICED_REGION = "us-east-1"
"""Region whose prices rank instance types in hints."""
SUGGESTED_FAMILIES = frozenset({"c7g", "c7i", "m7g", "m7i", "r7g", "r7i"})
"""Families without accelerators that messages suggest: those of one generation, which most regions offer.

Cheaper ones are burstable, of earlier generations or in few regions, which a hint cannot weigh."""
_LEAST_VCPU = 2
"""Types with fewer vCPUs are few, and of earlier generations."""
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


class GeneralTypes(Mapping[str, Instance]):
    """The types without accelerators, by name, built on first access: most commands read few of them."""

    def __init__(self) -> None:
        header, *lines = _text("general_instances.csv").splitlines()
        self._columns = header.split(",")
        self._lines = {line.partition(",")[0]: line for line in lines}
        self._built: dict[str, Instance] = {}

    def __getitem__(self, name: str) -> Instance:
        if name not in self._built:
            row = dict(zip(self._columns, self._lines[name].split(","), strict=True))
            self._built[name] = _instance(row, is_suggested=name.partition(".")[0] in SUGGESTED_FAMILIES)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def described_type(described: DescribedType) -> Instance:
    """Return an instance type that the tables do not have, as settings describe it.

    Without the addresses of its network interfaces, the most of the known types with as many vCPUs count, so that its
    nodes do not have less memory for pods than planned.
    """
    pods = described.address_pods
    if pods is None:
        pods = max(
            node.address_pods for node in instances().values() if node.vcpu <= max(described.vcpu, _LEAST_VCPU)
        )
    row = {
        "instance_type": described.name,
        "vcpu": str(described.vcpu),
        "memory_gib": str(described.memory_gib),
        "arch": described.arch,
        "eni_pods": str(pods),
        "efa_interfaces": str(described.fabric_interfaces),
        "local_nvme_gb": str(described.local_nvme_gb),
    }
    if not described.accelerators:
        return _instance(row, fabric_card=described.fabric_card)
    return _instance(
        row,
        accelerator=described.accelerator,
        manufacturer=described.manufacturer,
        accelerators=described.accelerators,
        accelerator_memory_gib=described.accelerator_memory_gib,
        accelerator_resource=_resource(described.manufacturer),
        fabric_card=described.fabric_card,
    )


def _resource(manufacturer: str) -> str | None:
    return NEURON_RESOURCE if manufacturer == "AWS" else VENDOR_RESOURCES.get(manufacturer)


def accelerated_types() -> Iterator[Instance]:
    products = load_table(__package__, "products.yaml")
    for row in csv.DictReader(_text("accelerated_instances.csv").splitlines()):
        family = row["instance_type"].partition(".")[0]
        accelerators, manufacturer = int(row["accelerator_count"]), row["manufacturer"]
        yield _instance(
            row,
            accelerator=row["accelerator"],
            manufacturer=manufacturer,
            accelerators=accelerators,
            accelerator_memory_gib=Decimal(row["accelerator_memory_gib"]),
            product=products.get(family, ""),
            accelerator_resource=_resource(manufacturer),
        )


def _instance(row: Mapping[str, str], **further: Any) -> Instance:  # noqa: ANN401
    name, arch = row["instance_type"], row["arch"]
    vcpu, memory_gib = int(row["vcpu"]), Decimal(row["memory_gib"])
    eni_pods, efa_interfaces = int(row["eni_pods"]), int(row["efa_interfaces"])
    usd = on_demand().cell(PRICED_REGION, name)
    return Instance(
        name=name,
        family=name.partition(".")[0],
        vcpu=vcpu,
        memory_gib=memory_gib,
        arch=arch,
        allocatable_cpu=_allocatable_cpu(vcpu),
        allocatable_memory=_allocatable_mib(memory_gib, arch, eni_pods) * _MIB,
        fabric_resource=EFA_RESOURCE if efa_interfaces else "",
        fabric_interfaces=efa_interfaces,
        fabric_memory=_huge_pages_mib(vcpu) * _MIB if efa_interfaces else Decimal(0),
        local_nvme_gb=int(row["local_nvme_gb"]),
        address_pods=eni_pods,
        usd_per_hour=Decimal(usd) if usd else None,
        **further,
    )


def _text(file: str) -> str:
    return files(__package__).joinpath(file).read_text(encoding="utf-8")


@functools.cache
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
    # Types of 1 GiB and less have not even what the node reserves.
    return max(Decimal(0), total - math.ceil(total * _VM_SHARE) - (255 + 11 * max(MAX_PODS, eni_pods)) - 100)


def _huge_pages_mib(vcpu: int) -> int:
    """Return the memory in MiB that nodes with EFA set aside as huge pages, so that pods cannot request it.

    Sources: EKS user guide, "Run machine learning training on Amazon EKS with Elastic Fabric Adapter" (5128 pages of
    2 MiB); bottlerocket-os/bottlerocket-core-kit, sources/api/corndog (110 pages per core).
    """
    return 2 * max(5128, 110 * vcpu)
