"""A network with more than one IPv4 range: a range for pods, IPv6, and the record of its connections."""

import ipaddress
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.clouds.aws.logs import RETENTION_DAYS
from components.clouds.aws.subnets import POD_CIDR, ipv6_subnet
from components.resources.aws.args import ClusterArgs
from components.resources.aws.cluster import Cluster
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from tests.resources.aws.networks import (
    ASSOCIATION,
    BASE,
    GIVEN,
    NAT,
    ROUTE,
    RULE,
    SUBNET,
    TABLE,
    VPC,
    program,
    refused,
    zones,
)

RANGE = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
OUTWARD = "aws:ec2/egressOnlyInternetGateway:EgressOnlyInternetGateway"
FLOW = "aws:ec2/flowLog:FlowLog"
OWNER = "123456789012"


def made(**args: Any) -> Recorded:
    return deploy(program(zones=zones(2), **args), mock=Aws())


def test_pods_have_a_subnet_per_zone_that_only_the_network_plugin_finds() -> None:
    """Source: aws/amazon-vpc-cni-k8s, README, CNI role tag."""
    graph = made(pod_cidr=POD_CIDR)
    assert graph[f"{RANGE}::net-pods"].inputs == {"vpcId": "net-id", "cidrBlock": "100.64.0.0/16"}
    subnet = graph[f"{SUBNET}::net-pods-us-east-1b"]
    assert f"{RANGE}::net-pods" in subnet.dependencies
    assert (subnet.inputs["availabilityZone"], subnet.inputs["cidrBlock"]) == ("us-east-1b", "100.64.32.0/19")
    assert subnet.inputs["tags"] == {
        "Name": "demo-pods-us-east-1b",
        "kubernetes.io/cluster/demo": "shared",
        "kubernetes.io/role/cni": "1",
    }


def test_pods_leave_by_the_table_of_their_zone_and_nodes_wait_for_their_subnet() -> None:
    graph = made(pod_cidr=POD_CIDR)
    association = graph[f"{ASSOCIATION}::net-pods-us-east-1b"]
    assert association.inputs["routeTableId"] == "net-private-us-east-1b-id"
    assert association.key in graph[f"{ASSOCIATION}::net-private-us-east-1b"].dependencies
    assert graph.exports["private"] == ["net-private-us-east-1a-id", "net-private-us-east-1b-id"]


def test_interface_endpoints_take_pods_of_both_ranges() -> None:
    graph = made(pod_cidr=POD_CIDR, interface_endpoints=["sts"])
    assert {rule.inputs["cidrIpv4"] for rule in graph.of(RULE)} == {"10.0.0.0/16", POD_CIDR}
    assert {rule.name for rule in graph.of(RULE)} == {"net-endpoints", "net-endpoints-pods"}


def test_ipv6_leaves_without_a_nat_gateway_and_nothing_comes_in() -> None:
    graph = made(ipv6=True, nat_gateways="none")
    assert graph[f"{VPC}::net"].inputs["assignGeneratedIpv6CidrBlock"] is True
    assert not graph.of(NAT)
    routes = {entry.name: entry.inputs for entry in graph.of(ROUTE) if "destinationIpv6CidrBlock" in entry.inputs}
    assert set(routes) == {"net-public-ipv6", "net-private-us-east-1a-ipv6", "net-private-us-east-1b-ipv6"}
    assert {inputs["destinationIpv6CidrBlock"] for inputs in routes.values()} == {"::/0"}
    assert routes["net-public-ipv6"]["gatewayId"] == "net-id"
    assert routes["net-private-us-east-1a-ipv6"]["egressOnlyGatewayId"] == "net-id"
    assert len(graph.of(OUTWARD)) == 1


