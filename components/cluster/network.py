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

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Required, TypedDict

import pulumi
from pulumi_aws import ec2, vpc

from ..catalog.eks import limits
from ..serving.arguments import InvalidArguments
from ..serving.objects import token
from .aws import named

CIDR = "10.0.0.0/16"
MOST_ZONES = 7
"""No region has more than six; the eighth part of the VPC is for the public subnets."""
NAT_GATEWAYS = ("one", "per-zone", "none")
ENDPOINT_SERVICES = (
    *("autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth"),
    *("elasticloadbalancing", "logs", "sqs", "sts"),
)
_LARGEST, _SMALLEST, _SMALLEST_OF_AWS = 16, 21, 28
_SMALLEST_PUBLIC = 27  # a load balancer refuses smaller subnets
_EVERYWHERE = "0.0.0.0/0"
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+")
_CLUSTER = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]*")


class NetworkArgs(TypedDict, total=False):
    """Arguments of a Network. All are plain: they decide which resources there are."""

    cluster_name: Required[str]
    """Name of the EKS cluster, for names and for the tags by which controllers find subnets."""
    region: Required[str]
    """AWS region, such as us-east-1."""
    zones: list[str]
    """Availability zones, two to seven. Append new ones: a subnet's addresses follow from its zone's position."""
    cidr: str
    """IPv4 range of the VPC, /16 to /21. Of a given VPC: its range, wanted with interface endpoints only.
    Default: 10.0.0.0/16."""
    nat_gateways: str
    """one, per-zone or none: how private subnets reach the internet. With none, nodes start only if they reach
    what they need through interface endpoints. Default: one."""
    interface_endpoints: list[str]
    """AWS services to reach without the internet: autoscaling, ec2, ecr.api, ecr.dkr, eks, eks-auth,
    elasticloadbalancing, logs, sqs, sts. Default: none."""
    vpc_id: str
    """A VPC that exists. Nothing but interface endpoints is made in it, and nothing is tagged."""
    private_subnets: dict[str, str]
    """Private subnet by zone, in that VPC; two zones at least."""
    public_subnets: dict[str, str]
    """Public subnet by zone, in that VPC."""
    tags: dict[str, str]
    """Tags of everything that is made."""
    protect: bool
    """Refuse to delete the VPC, if it is made here. Default: as the component's own options say."""


@dataclass(frozen=True, slots=True)
class ZoneSubnets:
    """The address ranges of one zone."""

    zone: str
    private: str
    public: str


class Network(pulumi.ComponentResource):
    """Provides a VPC with a private and a public subnet per zone, or describes one that exists.

    The subnet IDs come from the subnets' route table associations, which come after the routes: what uses an ID
    waits until the subnet reaches the internet. Does not tag the subnets of a VPC that exists.
    """

    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    private_subnet_ids: pulumi.Output[list[str]]
    """Subnets for nodes and pods, in the order of the zones."""
    public_subnet_ids: pulumi.Output[list[str]]
    """Subnets for load balancers that face the internet, in the order of the zones."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the network.

        Raises:
            InvalidArguments: the arguments contradict each other, AWS or EKS; every problem is listed.
        """
        refuse(name, _problems(args))
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
        made = ec2.Vpc(
            self._called(),
            cidr_block=self._cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags(),
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.get("protect")),
        )
        self.vpc_id = made.id
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
        wanted = self._args.get("nat_gateways", "one")
        if wanted == "none":
            return {}
        if wanted == "one":
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
        made = self._subnet(suffix, subnets.zone, subnets.private, roles)
        table = self._table(suffix)
        table_id = table.id
        if subnets.zone in gateways:
            table_id = self._route(suffix, table, nat_gateway_id=gateways[subnets.zone].id).route_table_id
        self.private_by_zone[subnets.zone] = self._associated(suffix, made, table_id)
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
        made = ec2.RouteTableAssociation(
            self._called(suffix), subnet_id=subnet.id, route_table_id=table_id, opts=self._child()
        )
        return made.subnet_id.apply(str)

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


def plan_subnets(cidr: str, zones: Sequence[str]) -> list[ZoneSubnets]:
    """Return the address ranges of each zone, by its position alone.

    The VPC is cut in eight whatever the number of zones, so that a zone appended later moves no other. A private
    subnet, from which pods take their addresses, has an eighth; the public ones share the last: /24 each in a /16,
    and never less than a load balancer takes.

    Raises:
        ValueError: the range is malformed or not /16 to /21, or there are more than seven zones.
    """
    problem = _cidr_problem(cidr) or (f"at most {MOST_ZONES} zones" if len(zones) > MOST_ZONES else "")
    if problem:
        raise ValueError(problem)
    *private, last = ipaddress.IPv4Network(cidr).subnets(prefixlen_diff=3)
    public = last.subnets(new_prefix=min(last.prefixlen + 5, _SMALLEST_PUBLIC))
    return [
        ZoneSubnets(zone, str(inner), str(outer)) for zone, inner, outer in zip(zones, private, public, strict=False)
    ]


Problems = Iterator[tuple[str, str]]
"""Argument, and what is wrong with it."""


