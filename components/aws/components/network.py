"""The network of one EKS cluster: made here, or one that exists.

Network
├── ec2.Vpc, ec2.InternetGateway          <name>
├── ec2.RouteTable, ec2.Route             <name>-public
├── per zone
│   ├── ec2.Subnet, RouteTableAssociation <name>-public-<zone>, <name>-private-<zone>
│   ├── ec2.RouteTable, ec2.Route         <name>-private-<zone>, the route where there is a NAT gateway
│   └── ec2.Eip, ec2.NatGateway           <name>-<zone>, in one zone, each or none
├── ec2.VpcEndpoint                       <name>-s3, and <name>-<service> on request, which adds
└── ec2.SecurityGroup, its ingress rule   <name>-endpoints
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_aws import ec2, vpc

from ...serving.arguments import checked_args
from ...serving.objects import token
from ..subnets import CIDR, ZoneSubnets, plan_subnets
from ..words import NatGateways
from .network_args import NetworkArgs, problems
from .parts.roles import named

_EVERYWHERE = "0.0.0.0/0"


class Network(pulumi.ComponentResource):
    """Creates a VPC with a private and a public subnet per zone, or describes an existing one.

    The subnet IDs come from the route table associations, which depend on the routes: whatever uses an ID waits until
    the subnet reaches the internet. Does not tag the subnets of an existing VPC.
    """

    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    private_subnet_ids: pulumi.Output[list[str]]
    """Subnets for nodes and pods, in the order of the zones."""
    public_subnet_ids: pulumi.Output[list[str]]
    """Subnets for internet-facing load balancers, in the order of the zones."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the network.

        Raises:
            InvalidArguments: the arguments contradict each other, AWS or EKS; every problem is listed.
        """
        args = checked_args(name, args, NetworkArgs, problems)
        super().__init__(token("Network"), name, {}, opts)
        self._args = args
        self.private_by_zone: dict[str, pulumi.Input[str]] = {}
        self.public_by_zone: dict[str, pulumi.Input[str]] = {}
        self.endpoints: list[ec2.VpcEndpoint] = []
        if "vpc_id" in args:
            self._take(args["vpc_id"])
        else:
            self._make()
        self._make_interface_endpoints()
        self.private_subnet_ids = pulumi.Output.all(*self.private_by_zone.values())
        self.public_subnet_ids = pulumi.Output.all(*self.public_by_zone.values())
        self.register_outputs(
            {
                "vpcId": self.vpc_id,
                "privateSubnetIds": self.private_subnet_ids,
                "publicSubnetIds": self.public_subnet_ids,
            }
        )

    def _take(self, vpc_id: str) -> None:
        self.vpc_id = pulumi.Output.from_input(vpc_id)
        self.private_by_zone.update(self._args.get("private_subnets", {}))
        self.public_by_zone.update(self._args.get("public_subnets", {}))

    def _make(self) -> None:
        vpc = ec2.Vpc(
            self._called(),
            cidr_block=self._cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags(),
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.get("protect")),
        )
        self.vpc_id = vpc.id
        internet = ec2.InternetGateway(self._called(), vpc_id=self.vpc_id, tags=self._tags(), opts=self._child())
        public = self._table("public")
        outward = self._route("public", public, gateway_id=internet.id)
        plan = plan_subnets(self._cidr, self._args["zones"])
        for subnets in plan:
            suffix = f"public-{subnets.zone}"
            subnet = self._subnet(suffix, subnets.zone, subnets.public, {"kubernetes.io/role/elb": "1"})
            self.public_by_zone[subnets.zone] = self._associated(suffix, subnet, outward.route_table_id)
        gateways = self._nat_gateways([subnets.zone for subnets in plan], internet)
        private = [self._private_zone(subnets, gateways) for subnets in plan]
        self._make_s3_endpoint([public, *private])

    def _nat_gateways(self, zones: list[str], internet: ec2.InternetGateway) -> dict[str, ec2.NatGateway]:
        """Return the gateway that each zone uses; the single one keeps its name when the others are added."""
        wanted = self._args.get("nat_gateways", NatGateways.ONE)
        if wanted == NatGateways.NONE:
            return {}
        if wanted == NatGateways.ONE:
            return dict.fromkeys(zones, self._nat_gateway(zones[0], internet))
        return {zone: self._nat_gateway(zone, internet) for zone in zones}

    def _nat_gateway(self, zone: str, internet: ec2.InternetGateway) -> ec2.NatGateway:
        # AWS makes neither before the internet gateway is attached, nor detaches that while an address is in use.
        tags = self._tags(zone)
        address = ec2.Eip(self._called(zone), domain="vpc", tags=tags, opts=self._child(internet))
        return ec2.NatGateway(
            self._called(zone),
            allocation_id=address.id,
            subnet_id=self.public_by_zone[zone],
            tags=tags,
            opts=self._child(internet),
        )

    def _private_zone(self, subnets: ZoneSubnets, gateways: Mapping[str, ec2.NatGateway]) -> ec2.RouteTable:
        suffix = f"private-{subnets.zone}"
        roles = {
            "kubernetes.io/role/internal-elb": "1",
            "karpenter.sh/discovery": self._args["cluster_name"],
        }
        subnet = self._subnet(suffix, subnets.zone, subnets.private, roles)
        table = self._table(suffix)
        table_id = table.id
        if subnets.zone in gateways:
            table_id = self._route(suffix, table, nat_gateway_id=gateways[subnets.zone].id).route_table_id
        self.private_by_zone[subnets.zone] = self._associated(suffix, subnet, table_id)
        return table

    def _subnet(self, suffix: str, zone: str, cidr: str, roles: Mapping[str, str]) -> ec2.Subnet:
        shared = {f"kubernetes.io/cluster/{self._args['cluster_name']}": "shared"}
        return ec2.Subnet(
            self._called(suffix),
            vpc_id=self.vpc_id,
            availability_zone=zone,
            cidr_block=cidr,
            tags=self._tags(suffix, **roles, **shared),
            opts=self._child(),
        )

    def _table(self, suffix: str) -> ec2.RouteTable:
        return ec2.RouteTable(self._called(suffix), vpc_id=self.vpc_id, tags=self._tags(suffix), opts=self._child())

    def _route(self, suffix: str, table: ec2.RouteTable, **target: pulumi.Input[str]) -> ec2.Route:
        return ec2.Route(
            self._called(suffix),
            route_table_id=table.id,
            destination_cidr_block=_EVERYWHERE,
            **target,
            opts=self._child(),
        )

    def _associated(self, suffix: str, subnet: ec2.Subnet, table_id: pulumi.Input[str]) -> pulumi.Output[str]:
        """Return the subnet's ID, as known once it has its routes."""
        association = ec2.RouteTableAssociation(
            self._called(suffix), subnet_id=subnet.id, route_table_id=table_id, opts=self._child()
        )
        return association.subnet_id.apply(str)

    def _make_s3_endpoint(self, tables: Sequence[ec2.RouteTable]) -> None:
        # Costs nothing, and weights as well as image layers come from S3: they need not pass a NAT gateway.
        self._endpoint("s3", "Gateway", route_table_ids=[table.id for table in tables])

    def _make_interface_endpoints(self) -> None:
        services = self._args.get("interface_endpoints", [])
        if not services:
            return
        group = ec2.SecurityGroup(
            self._called("endpoints"),
            description=f"Interface endpoints of the cluster {self._args['cluster_name']}",
            vpc_id=self.vpc_id,
            tags=self._tags("endpoints"),
            opts=self._child(),
        )
        rule = vpc.SecurityGroupIngressRule(
            self._called("endpoints"),
            security_group_id=group.id,
            cidr_ipv4=self._cidr,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            description="HTTPS from within the VPC",
            tags=self._tags("endpoints"),
            opts=self._child(),
        )
        for service in services:
            self._endpoint(
                service,
                "Interface",
                rule,
                private_dns_enabled=True,
                security_group_ids=[group.id],
                subnet_ids=list(self.private_by_zone.values()),
            )

    def _endpoint(self, service: str, kind: str, *after: pulumi.Resource, **settings: Any) -> None:  # noqa: ANN401
        suffix = service.replace(".", "-")
        self.endpoints.append(
            ec2.VpcEndpoint(
                self._called(suffix),
                vpc_id=self.vpc_id,
                vpc_endpoint_type=kind,
                service_name=f"com.amazonaws.{self._args['region']}.{service}",
                tags=self._tags(suffix),
                opts=self._child(*after),
                **settings,
            )
        )

    @property
    def _cidr(self) -> str:
        return self._args.get("cidr", CIDR)

    def _called(self, suffix: str = "") -> str:
        return f"{self.pulumi_resource_name}-{suffix}" if suffix else self.pulumi_resource_name

    def _tags(self, suffix: str = "", **more: str) -> dict[str, str]:
        cluster = self._args["cluster_name"]
        return named(f"{cluster}-{suffix}" if suffix else cluster, {**self._args.get("tags", {}), **more})

    def _child(self, *after: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))
