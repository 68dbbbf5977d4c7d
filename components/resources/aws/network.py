"""The network of an EKS cluster, new or existing.

Network
├── ec2.Vpc, ec2.InternetGateway          <name>
├── ec2.RouteTable, ec2.Route             <name>-public
├── per zone
│   ├── ec2.Subnet, RouteTableAssociation <name>-public-<zone>, <name>-private-<zone>; <name>-pods-<zone> on request
│   ├── ec2.RouteTable, ec2.Route         <name>-private-<zone>; the route with a NAT gateway
│   └── ec2.Eip, ec2.NatGateway           <name>-<zone>, in one zone, all zones or none
├── ec2.VpcIpv4CidrBlockAssociation       <name>-pods, on request
├── ec2.EgressOnlyInternetGateway         <name>, with IPv6, and an ec2.Route <name>-<table>-ipv6 per table
├── LogGroup, Role, RolePolicy, FlowLog   <name>-flow-logs, on request
├── ec2.VpcEndpoint                       <name>-s3, and <name>-<service> on request, with
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
from .parts.common import Labels
from .parts.endpoints import Endpoints
from .parts.flow_logs import flow_logs
from .parts.waiting import waiting

_EVERYWHERE, _EVERYWHERE_IPV6 = "0.0.0.0/0", "::/0"


class Network(pulumi.ComponentResource):
    """Creates a VPC with a private and a public subnet per zone, or describes an existing one.

    The subnet IDs come from the route table associations, which depend on the routes: resources that use an ID wait
    until the subnet has its routes. Resources that depend on ``ready`` have all routes and endpoints for as long as
    they exist. Does not tag the subnets of an existing VPC.
    """

    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    private_subnet_ids: pulumi.Output[list[str]]
    """IDs of the subnets for nodes and pods, in the order of the zones."""
    control_plane_subnet_ids: pulumi.Output[list[str]]
    """IDs of the private subnets in control_plane_zones, for subnet_ids of a Cluster."""
    public_subnet_ids: pulumi.Output[list[str]]
    """IDs of the subnets for internet-facing load balancers, in the order of the zones."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the network.

        Raises:
            InvalidArguments: the arguments contradict each other, AWS or EKS; every problem is listed.
        """
        args = checked_args(name, args, NetworkArgs, problems)
        super().__init__(token("Network"), name, {}, waiting(opts, args.get("timeouts", {})))
        self._args, self._label = args, Labels(name, args["cluster_name"], args.get("tags", {}), self)
        self.private_by_zone: dict[str, pulumi.Input[str]] = {}
        self.public_by_zone: dict[str, pulumi.Input[str]] = {}
        self.endpoints: list[ec2.VpcEndpoint] = []
        self.ready: list[pulumi.Resource] = []
        if "vpc_id" in args:
            self.vpc_id = pulumi.Output.from_input(args["vpc_id"])
            first = args.get("control_plane_zones", [])
            private, public = args.get("private_subnets", {}), args.get("public_subnets", {})
            self.private_by_zone.update({zone: private[zone] for zone in in_order(private, first)})
            self.public_by_zone.update({zone: public[zone] for zone in in_order(public, first)})
        else:
            self._create()
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

    def _create(self) -> None:
        vpc = ec2.Vpc(
            self._label.logical(),
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
            self._label.logical(), vpc_id=self.vpc_id, tags=self._label.tags(), opts=self._label.child()
        )
        public = self._public_zones(internet)
        zones = in_order(self._args["zones"], self._args.get("control_plane_zones", []))
        gateways = self._nat_gateways(zones, internet)
        pods = self._pod_ranges()
        outward = None
        if self._ipv6_cidr:
            outward = ec2.EgressOnlyInternetGateway(
                self._label.logical(), vpc_id=self.vpc_id, tags=self._label.tags(), opts=self._label.child()
            )
        private = [
            self._private_zone(subnets, gateways, outward, pods.get(subnets.zone))
            for subnets in self._ranges(self._cidr)
        ]
        # Free of charge, and keeps weights and image layers, which come from S3, off the NAT gateways.
        self.endpoints.append(self._endpoints.gateway("s3", [table.id for table in [public, *private]]))
        if "flow_logs" in self._args:
            boundary = self._args.get("permissions_boundary_arn", "")
            flow_logs(vpc, self._args["flow_logs"], self._args["region"], self._label, boundary)

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
        """Return the pods' range by zone, with its association with the VPC; empty without pod_cidr."""
        if "pod_cidr" not in self._args:
            return {}
        cidr = self._args["pod_cidr"]
        association = ec2.VpcIpv4CidrBlockAssociation(
            self._label.logical("pods"), vpc_id=self.vpc_id, cidr_block=cidr, opts=self._label.child()
        )
        return {subnets.zone: (subnets.private, association) for subnets in self._ranges(cidr)}

    def _nat_gateways(self, zones: list[str], internet: ec2.InternetGateway) -> dict[str, ec2.NatGateway]:
        """Return the NAT gateway of each zone. A single one keeps its name when others are added."""
        placement = self._args.get("nat_gateways", NatGateways.ONE)
        if placement == NatGateways.NONE:
            return {}
        if placement == NatGateways.ONE:
            return dict.fromkeys(zones, self._nat_gateway(zones[0], internet))
        return {zone: self._nat_gateway(zone, internet) for zone in zones}

    def _nat_gateway(self, zone: str, internet: ec2.InternetGateway) -> ec2.NatGateway:
        # AWS creates neither before the internet gateway is attached, nor detaches it while an address is in use.
        tags = self._label.tags(zone)
        address = ec2.Eip(self._label.logical(zone), domain="vpc", tags=tags, opts=self._label.child(internet))
        return ec2.NatGateway(
            self._label.logical(zone),
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
        # EKS has network interfaces in these subnets: with protect, Pulumi rejects their deletion before any change.
        control_plane = self._args.get("control_plane_zones") or self._args["zones"]
        protected = self._args.get("protect") and subnets.zone in control_plane
        subnet = self._subnet(suffix, subnets, subnets.private, roles, protect=protected or None)
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
        range_association: ec2.VpcIpv4CidrBlockAssociation,
        table_id: pulumi.Input[str],
    ) -> ec2.RouteTableAssociation:
        """Create the subnet of one zone from which pods get addresses once it has the most free ones.

        The VPC CNI plugin discovers it by its tag (aws/amazon-vpc-cni-k8s, ENABLE_SUBNET_DISCOVERY). Load balancers
        and Karpenter must not use it, so it lacks their tags.
        """
        suffix = f"pods-{subnets.zone}"
        subnet = self._subnet(suffix, subnets, cidr, {"kubernetes.io/role/cni": "1"}, range_association)
        return self._association(suffix, subnet, table_id)

    def _subnet(
        self,
        suffix: str,
        zone_subnets: ZoneSubnets,
        cidr: str,
        roles: Mapping[str, str],
        *after: pulumi.Resource,
        protect: bool | None = None,
    ) -> ec2.Subnet:
        shared = {f"kubernetes.io/cluster/{self._args['cluster_name']}": "shared"}
        kind = suffix.removesuffix(f"-{zone_subnets.zone}")
        ipv6: dict[str, Any] = {}
        if self._ipv6_cidr and kind != "pods":
            is_public = kind == "public"
            cidr6 = self._ipv6_cidr.apply(lambda block: ipv6_subnet(block, zone_subnets.position, public=is_public))
            ipv6 = {"ipv6_cidr_block": cidr6, "assign_ipv6_address_on_creation": True}
        return ec2.Subnet(
            self._label.logical(suffix),
            vpc_id=self.vpc_id,
            availability_zone=zone_subnets.zone,
            cidr_block=cidr,
            **ipv6,
            tags=self._label.tags(suffix, **roles, **shared),
            opts=self._label.child(*after, protect=protect),
        )

    def _table(self, suffix: str) -> ec2.RouteTable:
        return ec2.RouteTable(
            self._label.logical(suffix), vpc_id=self.vpc_id, tags=self._label.tags(suffix), opts=self._label.child()
        )

    def _route(self, suffix: str, table: ec2.RouteTable, **target: pulumi.Input[str]) -> ec2.Route:
        return ec2.Route(
            self._label.logical(suffix),
            route_table_id=table.id,
            destination_cidr_block=_EVERYWHERE,
            **target,
            opts=self._label.child(),
        )

    def _ipv6_route(self, suffix: str, table: ec2.RouteTable, **target: pulumi.Input[str]) -> ec2.Route:
        return ec2.Route(
            self._label.logical(f"{suffix}-ipv6"),
            route_table_id=table.id,
            destination_ipv6_cidr_block=_EVERYWHERE_IPV6,
            **target,
            opts=self._label.child(),
        )

    def _associated(
        self, suffix: str, subnet: ec2.Subnet, table_id: pulumi.Input[str], *after: pulumi.Resource
    ) -> pulumi.Output[str]:
        """Return the subnet's ID as an output that depends on its routes."""
        return self._association(suffix, subnet, table_id, *after).subnet_id.apply(str)

    def _association(
        self, suffix: str, subnet: ec2.Subnet, table_id: pulumi.Input[str], *after: pulumi.Resource
    ) -> ec2.RouteTableAssociation:
        association = ec2.RouteTableAssociation(
            self._label.logical(suffix), subnet_id=subnet.id, route_table_id=table_id, opts=self._label.child(*after)
        )
        self.ready.append(association)
        return association

    @property
    def _endpoints(self) -> Endpoints:
        return Endpoints(self._args["region"], self.vpc_id, self._label, self._args.get("endpoint_policies", {}))

    @property
    def _cidr(self) -> str:
        return self._args.get("cidr", CIDR)
