"""The requests of VPCs and what is in them."""

import zlib
from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.policies import RESOURCE, policy_problems
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Lookup,
    Plan,
    Planner,
    Request,
    Text,
    drop_empty,
    key_values,
    known,
    listed,
    lookup,
)


def request(operation: str, **params: Any) -> Request:
    return Request("ec2", operation, params)


def find(operation: str, path: str, **params: Any) -> Lookup:
    return lookup("ec2", operation, path, **params)


def tagged(kind: str, tags: Any) -> dict[str, Any]:
    """Return the tags of what is made, in the form of EC2."""
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": key_values(tags)}]} if tags else {}


def ec2_arn(kind: str) -> Text:
    return Text(f"arn:{{partition}}:ec2:{{region}}:{{account}}:{kind}/{{id}}")


def subnets_exist(ids: Any) -> list[Lookup]:
    return [find("DescribeSubnets", "Subnets", SubnetIds=ids)] if ids else []


def groups_exist(ids: Any) -> list[Lookup]:
    return [find("DescribeSecurityGroups", "SecurityGroups", GroupIds=ids)] if ids else []


def _tables_exist(ids: Any) -> list[Lookup]:
    return [find("DescribeRouteTables", "RouteTables", RouteTableIds=ids)] if ids else []


_IPV6_BLOCK = "Vpc.Ipv6CidrBlockAssociationSet[0].Ipv6CidrBlock"
OWNED = {"ownerId": Text("{account}")}


def vpc(given: Given) -> Plan:
    made = From("Vpc.VpcId")
    tags = given.get("tags")
    switches = given.members(EnableDnsSupport="enableDnsSupport", EnableDnsHostnames="enableDnsHostnames")
    members = given.members(
        CidrBlock="cidrBlock",
        InstanceTenancy="instanceTenancy",
        AmazonProvidedIpv6CidrBlock="assignGeneratedIpv6CidrBlock",
    )
    mine = [{"Name": "vpc-id", "Values": [made]}]
    default = [*mine, {"Name": "group-name", "Values": ["default"]}]
    main = [*mine, {"Name": "association.main", "Values": ["true"]}]
    return Plan(
        create=request("CreateVpc", **members, **tagged("vpc", tags)),
        # One attribute at a time is all that EC2 takes.
        then=[
            request("DescribeSecurityGroups", Filters=default),
            request("DescribeRouteTables", Filters=main),
            *(request("ModifyVpcAttribute", VpcId=made, **{name: {"Value": on}}) for name, on in switches.items()),
        ],
        id=made,
        outputs={
            "arn": ec2_arn("vpc"),
            "defaultSecurityGroupId": From("then[0].SecurityGroups[0].GroupId"),
            "mainRouteTableId": From("then[1].RouteTables[0].RouteTableId"),
            "defaultRouteTableId": From("then[1].RouteTables[0].RouteTableId"),
            **({"ipv6CidrBlock": From(_IPV6_BLOCK)} if members.get("AmazonProvidedIpv6CidrBlock") is True else {}),
            **OWNED,
        },
        find=find("DescribeVpcs", "Vpcs", VpcIds=[made]),
        delete=[request("DeleteVpc", VpcId=made)],
    )


def subnet(given: Given) -> Plan:
    made = From("Subnet.SubnetId")
    tags = given.get("tags")
    switches = given.members(
        MapPublicIpOnLaunch="mapPublicIpOnLaunch",
        AssignIpv6AddressOnCreation="assignIpv6AddressOnCreation",
        EnableDns64="enableDns64",
        EnableResourceNameDnsARecordOnLaunch="enableResourceNameDnsARecordOnLaunch",
    )
    members = given.members(
        VpcId="vpcId",
        CidrBlock="cidrBlock",
        Ipv6CidrBlock="ipv6CidrBlock",
        AvailabilityZone="availabilityZone",
        AvailabilityZoneId="availabilityZoneId",
    )
    return Plan(
        create=request("CreateSubnet", **members, **tagged("subnet", tags)),
        then=[
            request("ModifySubnetAttribute", SubnetId=made, **{name: {"Value": on}}) for name, on in switches.items()
        ],
        id=made,
        outputs={
            "arn": ec2_arn("subnet"),
            "availabilityZone": From("Subnet.AvailabilityZone"),
            "availabilityZoneId": From("Subnet.AvailabilityZoneId"),
            **OWNED,
        },
        find=find("DescribeSubnets", "Subnets", SubnetIds=[made]),
        delete=[request("DeleteSubnet", SubnetId=made)],
    )


