"""Networks of every shape, and what is refused."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from components.resources.aws.args import NetworkArgs
from components.resources.aws.network import Network
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded, deploy

NETWORK = "inference-platform:index:Network::net"
VPC = "aws:ec2/vpc:Vpc"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
SUBNET = "aws:ec2/subnet:Subnet"
TABLE = "aws:ec2/routeTable:RouteTable"
ROUTE = "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ADDRESS = "aws:ec2/eip:Eip"
NAT = "aws:ec2/natGateway:NatGateway"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
NOT_TAGGABLE = {ROUTE, ASSOCIATION, "inference-platform:index:Network"}
BASE: NetworkArgs = {"cluster_name": "demo", "region": "us-east-1"}
GIVEN: dict[str, Any] = {
    "vpc_id": "vpc-1",
    "private_subnets": {"us-east-1a": "subnet-1", "us-east-1b": "subnet-2"},
    "public_subnets": {"us-east-1a": "subnet-3"},
}


def zones(count: int) -> list[str]:
    return [f"us-east-1{letter}" for letter in "abcdefg"[:count]]


def program(**args: Any) -> Callable[[], None]:
    def run() -> None:
        made = Network("net", {**BASE, **args})  # type: ignore[typeddict-item]
        pulumi.export("vpc", made.vpc_id)
        pulumi.export("private", made.private_subnet_ids)
        pulumi.export("control plane", made.control_plane_subnet_ids)
        pulumi.export("public", made.public_subnet_ids)
        pulumi.export("by zone", made.private_by_zone)

    return run


def network(*, preview: bool = False, **args: Any) -> Recorded:
    return deploy(program(**args), preview=preview)


def counts(recorded: Recorded) -> dict[str, int]:
    return dict(Counter(entry.type.rpartition(":")[2] for entry in recorded.graph))


def refused(**args: Any) -> dict[str, list[str]]:
    with pytest.raises(InvalidArguments) as raised:
        network(**args)
    found: dict[str, list[str]] = {}
    for error in raised.value.errors or []:
        found.setdefault(error["property_path"], []).append(error["reason"])
    assert all(f"net: {path}: {reason}" in str(raised.value) for path, all_ in found.items() for reason in all_)
    return found
