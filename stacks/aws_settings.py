"""The settings of a stack on AWS, section by section, and what the planning makes of them."""

import datetime
from typing import Annotated, Literal

from pydantic import Field

from components.aws.nodes.plan import NodeEnvironment
from components.nodes.policy import NodePolicy, Reservation, TypePolicy
from components.plan.section import Flag, Moment, Section

REGION = r"^[a-z]{2,4}(-[a-z]+)+-\d+$"
Zone = Annotated[str, Field(pattern=r"^[a-z]{2,4}(-[a-z]+)+-\d+[a-z]$")]
Capacity = Literal["on-demand", "spot", "odcr", "capacity-block"]
Count = Annotated[int, Field(ge=0, le=450)]


class NetworkSettings(Section):
    """A VPC to make, or one to use."""

    zones: list[Zone] = Field(default_factory=list)
    cidr: str | None = None
    nat_gateways: Literal["one", "per-zone", "none"] = "one"
    interface_endpoints: list[str] = Field(default_factory=list)
    vpc_id: str | None = None
    private_subnets: dict[str, str] = Field(default_factory=dict)
    public_subnets: dict[str, str] = Field(default_factory=dict)

    @property
    def node_zones(self) -> tuple[str, ...]:
        """Zones with a private subnet."""
        return tuple(self.private_subnets or self.zones)


class ClusterSettings(Section):
    """An EKS cluster to make, or one to use; its name is ``clusterName``."""

    version: str = "1.35"
    existing: bool = False
    public_access_cidrs: list[str] = Field(default_factory=list)
    admin_role_arns: list[str] = Field(default_factory=list)
    viewer_role_arns: list[str] = Field(default_factory=list)
    log_types: list[str] | None = None
    log_retention_days: int = Field(default=90, ge=1)
    secrets_key_arn: str | None = None
    addons: dict[str, str] = Field(default_factory=dict)
    support: Literal["standard", "extended"] = "standard"
    system_instance_types: list[str] = Field(default_factory=lambda: ["m7i.large"])
    system_nodes: int = Field(default=2, ge=1)
    node_role_arn: str | None = None
    deletion_protection: bool = False
    service_cidr: str = "172.20.0.0/16"


class ReservationSettings(Section):
    """Capacity that is paid for already."""

    id: str = Field(pattern=r"^(cr-[0-9a-z]+|arn:.*:group/.+)$")
    zone: Zone
    count: int = Field(ge=1, le=450)
    starts: Moment | None = None
    ends: Moment | None = None


class TypeSettings(Section):
    """What this environment says about one instance type."""

    capacity: Capacity | None = None
    reservation: ReservationSettings | None = None
    zones: list[Zone] = Field(default_factory=list)
    spot_types: list[str] = Field(default_factory=list)
    efa: bool = False
    placement_group: bool = False
    ami_id: str | None = Field(default=None, pattern=r"^ami-[0-9a-f]+$")
    min_nodes: Count | None = None
    max_nodes: Annotated[int, Field(ge=1, le=450)] | None = None

    def policy(self) -> TypePolicy:
        """Return the rule that planning works with."""
        held = self.reservation
        return TypePolicy(
            capacity=self.capacity,
            reservation=Reservation(held.id, held.zone, held.count, held.starts, held.ends) if held else None,
            zones=tuple(self.zones),
            alternatives=tuple(self.spot_types),
            efa=self.efa,
            placement_group=self.placement_group,
            ami_id=self.ami_id,
            min_nodes=self.min_nodes,
            max_nodes=self.max_nodes,
        )


class GpuNodeSettings(Section):
    """The nodes of the models."""

    provisioner: Literal["managed", "karpenter"] = "managed"
    capacity: Literal["on-demand", "spot"] = "on-demand"
    image: Literal["al2023", "bottlerocket"] = "al2023"
    ami_release: str = ""
    disk_gib: int = Field(default=200, ge=20, le=16384)
    scale_to_zero: Flag = True
    zones: list[Zone] = Field(default_factory=list)
    node_repair: bool = False
    imds_hop_limit: int = Field(default=1, ge=1, le=64)
    quotas: dict[str, int] = Field(default_factory=dict)
    types: dict[str, TypeSettings] = Field(default_factory=dict)

    def policy(self, labels: dict[str, str]) -> NodePolicy:
        """Return what planning works with.

        Args:
            labels: What every pod of the environment selects, and every node must carry therefore.
        """
        return NodePolicy(self.capacity, {name: said.policy() for name, said in self.types.items()}, labels)

    def environment(
        self, region: str, network: NetworkSettings, version: str, labels: dict[str, str], file: str
    ) -> NodeEnvironment:
        """Return where and how nodes are made, as of now."""
        return NodeEnvironment(
            region=region,
            zones=tuple(self.zones) or network.node_zones,
            version=version,
            now=datetime.datetime.now(datetime.UTC),
            nodes=self.policy(labels),
            provisioner=self.provisioner,
            image=self.image,
            disk_gib=self.disk_gib,
            scale_to_zero=self.scale_to_zero,
            quotas=self.quotas,
            settings_file=file,
        )
