"""The network of one EKS cluster: made here, or one that exists.

Network
├── ec2.Vpc, ec2.InternetGateway          <name>
├── ec2.RouteTable, ec2.Route             <name>-public
├── per zone
│   ├── ec2.Subnet, RouteTableAssociation <name>-public-<zone>, <name>-private-<zone>; <name>-pods-<zone> on request
│   ├── ec2.RouteTable, ec2.Route         <name>-private-<zone>, the route where there is a NAT gateway
│   └── ec2.Eip, ec2.NatGateway           <name>-<zone>, in one zone, each or none
├── ec2.VpcIpv4CidrBlockAssociation       <name>-pods, on request
├── ec2.EgressOnlyInternetGateway         <name>, with IPv6, and an ec2.Route <name>-<table>-ipv6 per table
├── LogGroup, Role, RolePolicy, FlowLog   <name>-flow-logs, on request
├── ec2.VpcEndpoint                       <name>-s3, and <name>-<service> on request, which adds
└── ec2.SecurityGroup, its ingress rule   <name>-endpoints
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_aws import ec2

from ...clouds.aws.subnets import CIDR, ZoneSubnets, in_order, ipv6_subnet, plan_subnets
from ...clouds.aws.words import NatGateways
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import NetworkArgs
from .network_checks import problems
from .parts.endpoints import Endpoints
from .parts.flow_logs import flow_logs
from .parts.labels import Labels

_EVERYWHERE, _EVERYWHERE_IPV6 = "0.0.0.0/0", "::/0"


class Network(pulumi.ComponentResource):
    """Creates a VPC with a private and a public subnet per zone, or describes an existing one.

    The subnet IDs come from the route table associations, which depend on the routes: whatever uses an ID waits until
    the subnet reaches the internet. Whatever depends on ``ready`` has all ways into and out of the network for as
    long as it lives. Does not tag the subnets of an existing VPC.
    """

    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    private_subnet_ids: pulumi.Output[list[str]]
    """Subnets for nodes and pods, in the order of the zones."""
    control_plane_subnet_ids: pulumi.Output[list[str]]
    """Those of control_plane_zones: subnet_ids of a Cluster, which other zones do not change."""
    public_subnet_ids: pulumi.Output[list[str]]
    """Subnets for internet-facing load balancers, in the order of the zones."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the network.

        Raises:
            InvalidArguments: the arguments contradict each other, AWS or EKS; every problem is listed.
        """
        args = checked_args(name, args, NetworkArgs, problems)
        super().__init__(token("Network"), name, {}, opts)
        self._args, self._label = args, Labels(name, args["cluster_name"], args.get("tags", {}), self)
        self.private_by_zone: dict[str, pulumi.Input[str]] = {}
        self.public_by_zone: dict[str, pulumi.Input[str]] = {}
        self.endpoints: list[ec2.VpcEndpoint] = []
        self.ready: list[pulumi.Resource] = []
        if "vpc_id" in args:
            self._take(args["vpc_id"])
        else:
            self._make()
        ranges = [self._cidr, *([args["pod_cidr"]] if "pod_cidr" in args else [])]
        services = args.get("interface_endpoints", [])
        self.endpoints += self._endpoints.interfaces(services, ranges, list(self.private_by_zone.values()))
        self.ready += self.endpoints
        self.private_subnet_ids = pulumi.Output.all(*self.private_by_zone.values())
        first = args.get("control_plane_zones", []) or list(self.private_by_zone)
        self.control_plane_subnet_ids = pulumi.Output.all(*(self.private_by_zone[zone] for zone in first))
        self.public_subnet_ids = pulumi.Output.all(*self.public_by_zone.values())
        self.register_outputs(
            {
                "vpcId": self.vpc_id,
                "privateSubnetIds": self.private_subnet_ids,
                "controlPlaneSubnetIds": self.control_plane_subnet_ids,
                "publicSubnetIds": self.public_subnet_ids,
            }
        )

    def _take(self, vpc_id: str) -> None:
        self.vpc_id = pulumi.Output.from_input(vpc_id)
        first = self._args.get("control_plane_zones", [])
        for found, given in (
            (self.private_by_zone, self._args.get("private_subnets", {})),
            (self.public_by_zone, self._args.get("public_subnets", {})),
        ):
            found.update({zone: given[zone] for zone in in_order(given, first)})

    def _make(self) -> None:
        vpc = ec2.Vpc(
            self._label.called(),
            cidr_block=self._cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            assign_generated_ipv6_cidr_block=self._args.get("ipv6") or None,
            tags=self._label.tags(),
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.get("protect")),
        )
        self.vpc_id = vpc.id
        self._ipv6_cidr = vpc.ipv6_cidr_block if self._args.get("ipv6") else None
        internet = ec2.InternetGateway(
            self._label.called(), vpc_id=self.vpc_id, tags=self._label.tags(), opts=self._label.child()
        )
        public = self._public_zones(internet)
        zones = in_order(self._args["zones"], self._args.get("control_plane_zones", []))
        gateways = self._nat_gateways(zones, internet)
        pods = self._pod_ranges()
        outward = self._egress_only_gateway() if self._ipv6_cidr else None
        private = [
            self._private_zone(subnets, gateways, outward, pods.get(subnets.zone))
            for subnets in self._ranges(self._cidr)
        ]
        # Costs nothing, and weights as well as image layers come from S3: they need not pass a NAT gateway.
        self.endpoints.append(self._endpoints.gateway("s3", [table.id for table in [public, *private]]))
        if "flow_logs" in self._args:
            flow_logs(vpc, self._args["flow_logs"], self._args["region"], self._label)

    def _public_zones(self, internet: ec2.InternetGateway) -> ec2.RouteTable:
        table = self._table("public")
        outward = self._route("public", table, gateway_id=internet.id)
        after = [self._ipv6_route("public", table, gateway_id=internet.id)] if self._ipv6_cidr else []
        for subnets in self._ranges(self._cidr):
            suffix = f"public-{subnets.zone}"
            subnet = self._subnet(suffix, subnets, subnets.public, {"kubernetes.io/role/elb": "1"})
            self.public_by_zone[subnets.zone] = self._associated(suffix, subnet, outward.route_table_id, *after)
        return table

    def _ranges(self, cidr: str) -> list[ZoneSubnets]:
        return plan_subnets(cidr, self._args["zones"], self._args.get("control_plane_zones", []))

    def _pod_ranges(self) -> dict[str, tuple[str, ec2.VpcIpv4CidrBlockAssociation]]:
        """Return the range of the pods by zone, with what brings it into the VPC; empty without one of their own."""
        if "pod_cidr" not in self._args:
            return {}
        cidr = self._args["pod_cidr"]
        brought = ec2.VpcIpv4CidrBlockAssociation(
            self._label.called("pods"), vpc_id=self.vpc_id, cidr_block=cidr, opts=self._label.child()
        )
        return {subnets.zone: (subnets.private, brought) for subnets in self._ranges(cidr)}

    def _egress_only_gateway(self) -> ec2.EgressOnlyInternetGateway:
        return ec2.EgressOnlyInternetGateway(
            self._label.called(), vpc_id=self.vpc_id, tags=self._label.tags(), opts=self._label.child()
        )

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
        tags = self._label.tags(zone)
        address = ec2.Eip(self._label.called(zone), domain="vpc", tags=tags, opts=self._label.child(internet))
        return ec2.NatGateway(
            self._label.called(zone),
            allocation_id=address.id,
            subnet_id=self.public_by_zone[zone],
            tags=tags,
            opts=self._label.child(internet),
        )

    def _private_zone(
        self,
        subnets: ZoneSubnets,
        gateways: Mapping[str, ec2.NatGateway],
        outward: ec2.EgressOnlyInternetGateway | None,
        pods: tuple[str, ec2.VpcIpv4CidrBlockAssociation] | None,
    ) -> ec2.RouteTable:
        suffix = f"private-{subnets.zone}"
        roles = {
            "kubernetes.io/role/internal-elb": "1",
            "karpenter.sh/discovery": self._args["cluster_name"],
        }
        # Pulumi refuses to delete or move what is protected, before it does anything: EKS has interfaces here.
        control_plane = self._args.get("control_plane_zones") or self._args["zones"]
        held = self._args.get("protect") and subnets.zone in control_plane
        subnet = self._subnet(suffix, subnets, subnets.private, roles, protect=held or None)
        table = self._table(suffix)
        table_id = table.id
        if subnets.zone in gateways:
            table_id = self._route(suffix, table, nat_gateway_id=gateways[subnets.zone].id).route_table_id
        after: list[pulumi.Resource] = []
        if outward:
            after.append(self._ipv6_route(suffix, table, egress_only_gateway_id=outward.id))
        if pods:
            after.append(self._pod_zone(subnets, *pods, table_id))
        self.private_by_zone[subnets.zone] = self._associated(suffix, subnet, table_id, *after)
        return table

    def _pod_zone(
        self,
        subnets: ZoneSubnets,
        cidr: str,
        brought: ec2.VpcIpv4CidrBlockAssociation,
        table_id: pulumi.Input[str],
    ) -> ec2.RouteTableAssociation:
        """Register the subnet of one zone from which pods take addresses as soon as it has the most free ones.

        The network plugin finds it by its tag (aws/amazon-vpc-cni-k8s, ENABLE_SUBNET_DISCOVERY). Load balancers and
        Karpenter must not, so it has none of theirs.
        """
        suffix = f"pods-{subnets.zone}"
        subnet = self._subnet(suffix, subnets, cidr, {"kubernetes.io/role/cni": "1"}, brought)
        return self._association(suffix, subnet, table_id)

    def _subnet(
        self,
        suffix: str,
        place: ZoneSubnets,
        cidr: str,
        roles: Mapping[str, str],
        *after: pulumi.Resource,
        protect: bool | None = None,
    ) -> ec2.Subnet:
        shared = {f"kubernetes.io/cluster/{self._args['cluster_name']}": "shared"}
        return ec2.Subnet(
            self._label.called(suffix),
            vpc_id=self.vpc_id,
            availability_zone=place.zone,
            cidr_block=cidr,
            **self._ipv6_of(suffix, place),
            tags=self._label.tags(suffix, **roles, **shared),
            opts=self._label.child(*after, protect=protect),
        )

    def _ipv6_of(self, suffix: str, place: ZoneSubnets) -> dict[str, Any]:
        """Return what a subnet has of the VPC's IPv6 range; nodes and load balancers live there, pods do not."""
        kind = suffix.removesuffix(f"-{place.zone}")
        if not self._ipv6_cidr or kind == "pods":
            return {}
        cidr = self._ipv6_cidr.apply(lambda range_: ipv6_subnet(range_, place.position, public=kind == "public"))
        return {"ipv6_cidr_block": cidr, "assign_ipv6_address_on_creation": True}

    def _table(self, suffix: str) -> ec2.RouteTable:
        return ec2.RouteTable(
            self._label.called(suffix), vpc_id=self.vpc_id, tags=self._label.tags(suffix), opts=self._label.child()
        )

    def _route(self, suffix: str, table: ec2.RouteTable, **target: pulumi.Input[str]) -> ec2.Route:
        return ec2.Route(
            self._label.called(suffix),
            route_table_id=table.id,
            destination_cidr_block=_EVERYWHERE,
            **target,
            opts=self._label.child(),
        )

    def _ipv6_route(self, suffix: str, table: ec2.RouteTable, **target: pulumi.Input[str]) -> ec2.Route:
        return ec2.Route(
            self._label.called(f"{suffix}-ipv6"),
            route_table_id=table.id,
            destination_ipv6_cidr_block=_EVERYWHERE_IPV6,
            **target,
            opts=self._label.child(),
        )

    def _associated(
        self, suffix: str, subnet: ec2.Subnet, table_id: pulumi.Input[str], *after: pulumi.Resource
    ) -> pulumi.Output[str]:
        """Return the subnet's ID, as known once it has its routes."""
        return self._association(suffix, subnet, table_id, *after).subnet_id.apply(str)

    def _association(
        self, suffix: str, subnet: ec2.Subnet, table_id: pulumi.Input[str], *after: pulumi.Resource
    ) -> ec2.RouteTableAssociation:
        association = ec2.RouteTableAssociation(
            self._label.called(suffix), subnet_id=subnet.id, route_table_id=table_id, opts=self._label.child(*after)
        )
        self.ready.append(association)
        return association

    @property
    def _endpoints(self) -> Endpoints:
        return Endpoints(self._args["region"], self.vpc_id, self._label)

    @property
    def _cidr(self) -> str:
        return self._args.get("cidr", CIDR)
