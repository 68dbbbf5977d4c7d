"""The settings of a stack's network and cluster on AWS."""

from pydantic import Field

from components.aws.components.node_settings import Zone
from components.aws.words import NatGateways, Support
from components.plan.section import Section

REGION = r"^[a-z]{2,4}(-[a-z]+)+-\d+$"


class NetworkSettings(Section):
    """A VPC to make, or one to use."""

    zones: list[Zone] = Field(default_factory=list)
    cidr: str | None = None
    nat_gateways: NatGateways = NatGateways.ONE
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
    support: Support = Support.STANDARD
    system_instance_types: list[str] = Field(default_factory=lambda: ["m7i.large"])
    system_nodes: int = Field(default=2, ge=1)
    node_role_arn: str | None = None
    deletion_protection: bool = False
    service_cidr: str = "172.20.0.0/16"
