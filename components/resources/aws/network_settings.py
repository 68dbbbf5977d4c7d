"""What a program or a stack says about the network, checked."""

from pydantic import Field

from ...clouds.aws.logs import DEFAULT_DAYS
from ...clouds.aws.words import NatGateways, Traffic
from ...plan.section import Flag, Section
from .node_settings import Zone


class FlowLogSettings(Section):
    """A record of the connections in the VPC, kept in CloudWatch Logs."""

    traffic: Traffic = Traffic.REJECTED
    """Which connections are recorded."""
    retention_days: int = Field(default=DEFAULT_DAYS, ge=1)
    """Days to keep the record; one of the periods of CloudWatch Logs, such as 30."""


class NetworkSettings(Section):
    """A new or existing VPC."""

    zones: list[Zone] = Field(default_factory=list)
    """Availability zones, two to seven. Without cluster.zones the position of a zone determines the addresses of its
    subnets, and the control plane has all zones: then do not change the list."""
    cidr: str | None = None
    """IPv4 range of the VPC, /16 to /21. Default: 10.0.0.0/16."""
    pod_cidr: str | None = None
    """A second IPv4 range of a new VPC, inside 100.64.0.0/10 and /16 to /21, with a subnet per zone from which pods
    take addresses once those of the first run short. Default: none."""
    ipv6: Flag = False
    """Whether a new VPC also has IPv6, through which nodes and pods reach the internet without a NAT gateway. The
    cluster itself stays IPv4."""
    flow_logs: FlowLogSettings | None = None
    """Records the connections in a new VPC. Default: none."""
    nat_gateways: NatGateways = NatGateways.ONE
    """How private subnets reach the internet. With none, nodes start only if interface endpoints provide what they
    need."""
    interface_endpoints: list[str] = Field(default_factory=list)
    """AWS services to reach without the internet: autoscaling, ec2, ecr.api, ecr.dkr, eks, eks-auth,
    elasticloadbalancing, logs, sqs, ssm, ssmmessages, sts. Default: none."""
    vpc_id: str | None = None
    """An existing VPC. Only interface endpoints are created in it."""
    private_subnets: dict[str, str] = Field(default_factory=dict)
    """Private subnets by zone in that VPC, in at least two zones."""
    public_subnets: dict[str, str] = Field(default_factory=dict)
    """Public subnets by zone in that VPC."""

    @property
    def addresses(self) -> int | None:
        """IPv4 addresses of the nodes on the internet, one for each NAT gateway; None in a VPC that exists."""
        if self.vpc_id:
            return None
        return {NatGateways.NONE: 0, NatGateways.ONE: 1}.get(self.nat_gateways, len(self.zones))

    @property
    def node_zones(self) -> tuple[str, ...]:
        """Zones with a private subnet, as they are listed."""
        return tuple(self.private_subnets or self.zones)