def refuse(name: str, problems: Problems) -> None:
    """Raise InvalidArguments with all problems, if there are any."""
    found = list(problems)
    if found:
        raise InvalidArguments(
            "\n".join(f"{name}: {path}: {reason}" for path, reason in found),
            [{"property_path": path, "reason": reason} for path, reason in found],
        )


def place_problems(key: str, cluster: str, region: str) -> Problems:
    """Yield what is wrong with a cluster's name, an argument of any name, and with the region."""
    longest = limits().cluster_name
    if not (_CLUSTER.fullmatch(cluster) and len(cluster) <= longest):
        yield key, f"found {cluster!r}; EKS takes 1 to {longest} letters, digits, '-' and '_', no sign first"
    if not _REGION.fullmatch(region):
        yield "region", f"found {region!r}; write a region such as us-east-1"


def repeated(key: str, values: Sequence[str]) -> Problems:
    """Yield what is in a list twice."""
    for value in dict.fromkeys(values):
        if values.count(value) > 1:
            yield key, f"{value!r} is there {values.count(value)} times; write it once"


def _problems(args: NetworkArgs) -> Problems:
    region = args.get("region", "")
    yield from place_problems("cluster_name", args.get("cluster_name", ""), region)
    wanted = args.get("interface_endpoints", [])
    if wanted and region.startswith("cn-"):
        yield "interface_endpoints", f"have other service names in {region}; leave them out, and make your own"
    for service in dict.fromkeys(wanted):
        if service not in ENDPOINT_SERVICES:
            yield "interface_endpoints", f"found {service!r}; allowed are {', '.join(ENDPOINT_SERVICES)}"
    yield from repeated("interface_endpoints", wanted)
    yield from _given_problems(args) if "vpc_id" in args else _new_problems(args)


def _new_problems(args: NetworkArgs) -> Problems:
    for key in ("private_subnets", "public_subnets"):
        if key in args:
            yield key, "belongs to a VPC that exists; add vpc_id, or leave it out to have subnets made"
    zones = args.get("zones", [])
    if not 2 <= len(zones) <= MOST_ZONES:
        yield (
            "zones",
            f"found {len(zones)}; EKS wants subnets in two zones at least, and there is room for {MOST_ZONES}: "
            "write for example [us-east-1a, us-east-1b]",
        )
    yield from _zone_problems("zones", zones, args)
    yield from repeated("zones", zones)
    problem = _cidr_problem(args.get("cidr", CIDR))
    if problem:
        yield "cidr", problem
    nat = args.get("nat_gateways", "one")
    if nat not in NAT_GATEWAYS:
        yield "nat_gateways", f"found {nat!r}; allowed are {', '.join(NAT_GATEWAYS)}"


def _given_problems(args: NetworkArgs) -> Problems:
    if not str(args["vpc_id"]).startswith("vpc-"):
        yield "vpc_id", f"found {args['vpc_id']!r}; write the ID of a VPC, vpc-..."
    for key in ("zones", "nat_gateways"):
        if key in args:
            yield key, "is for a VPC made here; leave it out, or leave out vpc_id"
    yield from _given_cidr_problems(args)
    private, public = args.get("private_subnets", {}), args.get("public_subnets", {})
    if len(private) < 2:
        yield "private_subnets", f"found {len(private)}; EKS wants subnets in two zones at least, as zone: subnet-..."
    for key, given in (("private_subnets", private), ("public_subnets", public)):
        yield from _zone_problems(key, given, args)
        for zone, subnet in given.items():
            if not str(subnet).startswith("subnet-"):
                yield f"{key}[{zone}]", f"found {subnet!r}; write the ID of a subnet, subnet-..."
    yield from repeated("private_subnets", [*private.values(), *public.values()])


def _given_cidr_problems(args: NetworkArgs) -> Problems:
    wanted = bool(args.get("interface_endpoints"))
    if wanted and "cidr" not in args:
        yield "cidr", "is missing; interface endpoints admit the range of the VPC, so write it"
    elif wanted and _network(args["cidr"]) is None:
        yield "cidr", f"found {args['cidr']!r}; write the VPC's IPv4 range, such as {CIDR}"
    elif not wanted and "cidr" in args:
        yield "cidr", "is for a VPC made here; leave it out, or leave out vpc_id"


def _zone_problems(key: str, zones: Sequence[str] | Mapping[str, str], args: NetworkArgs) -> Problems:
    region = args.get("region", "")
    for zone in zones:
        if _REGION.fullmatch(region) and not re.fullmatch(f"{region}[a-z]", zone):
            yield key, f"found {zone!r}; write availability zones of {region}, such as {region}a"


def _network(cidr: str) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(cidr)
    except ValueError:
        return None


def _cidr_problem(cidr: str) -> str | None:
    network = _network(cidr)
    if network is None:
        return f"found {cidr!r}; write an IPv4 range whose host bits are zero, such as {CIDR}"
    if not _LARGEST <= network.prefixlen <= _SMALLEST_OF_AWS:
        return f"found {cidr!r}; AWS takes /{_LARGEST} to /{_SMALLEST_OF_AWS}: write for example {CIDR}"
    if network.prefixlen > _SMALLEST:
        return (
            f"found {cidr!r}, which is too small for subnets in {MOST_ZONES} zones; "
            f"/{_LARGEST} to /{_SMALLEST} are allowed, or pass a VPC of your own as vpc_id"
        )
    return None
