"""Settings that describe instance types which the tables of the clouds do not have yet."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from ...contract.base import combined_error
from ...fleet.cloud_providers import default_provider
from ...fleet.instances import DescribedType, Instance, instances
from ..section import Section

KEY = "instanceTypes"
_MOST_GIB = 2**17
"""128 TiB, several times the memory of the largest instance."""
_Gib = Annotated[float, Field(gt=0, le=_MOST_GIB, allow_inf_nan=False)]


class TypeAcceleratorSettings(Section):
    """The accelerators of an instance type, as EC2's DescribeInstanceTypes reports them."""

    name: str = Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9 .-]{0,61}[A-Za-z0-9])?$")
    """Name of the accelerator, such as GB200."""
    manufacturer: Literal["NVIDIA", "AMD", "Habana", "AWS"] = "NVIDIA"
    """Manufacturer: NVIDIA, AMD, Habana or AWS."""
    count: int = Field(ge=1, le=1024)
    """Number of accelerators of an instance that pods can request."""
    memory_gib: _Gib
    """Memory of each accelerator, in GiB."""


class InstanceTypeSettings(Section):
    """An instance type that the tables do not have, as EC2's DescribeInstanceTypes reports it."""

    vcpu: int = Field(ge=1, le=4096)
    """Number of vCPUs."""
    memory_gib: _Gib
    """Memory in GiB."""
    arch: Literal["amd64", "arm64"] = "amd64"
    """Architecture of the processors: amd64 or arm64."""
    accelerator: TypeAcceleratorSettings | None = None
    """Its accelerators. Default: none."""
    efa_interfaces: int = Field(default=0, ge=0, le=64)
    """Maximum number of EFA interfaces, one per network card."""
    first_efa_card: int = Field(default=0, ge=0, le=1)
    """Index of the first network card that supports EFA: 1 if the first card supports only ENA."""
    local_nvme_gb: int = Field(default=0, ge=0, le=10**6)
    """Total size of its local NVMe disks, in GB."""
    address_pods: int | None = Field(default=None, ge=1, le=10**4)
    """Pods that its network interfaces have addresses for, as in AWS's eni-max-pods.txt. Default: the most of the
    known types with as many vCPUs, so that nodes reserve enough memory."""

    @model_validator(mode="after")
    def _card_of_interfaces(self) -> "InstanceTypeSettings":
        if self.first_efa_card and not self.efa_interfaces:
            reason = "has no effect without efaInterfaces; set efaInterfaces, or remove it"
            raise combined_error([(("firstEfaCard",), reason)])
        return self

    def described(self, name: str) -> DescribedType:
        facts = self.accelerator
        return DescribedType(
            name=name,
            vcpu=self.vcpu,
            memory_gib=Decimal(str(self.memory_gib)),
            arch=self.arch,
            accelerator=facts.name if facts else "",
            manufacturer=facts.manufacturer if facts else "",
            accelerators=facts.count if facts else 0,
            accelerator_memory_gib=Decimal(str(facts.memory_gib)) if facts else None,
            fabric_interfaces=self.efa_interfaces,
            fabric_card=self.first_efa_card,
            local_nvme_gb=self.local_nvme_gb,
            address_pods=self.address_pods,
        )


def _unknown_to_tables(types: dict[str, InstanceTypeSettings]) -> dict[str, InstanceTypeSettings]:
    known = [name for name in types if name in instances()]
    if known:
        raise combined_error(
            [((name,), "is in the tables, whose figures count: remove it from instanceTypes") for name in known]
        )
    return types


InstanceTypes = Annotated[
    dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,30}$")], InstanceTypeSettings],
    AfterValidator(_unknown_to_tables),
]
"""Instance types by name, such as p6e-gb200.36xlarge."""


def described_types(types: Mapping[str, InstanceTypeSettings]) -> dict[str, Instance]:
    """Return the instance types that settings describe, by name."""
    return {name: default_provider().described_type(settings.described(name)) for name, settings in types.items()}