def internet_gateway(given: Given) -> Plan:
    made = From("InternetGateway.InternetGatewayId")
    attached = "vpcId" in given
    place = {"InternetGatewayId": made, **given.members(VpcId="vpcId")}
    return Plan(
        create=request("CreateInternetGateway", **tagged("internet-gateway", given.get("tags"))),
        then=[request("AttachInternetGateway", **place)] if attached else [],
        id=made,
        outputs={"arn": ec2_arn("internet-gateway"), **OWNED},
        find=find("DescribeInternetGateways", "InternetGateways", InternetGatewayIds=[made]),
        delete=[
            *([request("DetachInternetGateway", **place)] if attached else []),
            request("DeleteInternetGateway", InternetGatewayId=made),
        ],
    )


def eip(given: Given) -> Plan:
    made = From("AllocationId")
    members = given.members(
        Domain="domain",
        Address="address",
        NetworkBorderGroup="networkBorderGroup",
        PublicIpv4Pool="publicIpv4Pool",
    )
    return Plan(
        create=request("AllocateAddress", **members, **tagged("elastic-ip", given.get("tags"))),
        id=made,
        outputs={
            "allocationId": made,
            "publicIp": From("PublicIp"),
            "arn": ec2_arn("elastic-ip"),
        },
        find=find("DescribeAddresses", "Addresses", AllocationIds=[made]),
        delete=[request("ReleaseAddress", AllocationId=made)],
    )


def nat_gateway(given: Given) -> Plan:
    made = From("NatGateway.NatGatewayId")
    members = given.members(
        SubnetId="subnetId",
        AllocationId="allocationId",
        ConnectivityType="connectivityType",
        PrivateIpAddress="privateIp",
    )
    return Plan(
        create=request("CreateNatGateway", **members, **tagged("natgateway", given.get("tags"))),
        id=made,
        find=find("DescribeNatGateways", "NatGateways[?State!='deleted']", NatGatewayIds=[made]),
        delete=[request("DeleteNatGateway", NatGatewayId=made)],
        problems=_nat_problems(members),
    )


def _nat_problems(members: Mapping[str, Any]) -> list[str]:
    kind = members.get("ConnectivityType", "public")
    found = [] if "SubnetId" in members else ["a NAT gateway wants a subnet"]
    if known(kind) and (kind == "public") != ("AllocationId" in members):
        found.append("a public NAT gateway, and no other, wants an address")
    return found


def route_table(given: Given) -> Plan:
    made = From("RouteTable.RouteTableId")
    routes = given.blocks(
        "routes", lambda block: {**_destination(block, "cidrBlock", "ipv6CidrBlock"), **_target(block)}
    )
    return Plan(
        create=request("CreateRouteTable", VpcId=given.get("vpcId"), **tagged("route-table", given.get("tags"))),
        then=[request("CreateRoute", RouteTableId=made, **members) for members in listed(routes, dict)],
        id=made,
        outputs={"arn": ec2_arn("route-table"), **OWNED},
        find=find("DescribeRouteTables", "RouteTables", RouteTableIds=[made]),
        delete=[request("DeleteRouteTable", RouteTableId=made)],
    )


def _destination(given: Given, ipv4: str, ipv6: str) -> dict[str, Any]:
    return given.members(DestinationCidrBlock=ipv4, DestinationIpv6CidrBlock=ipv6)


