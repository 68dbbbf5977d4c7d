"""The requests of what only some VPCs have: a second range, a way out for IPv6, flow logs."""

from collections.abc import Mapping

from tests.clouds.aws.requests.network import find, request, tagged
from tests.clouds.aws.requests.plan import From, Given, Plan, Planner


def vpc_cidr(given: Given) -> Plan:
    members = given.members(VpcId="vpcId", CidrBlock="cidrBlock")
    made = From("CidrBlockAssociation.AssociationId")
    return Plan(
        create=request("AssociateVpcCidrBlock", **members),
        id=made,
        find=find(
            "DescribeVpcs",
            "Vpcs[]",
            Filters=[{"Name": "cidr-block-association.association-id", "Values": [made]}],
        ),
        delete=[request("DisassociateVpcCidrBlock", AssociationId=made)],
    )


def egress_only_gateway(given: Given) -> Plan:
    made = From("EgressOnlyInternetGateway.EgressOnlyInternetGatewayId")
    return Plan(
        create=request(
            "CreateEgressOnlyInternetGateway",
            **given.members(VpcId="vpcId"),
            **tagged("egress-only-internet-gateway", given.get("tags")),
        ),
        id=made,
        find=find(
            "DescribeEgressOnlyInternetGateways",
            "EgressOnlyInternetGateways",
            EgressOnlyInternetGatewayIds=[made],
        ),
        delete=[request("DeleteEgressOnlyInternetGateway", EgressOnlyInternetGatewayId=made)],
    )


def flow_log(given: Given) -> Plan:
    """One VPC's, to CloudWatch Logs, which is what the provider takes a destination without a type to be."""
    made = From("FlowLogIds[0]")
    return Plan(
        create=request(
            "CreateFlowLogs",
            ResourceIds=list(given.id("vpcId")),
            ResourceType="VPC",
            LogDestinationType="cloud-watch-logs",
            **given.members(
                TrafficType="trafficType", LogDestination="logDestination", DeliverLogsPermissionArn="iamRoleArn"
            ),
            **tagged("vpc-flow-log", given.get("tags")),
        ),
        id=made,
        find=find("DescribeFlowLogs", "FlowLogs", FlowLogIds=[made]),
        delete=[request("DeleteFlowLogs", FlowLogIds=[made])],
    )


KINDS: Mapping[str, Planner] = {
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": vpc_cidr,
    "aws:ec2/egressOnlyInternetGateway:EgressOnlyInternetGateway": egress_only_gateway,
    "aws:ec2/flowLog:FlowLog": flow_log,
}
