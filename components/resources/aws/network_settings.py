"""Settings of a VPC, shared by programs and stacks."""

from typing import Any

from pydantic import Field

from ...clouds.aws.logs import DEFAULT_DAYS
from ...clouds.aws.words import NatGateways, Traffic
from ...plan.section import Flag, Section
from .node_settings import Zone
from .storage.settings import KMS_KEY


class FlowLogSettings(Section):
    """VPC flow logs, delivered to CloudWatch Logs."""

    traffic: Traffic = Traffic.REJECTED
    """Connections to record: rejected, accepted or all."""
    retention_days: int = Field(default=DEFAULT_DAYS, ge=1)
    """Days to retain the flow logs; one of the periods of CloudWatch Logs, such as 30."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """ARN of the KMS key that encrypts the log group. Its key policy must allow CloudWatch Logs. Default: encryption
    by CloudWatch Logs."""


class NetworkSettings(Section):
    """A new or existing VPC."""

    zones: list[Zone] = Field(default_factory=list)
    """Two to seven availability zones. Without cluster.zones, do not change the list: the control plane uses all
    zones, and the position of a zone determines the addresses of its subnets."""
    cidr: str | None = None
    """IPv4 CIDR range of the VPC, /16 to /21. Default: 10.0.0.0/16."""
    pod_cidr: str | None = None
    """Secondary IPv4 CIDR range of a new VPC, within 100.64.0.0/10 and /16 to /21. Pods get addresses from its
    subnets, one per zone, when those of the first range run short. Default: none."""
    ipv6: Flag = False
    """Whether a new VPC also has an IPv6 range, over which nodes and pods reach the internet without a NAT gateway.
    The cluster itself remains IPv4."""
    flow_logs: FlowLogSettings | None = None
    """Flow logs of a new VPC. Default: none."""
    nat_gateways: NatGateways = NatGateways.ONE
    """NAT gateways of the private subnets: one, per-zone or none. With none, nodes start only if interface endpoints
    provide every service that they need."""
    interface_endpoints: list[str] = Field(default_factory=list)
    """AWS services to create interface endpoints for: autoscaling, ec2, ecr.api, ecr.dkr, eks, eks-auth,
    elasticfilesystem, elasticloadbalancing, fsx, logs, monitoring, sqs, ssm, ssmmessages, sts, xray. Default:
    none."""
    endpoint_policies: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Policy documents of the endpoints that the stack creates, by service; s3 is the gateway endpoint of a new VPC.
    Default: full access."""
    vpc_id: str | None = None
    """ID of an existing VPC. The stack creates only interface endpoints in it. Default: a new VPC."""
    private_subnets: dict[str, str] = Field(default_factory=dict)
    """IDs of private subnets of the existing VPC, by zone; at least two zones."""
    public_subnets: dict[str, str] = Field(default_factory=dict)
    """IDs of public subnets of the existing VPC, by zone."""

    @property
    def addresses(self) -> int | None:
        """Number of public IPv4 addresses of the nodes, one per NAT gateway; None for an existing VPC."""
        if self.vpc_id:
            return None
        return {NatGateways.NONE: 0, NatGateways.ONE: 1}.get(self.nat_gateways, len(self.zones))

    @property
    def node_zones(self) -> tuple[str, ...]:
        """Zones with a private subnet, in the order of the settings."""
        return tuple(self.private_subnets or self.zones)
