"""The settings of a stack's network and cluster on AWS."""

from pydantic import Field

from components.aws.components.node_settings import Zone
from components.aws.words import NatGateways, Support
from components.plan.section import Section

REGION = r"^[a-z]{2,4}(-[a-z]+)+-\d+$"


class NetworkSettings(Section):
    """A VPC to make, or one to use."""

    zones: list[Zone] = Field(default_factory=list)
    """Availability zones, two to seven. Append new ones: a subnet's addresses follow from its zone's position."""
    cidr: str | None = None
    """IPv4 range of the VPC, /16 to /21. Default: 10.0.0.0/16."""
    nat_gateways: NatGateways = NatGateways.ONE
    """How private subnets reach the internet. With none, nodes start only with interface endpoints."""
    interface_endpoints: list[str] = Field(default_factory=list)
    """AWS services to reach without the internet, such as ecr.api, ecr.dkr and sts."""
    vpc_id: str | None = None
    """A VPC that exists. Only interface endpoints are created in it."""
    private_subnets: dict[str, str] = Field(default_factory=dict)
    """Private subnet by zone, in that VPC; two zones at least."""
    public_subnets: dict[str, str] = Field(default_factory=dict)
    """Public subnet by zone, in that VPC."""

    @property
    def node_zones(self) -> tuple[str, ...]:
        """Zones with a private subnet."""
        return tuple(self.private_subnets or self.zones)


class ClusterSettings(Section):
    """An EKS cluster to make, or one to use; its name is ``clusterName``."""

    version: str = "1.35"
    """Kubernetes version, in quotes."""
    existing: bool = False
    """Whether the cluster of this name exists and is used as it is."""
    public_access_cidrs: list[str] = Field(default_factory=list)
    """Address ranges that may reach the API server over the internet. Default: none; private access only."""
    admin_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that administer the cluster, beside the one that creates it."""
    viewer_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that may read everything but Secrets."""
    log_types: list[str] | None = None
    """Logs of the control plane: api, audit, authenticator, controllerManager, scheduler. Default: all."""
    log_retention_days: int = Field(default=90, ge=1)
    """Days that the logs are kept."""
    secrets_key_arn: str | None = None
    """KMS key that encrypts Secrets. Default: one is created."""
    addons: dict[str, str] = Field(default_factory=dict)
    """EKS add-ons beside those that every cluster has, with version; empty is EKS's default version."""
    support: Support = Support.STANDARD
    """What happens when EKS ends the standard support of the version."""
    system_instance_types: list[str] = Field(default_factory=lambda: ["m7i.large"])
    """Types of the nodes for system pods, all of one architecture."""
    system_nodes: int = Field(default=2, ge=1)
    """Number of nodes for system pods."""
    node_role_arn: str | None = None
    """IAM role of the nodes. Default: one is created."""
    deletion_protection: bool = False
    """Whether EKS itself refuses to delete the cluster."""
    service_cidr: str = "172.20.0.0/16"
    """Addresses of Services."""
