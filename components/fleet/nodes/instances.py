"""EC2 instance types: what a node of each offers.

Sources stand in each row of the CSV files. Prices are on-demand Linux, us-east-1; an empty price is unknown.
``eni_pods`` is computed from awslabs/amazon-eks-ami v20260714, nodeadm/internal/kubelet/instance-info.jsonl; for p3
from aws/karpenter-provider-aws 1d927085, pkg/providers/instancetype/zz_generated.vpclimits.go.
"""

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from types import MappingProxyType

from ...clouds.aws.names import NEURON_RESOURCE

PRICED_REGION = "us-east-1"
"""The tables have prices of this region alone."""
_FILES = ("accelerated_instances.csv", "general_instances.csv")
_RESOURCES = {
    "NVIDIA": "nvidia.com/gpu",
    "AMD": "amd.com/gpu",
    "AWS": NEURON_RESOURCE,
    "Habana": "habana.ai/gaudi",
}
"""Extended resource under which the vendor's device plugin offers its accelerators."""
ACCELERATOR_RESOURCES = frozenset(_RESOURCES.values())


@dataclass(frozen=True, slots=True)
class Instance:
    """One EC2 instance type.

    Attributes:
        memory_gib: Memory in binary GiB.
        accelerators: How many accelerators a pod on it can ask for; 0 for general purpose types.
        accelerator_memory_gib: Memory of one accelerator, in GiB as the API reports it.
        efa_interfaces: How many EFA interfaces it can have; 0 where it has none.
        local_nvme_gb: Size of its local NVMe disks together, in GB; 0 without.
        eni_pods: Pods that its network interfaces have addresses for, without prefixes.
        usd_per_hour: On-demand price; None where no source gives one.
    """

    name: str
    vcpu: int
    memory_gib: Decimal
    accelerator: str
    manufacturer: str
    accelerators: int
    accelerator_memory_gib: Decimal | None
    arch: str
    efa_interfaces: int
    local_nvme_gb: int
    eni_pods: int
    usd_per_hour: Decimal | None

    @property
    def family(self) -> str:
        """The part of the name before the size: ``p5en`` of ``p5en.48xlarge``."""
        return self.name.partition(".")[0]

    @property
    def accelerator_resource(self) -> str | None:
        """Extended resource that its accelerators are asked for by; None without accelerators."""
        return _RESOURCES[self.manufacturer] if self.accelerators else None


def instance(name: str) -> Instance | None:
    """Return what is known of an instance type."""
    return instances().get(name)


@functools.cache
def instances() -> Mapping[str, Instance]:
    """Return every known instance type by name."""
    found = {}
    for file in _FILES:
        text = files(__package__).joinpath(file).read_text(encoding="utf-8")
        for row in csv.DictReader(text.splitlines()):
            found[row["instance_type"]] = _instance(row)
    return MappingProxyType(found)


def _instance(row: Mapping[str, str]) -> Instance:
    return Instance(
        name=row["instance_type"],
        vcpu=int(row["vcpu"]),
        memory_gib=Decimal(row["memory_gib"]),
        accelerator=row["accelerator"],
        manufacturer=row["manufacturer"],
        accelerators=int(row["accelerator_count"]),
        accelerator_memory_gib=_number(row["accelerator_memory_gib"]),
        arch=row["arch"],
        efa_interfaces=int(row["efa_interfaces"]),
        local_nvme_gb=int(row["local_nvme_gb"]),
        eni_pods=int(row["eni_pods"]),
        usd_per_hour=_number(row["usd_per_hour_us_east_1"]),
    )


def _number(text: str) -> Decimal | None:
    return Decimal(text) if text else None