def test_every_subnet_of_nodes_and_balancers_has_a_64_of_its_own() -> None:
    graph = made(ipv6=True, pod_cidr=POD_CIDR)
    subnets = {entry.name: entry.inputs for entry in graph.of(SUBNET)}
    blocks = {name: inputs["ipv6CidrBlock"] for name, inputs in subnets.items() if "ipv6CidrBlock" in inputs}
    assert set(blocks) == {f"net-{kind}-{zone}" for kind in ("public", "private") for zone in zones(2)}
    assert len(set(blocks.values())) == 4
    assert all(subnets[name]["assignIpv6AddressOnCreation"] for name in blocks)


def test_beside_a_control_plane_a_zone_has_the_same_ranges_whichever_others_there_are() -> None:
    """Those of the VPC, of pods and of IPv6."""
    a, b, c, d = zones(4)

    def ranges(*wanted: str) -> dict[str, tuple[str, str]]:
        more = {"ipv6": True, "pod_cidr": POD_CIDR, "control_plane_zones": [b, a]}
        graph = deploy(program(zones=list(wanted), **more), mock=Aws())
        return {e.name: (e.inputs["cidrBlock"], e.inputs.get("ipv6CidrBlock", "")) for e in graph.of(SUBNET)}

    whole = ranges(b, a, c, d)
    assert len(set(whole.values())) == 12
    for fewer in ([a, b], [d, a, b], [a, c, b]):
        found = ranges(*fewer)
        assert len(found) == 3 * len(fewer)
        assert found.items() <= whole.items()


def test_what_uses_a_subnet_waits_for_its_way_out_by_ipv6() -> None:
    graph = made(ipv6=True)
    zone = "us-east-1b"
    assert f"{ROUTE}::net-private-{zone}-ipv6" in graph[f"{ASSOCIATION}::net-private-{zone}"].dependencies
    assert f"{ROUTE}::net-public-ipv6" in graph[f"{ASSOCIATION}::net-public-{zone}"].dependencies


@given(st.integers(0, 255), st.integers(1, 7))
def test_a_zone_that_is_appended_moves_no_other(high: int, count: int) -> None:
    block = ipaddress.IPv6Network((int(ipaddress.IPv6Address("2600:1f18::")) + (high << 72), 56))
    found = [ipv6_subnet(str(block), at, public=public) for at in range(count) for public in (False, True)]
    assert len(set(found)) == len(found)
    assert all(ipaddress.IPv6Network(one).subnet_of(block) for one in found)
    assert all(ipaddress.IPv6Network(one).prefixlen == 64 for one in found)
    assert ipv6_subnet(str(block), 0, public=False) == str(ipaddress.IPv6Network((int(block.network_address), 64)))


def test_connections_are_recorded_by_a_role_that_can_do_nothing_else() -> None:
    graph = made(flow_logs={"traffic": "rejected", "retention_days": 14})
    group = graph["aws:cloudwatch/logGroup:LogGroup::net-flow-logs"].inputs
    assert (group["name"], group["retentionInDays"]) == ("/aws/vpc/demo/flow-logs", 14)
    log = graph[f"{FLOW}::net-flow-logs"]
    assert (log.inputs["vpcId"], log.inputs["trafficType"]) == ("net-id", "REJECT")
    assert "aws:iam/rolePolicy:RolePolicy::net-flow-logs" in log.dependencies
    trust = json.loads(graph["aws:iam/role:Role::net-flow-logs"].inputs["assumeRolePolicy"])["Statement"][0]
    assert trust["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": OWNER},
        "ArnLike": {"aws:SourceArn": f"arn:aws:ec2:us-east-1:{OWNER}:vpc-flow-log/*"},
    }
    policy = json.loads(graph["aws:iam/rolePolicy:RolePolicy::net-flow-logs"].inputs["policy"])["Statement"]
    written = {action: one["Resource"] for one in policy for action in one["Action"]}
    assert "logs:CreateLogGroup" not in written
    assert all("net-flow-logs" in arn for arn in written["logs:PutLogEvents"])
    assert written["logs:DescribeLogGroups"] == ["*"]


