"""The requests of VPCs and what is in them."""

import zlib
from collections.abc import Mapping
from typing import Any

from tests.aws.documented import pattern_problems
from tests.aws.plan import (
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
from tests.aws.policies import RESOURCE, policy_problems

_EVERYWHERE = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


def _ec2(operation: str, **params: Any) -> Request:
    return Request("ec2", operation, params)


def _find(operation: str, path: str, **params: Any) -> Lookup:
    return lookup("ec2", operation, path, **params)


def tagged(kind: str, tags: Any) -> dict[str, Any]:
    """Return the tags of what is made, in the form of EC2."""
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": key_values(tags)}]} if tags else {}


def ec2_arn(kind: str) -> Text:
    return Text(f"arn:{{partition}}:ec2:{{region}}:{{account}}:{kind}/{{id}}")


def subnets_exist(ids: Any) -> list[Lookup]:
    return [_find("DescribeSubnets", "Subnets", SubnetIds=ids)] if ids else []


def groups_exist(ids: Any) -> list[Lookup]:
    return [_find("DescribeSecurityGroups", "SecurityGroups", GroupIds=ids)] if ids else []


def _tables_exist(ids: Any) -> list[Lookup]:
    return [_find("DescribeRouteTables", "RouteTables", RouteTableIds=ids)] if ids else []


_OWNED = {"ownerId": Text("{account}")}


def vpc(given: Given) -> Plan:
    made = From("Vpc.VpcId")
    tags = given.get("tags")
    switches = given.members(
        EnableDnsSupport="enableDnsSupport",
        EnableDnsHostnames="enableDnsHostnames",
        EnableNetworkAddressUsageMetrics="enableNetworkAddressUsageMetrics",
    )
    members = given.members(
        CidrBlock="cidrBlock",
        InstanceTenancy="instanceTenancy",
        AmazonProvidedIpv6CidrBlock="assignGeneratedIpv6CidrBlock",
    )
    mine = [{"Name": "vpc-id", "Values": [made]}]
    default = [*mine, {"Name": "group-name", "Values": ["default"]}]
    main = [*mine, {"Name": "association.main", "Values": ["true"]}]
    return Plan(
        create=_ec2("CreateVpc", **members, **tagged("vpc", tags)),
        # One attribute at a time is all that EC2 takes.
        then=[
            _ec2("DescribeSecurityGroups", Filters=default),
            _ec2("DescribeRouteTables", Filters=main),
            *(_ec2("ModifyVpcAttribute", VpcId=made, **{name: {"Value": on}}) for name, on in switches.items()),
        ],
        id=made,
        outputs={
            "arn": ec2_arn("vpc"),
            "defaultSecurityGroupId": From("then[0].SecurityGroups[0].GroupId"),
            "mainRouteTableId": From("then[1].RouteTables[0].RouteTableId"),
            "defaultRouteTableId": From("then[1].RouteTables[0].RouteTableId"),
            **_OWNED,
        },
        find=_find("DescribeVpcs", "Vpcs", VpcIds=[made]),
        delete=[_ec2("DeleteVpc", VpcId=made)],
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
        create=_ec2("CreateSubnet", **members, **tagged("subnet", tags)),
        then=[_ec2("ModifySubnetAttribute", SubnetId=made, **{name: {"Value": on}}) for name, on in switches.items()],
        id=made,
        outputs={
            "arn": ec2_arn("subnet"),
            "availabilityZone": From("Subnet.AvailabilityZone"),
            "availabilityZoneId": From("Subnet.AvailabilityZoneId"),
            **_OWNED,
        },
        find=_find("DescribeSubnets", "Subnets", SubnetIds=[made]),
        delete=[_ec2("DeleteSubnet", SubnetId=made)],
    )


def internet_gateway(given: Given) -> Plan:
    made = From("InternetGateway.InternetGatewayId")
    attached = "vpcId" in given
    place = {"InternetGatewayId": made, **given.members(VpcId="vpcId")}
    return Plan(
        create=_ec2("CreateInternetGateway", **tagged("internet-gateway", given.get("tags"))),
        then=[_ec2("AttachInternetGateway", **place)] if attached else [],
        id=made,
        outputs={"arn": ec2_arn("internet-gateway"), **_OWNED},
        find=_find("DescribeInternetGateways", "InternetGateways", InternetGatewayIds=[made]),
        delete=[
            *([_ec2("DetachInternetGateway", **place)] if attached else []),
            _ec2("DeleteInternetGateway", InternetGatewayId=made),
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
        create=_ec2("AllocateAddress", **members, **tagged("elastic-ip", given.get("tags"))),
        id=made,
        outputs={
            "allocationId": made,
            "publicIp": From("PublicIp"),
            "arn": ec2_arn("elastic-ip"),
        },
        find=_find("DescribeAddresses", "Addresses", AllocationIds=[made]),
        delete=[_ec2("ReleaseAddress", AllocationId=made)],
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
        create=_ec2("CreateNatGateway", **members, **tagged("natgateway", given.get("tags"))),
        id=made,
        find=_find("DescribeNatGateways", "NatGateways[?State!='deleted']", NatGatewayIds=[made]),
        delete=[_ec2("DeleteNatGateway", NatGatewayId=made)],
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
        create=_ec2("CreateRouteTable", VpcId=given.get("vpcId"), **tagged("route-table", given.get("tags"))),
        then=[_ec2("CreateRoute", RouteTableId=made, **members) for members in listed(routes, dict)],
        id=made,
        outputs={"arn": ec2_arn("route-table"), **_OWNED},
        find=_find("DescribeRouteTables", "RouteTables", RouteTableIds=[made]),
        delete=[_ec2("DeleteRouteTable", RouteTableId=made)],
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
        create=_ec2("CreateRoute", RouteTableId=table, **destination, **target),
        id=f"r-{table}{zlib.crc32(str(at).encode())}",
        outputs={"state": "active", "origin": "CreateRoute"},
        find=_find(
            "DescribeRouteTables", f"RouteTables[].Routes[?{_route_at(destination, at)}][]", RouteTableIds=[table]
        ),
        delete=[_ec2("DeleteRoute", RouteTableId=table, **destination)],
        problems=problems if len(target) == 1 else [*problems, "a route has exactly one target"],
    )


def _route_at(destination: Mapping[str, Any], at: Any) -> str:
    return f"{next(iter(destination), 'DestinationCidrBlock')}=='{at}'"


def route_table_association(given: Given) -> Plan:
    made = From("AssociationId")
    members = given.members(RouteTableId="routeTableId", SubnetId="subnetId", GatewayId="gatewayId")
    return Plan(
        create=_ec2("AssociateRouteTable", **members),
        id=made,
        find=_find(
            "DescribeRouteTables",
            "RouteTables",
            Filters=[{"Name": "association.route-table-association-id", "Values": [made]}],
        ),
        delete=[_ec2("DisassociateRouteTable", AssociationId=made)],
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
        create=_ec2(
            "CreateVpcEndpoint",
            **members,
            **drop_empty({"PolicyDocument": policy}),
            **tagged("vpc-endpoint", given.get("tags")),
        ),
        id=made,
        outputs={"arn": ec2_arn("vpc-endpoint"), "state": From("VpcEndpoint.State"), **_OWNED},
        find=_find("DescribeVpcEndpoints", "VpcEndpoints[?State!='deleted']", VpcEndpointIds=[made]),
        delete=[_ec2("DeleteVpcEndpoints", VpcEndpointIds=[made])],
        needs=[
            *_tables_exist(members.get("RouteTableIds")),
            *subnets_exist(members.get("SubnetIds")),
            *groups_exist(members.get("SecurityGroupIds")),
        ],
        problems=policy_problems(RESOURCE, policy),
    )


def security_group(given: Given) -> Plan:
    made = From("GroupId")
    name, description = given.name(), given.get("description", "Managed by Pulumi")
    rules = {side: given.blocks(side, _inline_rule) for side in ("ingress", "egress")}
    given.no_request("revokeRulesOnDelete")
    return Plan(
        create=_ec2(
            "CreateSecurityGroup",
            GroupName=name,
            Description=description,
            **given.members(VpcId="vpcId"),
            **tagged("security-group", given.get("tags")),
        ),
        then=[
            # AWS lets everything out of a new group; the provider takes that away.
            _ec2("RevokeSecurityGroupEgress", GroupId=made, IpPermissions=[_EVERYWHERE]),
            *(
                _ec2(f"AuthorizeSecurityGroup{side.capitalize()}", GroupId=made, IpPermissions=permissions)
                for side, permissions in rules.items()
                if permissions
            ),
        ],
        id=made,
        outputs={"arn": ec2_arn("security-group"), "name": name, **_OWNED},
        find=_find("DescribeSecurityGroups", "SecurityGroups", GroupIds=[made]),
        delete=[_ec2("DeleteSecurityGroup", GroupId=made)],
        problems=[
            *pattern_problems("security group name", name),
            *pattern_problems("security group description", description),
        ],
    )


def _inline_rule(given: Given) -> dict[str, Any]:
    about = given.members(Description="description")
    assert not given.get("self"), "a group that admits itself inline is not known here; use the resources for rules"
    return {
        **given.members(IpProtocol="protocol", FromPort="fromPort", ToPort="toPort"),
        **drop_empty(
            {
                "IpRanges": [{"CidrIp": item, **about} for item in listed(given.get("cidrBlocks"))],
                "Ipv6Ranges": [{"CidrIpv6": item, **about} for item in listed(given.get("ipv6CidrBlocks"))],
                "UserIdGroupPairs": [{"GroupId": item, **about} for item in listed(given.get("securityGroups"))],
            }
        ),
    }


def _security_group_rule(side: str) -> Planner:
    def rule(given: Given) -> Plan:
        made = From("SecurityGroupRules[0].SecurityGroupRuleId")
        (group,) = given.id("securityGroupId")
        about = given.members(Description="description")
        sources = {
            "IpRanges": given.members(CidrIp="cidrIpv4"),
            "Ipv6Ranges": given.members(CidrIpv6="cidrIpv6"),
            "PrefixListIds": given.members(PrefixListId="prefixListId"),
            "UserIdGroupPairs": given.members(GroupId="referencedSecurityGroupId"),
        }
        permission = {
            **given.members(IpProtocol="ipProtocol", FromPort="fromPort", ToPort="toPort"),
            **{kind: [{**source, **about}] for kind, source in sources.items() if source},
        }
        return Plan(
            create=_ec2(
                f"AuthorizeSecurityGroup{side}",
                GroupId=group,
                IpPermissions=[permission],
                **tagged("security-group-rule", given.get("tags")),
            ),
            id=made,
            outputs={"arn": ec2_arn("security-group-rule"), "securityGroupRuleId": made},
            find=_find("DescribeSecurityGroupRules", "SecurityGroupRules", SecurityGroupRuleIds=[made]),
            delete=[_ec2(f"RevokeSecurityGroup{side}", GroupId=group, SecurityGroupRuleIds=[made])],
            needs=groups_exist(list(sources["UserIdGroupPairs"].values())),
            problems=_rule_problems(sources, permission),
        )

    return rule


def _rule_problems(sources: Mapping[str, Any], permission: Mapping[str, Any]) -> list[str]:
    protocol = permission.get("IpProtocol")
    ports = {"FromPort", "ToPort"} & permission.keys()
    found = []
    if sum(map(bool, sources.values())) != 1:
        found.append("a rule has exactly one source")
    if known(protocol) and protocol in ("tcp", "udp") and len(ports) < 2:
        found.append(f"protocol {protocol} wants fromPort and toPort")
    if protocol == "-1" and ports:
        found.append("a rule for all protocols has no ports")
    return found


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
    "aws:ec2/securityGroup:SecurityGroup": security_group,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _security_group_rule("Ingress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _security_group_rule("Egress"),
}