def _target(given: Given) -> dict[str, Any]:
    return given.members(
        GatewayId="gatewayId",
        NatGatewayId="natGatewayId",
        EgressOnlyInternetGatewayId="egressOnlyGatewayId",
        NetworkInterfaceId="networkInterfaceId",
        TransitGatewayId="transitGatewayId",
        VpcEndpointId="vpcEndpointId",
        VpcPeeringConnectionId="vpcPeeringConnectionId",
    )


def route(given: Given) -> Plan:
    (table,) = given.id("routeTableId")
    destination, target = _destination(given, "destinationCidrBlock", "destinationIpv6CidrBlock"), _target(given)
    at = next(iter(destination.values()), "")
    problems = [] if len(destination) == 1 else ["a route has exactly one destination"]
    return Plan(
        create=request("CreateRoute", RouteTableId=table, **destination, **target),
        id=f"r-{table}{zlib.crc32(str(at).encode())}",
        outputs={"state": "active", "origin": "CreateRoute"},
        find=find(
            "DescribeRouteTables", f"RouteTables[].Routes[?{_route_at(destination, at)}][]", RouteTableIds=[table]
        ),
        delete=[request("DeleteRoute", RouteTableId=table, **destination)],
        problems=problems if len(target) == 1 else [*problems, "a route has exactly one target"],
    )


def _route_at(destination: Mapping[str, Any], at: Any) -> str:
    return f"{next(iter(destination), 'DestinationCidrBlock')}=='{at}'"


def route_table_association(given: Given) -> Plan:
    made = From("AssociationId")
    members = given.members(RouteTableId="routeTableId", SubnetId="subnetId", GatewayId="gatewayId")
    return Plan(
        create=request("AssociateRouteTable", **members),
        id=made,
        find=find(
            "DescribeRouteTables",
            "RouteTables",
            Filters=[{"Name": "association.route-table-association-id", "Values": [made]}],
        ),
        delete=[request("DisassociateRouteTable", AssociationId=made)],
    )


def vpc_endpoint(given: Given) -> Plan:
    made = From("VpcEndpoint.VpcEndpointId")
    policy = given.get("policy")
    members = given.members(
        VpcId="vpcId",
        ServiceName="serviceName",
        VpcEndpointType="vpcEndpointType",
        RouteTableIds="routeTableIds",
        SubnetIds="subnetIds",
        SecurityGroupIds="securityGroupIds",
        PrivateDnsEnabled="privateDnsEnabled",
        IpAddressType="ipAddressType",
    )
    return Plan(
        create=request(
            "CreateVpcEndpoint",
            **members,
            **drop_empty({"PolicyDocument": policy}),
            **tagged("vpc-endpoint", given.get("tags")),
        ),
        id=made,
        outputs={"arn": ec2_arn("vpc-endpoint"), "state": From("VpcEndpoint.State"), **OWNED},
        find=find("DescribeVpcEndpoints", "VpcEndpoints[?State!='deleted']", VpcEndpointIds=[made]),
        delete=[request("DeleteVpcEndpoints", VpcEndpointIds=[made])],
        needs=[
            *_tables_exist(members.get("RouteTableIds")),
            *subnets_exist(members.get("SubnetIds")),
            *groups_exist(members.get("SecurityGroupIds")),
        ],
        problems=policy_problems(RESOURCE, policy),
    )


KINDS: Mapping[str, Planner] = {
    "aws:ec2/vpc:Vpc": vpc,
    "aws:ec2/subnet:Subnet": subnet,
    "aws:ec2/internetGateway:InternetGateway": internet_gateway,
    "aws:ec2/eip:Eip": eip,
    "aws:ec2/natGateway:NatGateway": nat_gateway,
    "aws:ec2/routeTable:RouteTable": route_table,
    "aws:ec2/route:Route": route,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": route_table_association,
    "aws:ec2/vpcEndpoint:VpcEndpoint": vpc_endpoint,
}