@pytest.mark.parametrize(("word", "api"), [("all", "ALL"), ("accepted", "ACCEPT"), ("rejected", "REJECT")])
def test_the_traffic_that_is_recorded(word: str, api: str) -> None:
    assert made(flow_logs={"traffic": word})[f"{FLOW}::net-flow-logs"].inputs["trafficType"] == api


@pytest.mark.parametrize("ipv6", [True, False])
def test_pods_leave_by_ipv6_if_both_containers_of_the_network_plugin_know(ipv6: bool) -> None:
    """Source: aws/amazon-vpc-cni-k8s, README, ENABLE_V6_EGRESS."""
    args: ClusterArgs = {"region": "us-east-1", "version": "1.35", "subnet_ids": ["a", "b"], "bastion": True}

    def program() -> None:
        Cluster("main", {**args, "ipv6_egress": ipv6})

    graph = deploy(program, mock=Aws())
    told = json.loads(graph["aws:eks/addon:Addon::main-vpc-cni"].inputs["configurationValues"])
    assert told["env"].get("ENABLE_V6_EGRESS") == ("true" if ipv6 else None)
    assert told.get("init", {}).get("env") == ({"ENABLE_V6_EGRESS": "true"} if ipv6 else None)
    assert told["env"]["ENABLE_PREFIX_DELEGATION"] == "true"


def test_without_them_the_network_is_what_it_was() -> None:
    plain = made()
    assert not [entry for kind in (RANGE, OUTWARD, FLOW) for entry in plain.of(kind)]
    assert "assignGeneratedIpv6CidrBlock" not in plain[f"{VPC}::net"].inputs
    assert {entry.key for entry in plain.graph} < {
        entry.key for entry in made(pod_cidr=POD_CIDR, ipv6=True, flow_logs={"traffic": "all"}).graph
    }
    assert len(plain.of(TABLE)) == 3


@pytest.mark.parametrize(
    ("args", "path", "reason"),
    [
        ({"pod_cidr": "10.1.0.0/16"}, "pod_cidr", "must lie in 100.64.0.0/10"),
        ({"pod_cidr": "100.64.0.0/24"}, "pod_cidr", "must be an IPv4 range of /16 to /21"),
        ({"pod_cidr": "100.64.1.0/16"}, "pod_cidr", "whose host bits are zero"),
        ({"pod_cidr": "fd00::/56"}, "pod_cidr", "must be an IPv4 range"),
        ({"pod_cidr": POD_CIDR, "cidr": "100.64.0.0/20"}, "pod_cidr", "overlaps the range of the VPC"),
        ({"flow_logs": {"traffic": "some"}}, "flow_logs.traffic", "must be one of rejected, accepted, all"),
        ({"flow_logs": {"traffic": "all", "retention_days": 8}}, "flow_logs.retention_days", "found 8"),
    ],
)
def test_what_aws_would_refuse(args: dict[str, Any], path: str, reason: str) -> None:
    found = refused(zones=zones(2), **args)
    assert set(found) == {path}
    assert reason in found[path][0]


@pytest.mark.parametrize("args", [{"pod_cidr": POD_CIDR}, {"ipv6": True}, {"flow_logs": {"traffic": "all"}}])
def test_an_existing_vpc_is_left_as_it_is(args: dict[str, Any]) -> None:
    (key,) = args
    assert refused(**GIVEN, **args) == {key: ["has no effect on an existing VPC; remove it, or remove vpc_id"]}


def test_the_periods_are_those_of_the_provider() -> None:
    """Source: the provider's documentation of the log group, retention_in_days."""
    from pulumi_aws.cloudwatch.log_group import LogGroupArgs

    text = str(LogGroupArgs.retention_in_days.fget.__doc__)  # type: ignore[attr-defined]
    assert all(f"{days}" in text for days in RETENTION_DAYS)
    assert BASE["region"] == "us-east-1"
