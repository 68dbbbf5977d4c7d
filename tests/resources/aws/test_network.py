"""The network of a cluster: exact graphs of new and existing ones."""

from typing import Any

import pulumi
import pytest

from components.resources.aws.network import Network
from components.resources.aws.network_checks import ENDPOINT_SERVICES
from tests.recorded import deploy
from tests.resources.aws.networks import (
    ADDRESS,
    ASSOCIATION,
    BASE,
    ENDPOINT,
    GATEWAY,
    GIVEN,
    GROUP,
    NAT,
    NETWORK,
    NOT_TAGGABLE,
    ROUTE,
    RULE,
    SUBNET,
    TABLE,
    VPC,
    counts,
    network,
    zones,
)


@pytest.mark.parametrize("preview", [False, True])
def test_two_zones_make_this_graph(preview: bool) -> None:
    recorded = network(zones=zones(2), preview=preview)
    a, b = zones(2)
    assert {entry.key: set(entry.dependencies) for entry in recorded.graph} == {
        NETWORK: set(),
        f"{VPC}::net": set(),
        f"{GATEWAY}::net": {f"{VPC}::net"},
        f"{TABLE}::net-public": {f"{VPC}::net"},
        f"{ROUTE}::net-public": {f"{TABLE}::net-public", f"{GATEWAY}::net"},
        f"{SUBNET}::net-public-{a}": {f"{VPC}::net"},
        f"{SUBNET}::net-public-{b}": {f"{VPC}::net"},
        f"{ASSOCIATION}::net-public-{a}": {f"{SUBNET}::net-public-{a}", f"{ROUTE}::net-public"},
        f"{ASSOCIATION}::net-public-{b}": {f"{SUBNET}::net-public-{b}", f"{ROUTE}::net-public"},
        f"{ADDRESS}::net-{a}": {f"{GATEWAY}::net"},
        f"{NAT}::net-{a}": {f"{ADDRESS}::net-{a}", f"{GATEWAY}::net", f"{ASSOCIATION}::net-public-{a}"},
        f"{SUBNET}::net-private-{a}": {f"{VPC}::net"},
        f"{SUBNET}::net-private-{b}": {f"{VPC}::net"},
        f"{TABLE}::net-private-{a}": {f"{VPC}::net"},
        f"{TABLE}::net-private-{b}": {f"{VPC}::net"},
        f"{ROUTE}::net-private-{a}": {f"{TABLE}::net-private-{a}", f"{NAT}::net-{a}"},
        f"{ROUTE}::net-private-{b}": {f"{TABLE}::net-private-{b}", f"{NAT}::net-{a}"},
        f"{ASSOCIATION}::net-private-{a}": {f"{SUBNET}::net-private-{a}", f"{ROUTE}::net-private-{a}"},
        f"{ASSOCIATION}::net-private-{b}": {f"{SUBNET}::net-private-{b}", f"{ROUTE}::net-private-{b}"},
        f"{ENDPOINT}::net-s3": {
            f"{VPC}::net",
            f"{TABLE}::net-public",
            f"{TABLE}::net-private-{a}",
            f"{TABLE}::net-private-{b}",
        },
    }
    assert {entry.parent for entry in recorded.graph if entry.key != NETWORK} == {NETWORK}


def test_the_inputs_of_each_kind() -> None:
    recorded = network(zones=zones(2), cidr="10.4.0.0/16")
    everywhere = {"destinationCidrBlock": "0.0.0.0/0"}
    expected = {
        f"{VPC}::net": {"cidrBlock": "10.4.0.0/16", "enableDnsHostnames": True, "enableDnsSupport": True},
        f"{GATEWAY}::net": {"vpcId": "net-id"},
        f"{TABLE}::net-public": {"vpcId": "net-id"},
        f"{ROUTE}::net-public": {**everywhere, "routeTableId": "net-public-id", "gatewayId": "net-id"},
        f"{ROUTE}::net-private-us-east-1b": {
            **everywhere,
            "routeTableId": "net-private-us-east-1b-id",
            "natGatewayId": "net-us-east-1a-id",
        },
        f"{ASSOCIATION}::net-private-us-east-1b": {
            "routeTableId": "net-private-us-east-1b-id",
            "subnetId": "net-private-us-east-1b-id",
        },
        f"{SUBNET}::net-private-us-east-1b": {
            "vpcId": "net-id",
            "availabilityZone": "us-east-1b",
            "cidrBlock": "10.4.32.0/19",
        },
        f"{SUBNET}::net-public-us-east-1b": {
            "vpcId": "net-id",
            "availabilityZone": "us-east-1b",
            "cidrBlock": "10.4.225.0/24",
        },
        f"{ADDRESS}::net-us-east-1a": {"domain": "vpc"},
        f"{NAT}::net-us-east-1a": {"allocationId": "net-us-east-1a-id", "subnetId": "net-public-us-east-1a-id"},
        f"{ENDPOINT}::net-s3": {
            "vpcId": "net-id",
            "vpcEndpointType": "Gateway",
            "serviceName": "com.amazonaws.us-east-1.s3",
            "routeTableIds": ["net-public-id", "net-private-us-east-1a-id", "net-private-us-east-1b-id"],
        },
    }
    for key, inputs in expected.items():
        assert {name: value for name, value in recorded[key].inputs.items() if name != "tags"} == inputs, key


def test_a_control_plane_has_its_own_subnets_in_its_own_order() -> None:
    a, b, c = zones(3)
    recorded = network(zones=[c, a, b], control_plane_zones=[b, a])
    control_plane = recorded.exports["control plane"]
    assert control_plane == [f"net-private-{zone}-id" for zone in (b, a)]
    assert recorded.exports["private"] == [f"net-private-{zone}-id" for zone in (b, a, c)]
    assert [entry.name for entry in recorded.of(NAT)] == [f"net-{b}"]
    given: dict[str, Any] = {"vpc_id": "vpc-1", "private_subnets": {c: "subnet-3", a: "subnet-1", b: "subnet-2"}}
    assert network(**given, control_plane_zones=[a, b]).exports["control plane"] == ["subnet-1", "subnet-2"]
    assert network(**given).exports["control plane"] == ["subnet-3", "subnet-1", "subnet-2"]


def test_everything_taggable_is_tagged_and_named() -> None:
    recorded = network(zones=zones(2), tags={"team": "ml"}, interface_endpoints=["ecr.api"])
    for entry in recorded.graph:
        if entry.type in NOT_TAGGABLE:
            assert "tags" not in entry.inputs, entry.key
        else:
            assert entry.inputs["tags"]["team"] == "ml", entry.key
            assert entry.inputs["tags"]["Name"] == entry.name.replace("net", "demo", 1), entry.key


def test_controllers_find_the_subnets_by_their_tags() -> None:
    recorded = network(zones=zones(2))
    shared = {"kubernetes.io/cluster/demo": "shared"}
    assert recorded[f"{SUBNET}::net-public-us-east-1a"].inputs["tags"] == {
        "Name": "demo-public-us-east-1a",
        "kubernetes.io/role/elb": "1",
        **shared,
    }
    assert recorded[f"{SUBNET}::net-private-us-east-1a"].inputs["tags"] == {
        "Name": "demo-private-us-east-1a",
        "kubernetes.io/role/internal-elb": "1",
        "karpenter.sh/discovery": "demo",
        **shared,
    }


@pytest.mark.parametrize(("mode", "gateways"), [("one", 1), ("per-zone", 3), ("none", 0)])
def test_nat_gateways_by_mode(mode: str, gateways: int) -> None:
    recorded = network(zones=zones(3), nat_gateways=mode)
    expected = {"Network": 1, "Vpc": 1, "InternetGateway": 1, "VpcEndpoint": 1, "Subnet": 6, "RouteTable": 4}
    expected |= {"RouteTableAssociation": 6, "Route": 1 + (3 if gateways else 0)}
    expected |= {"Eip": gateways, "NatGateway": gateways} if gateways else {}
    assert counts(recorded) == expected


def test_each_zone_leaves_by_its_own_gateway() -> None:
    recorded = network(zones=zones(3), nat_gateways="per-zone")
    for zone in zones(3):
        assert recorded[f"{ROUTE}::net-private-{zone}"].inputs["natGatewayId"] == f"net-{zone}-id"
        assert recorded[f"{NAT}::net-{zone}"].inputs["subnetId"] == f"net-public-{zone}-id"


def test_without_nat_gateways_the_subnets_still_have_their_tables() -> None:
    recorded = network(zones=zones(2), nat_gateways="none")
    assert [entry.name for entry in recorded.of(ROUTE)] == ["net-public"]
    assert recorded[f"{ASSOCIATION}::net-private-us-east-1a"].inputs["routeTableId"] == "net-private-us-east-1a-id"


def test_interface_endpoints_take_https_from_the_vpc_alone() -> None:
    recorded = network(zones=zones(2), cidr="10.4.0.0/16", interface_endpoints=["ecr.api", "sts"])
    assert recorded[GROUP + "::net-endpoints"].inputs == {
        "description": "Interface endpoints of the cluster demo",
        "vpcId": "net-id",
        "tags": {"Name": "demo-endpoints"},
    }
    rule = dict(recorded[RULE + "::net-endpoints"].inputs)
    assert (rule["securityGroupId"], rule["cidrIpv4"], rule["ipProtocol"], rule["fromPort"], rule["toPort"]) == (
        *("net-endpoints-id", "10.4.0.0/16", "tcp", 443, 443),
    )
    assert recorded[f"{ENDPOINT}::net-ecr-api"].inputs == {
        "vpcId": "net-id",
        "vpcEndpointType": "Interface",
        "serviceName": "com.amazonaws.us-east-1.ecr.api",
        "privateDnsEnabled": True,
        "securityGroupIds": ["net-endpoints-id"],
        "subnetIds": ["net-private-us-east-1a-id", "net-private-us-east-1b-id"],
        "tags": {"Name": "demo-ecr-api"},
    }
    assert f"{RULE}::net-endpoints" in recorded[f"{ENDPOINT}::net-sts"].dependencies
    assert counts(recorded)["VpcEndpoint"] == 3
    assert counts(recorded)["SecurityGroup"] == 1


def test_every_endpoint_service_that_is_offered_can_be_had() -> None:
    recorded = network(zones=zones(2), interface_endpoints=list(ENDPOINT_SERVICES))
    assert counts(recorded)["VpcEndpoint"] == 1 + len(ENDPOINT_SERVICES) == 17


@pytest.mark.parametrize("preview", [False, True])
def test_outputs_are_the_ids_in_the_order_of_the_zones(preview: bool) -> None:
    wanted = ["us-east-1c", "us-east-1a"]
    assert network(zones=wanted, preview=preview).exports == (
        {
            "vpc": "net-id",
            "private": [f"net-private-{zone}-id" for zone in wanted],
            "control plane": [f"net-private-{zone}-id" for zone in wanted],
            "public": [f"net-public-{zone}-id" for zone in wanted],
            "by zone": {zone: f"net-private-{zone}-id" for zone in wanted},
        }
    )


def test_what_uses_a_subnet_waits_for_its_routes() -> None:
    def run() -> None:
        made = Network("net", {**BASE, "zones": zones(2)})
        marker = pulumi.ComponentResource("test:index:Marker", "marker")
        pulumi.CustomResource(
            "test:index:User",
            "user",
            {"subnet": made.private_by_zone["us-east-1b"]},
            pulumi.ResourceOptions(parent=marker),
        )

    assert f"{ASSOCIATION}::net-private-us-east-1b" in deploy(run)["user"].dependencies


@pytest.mark.parametrize(("protect", "expected"), [(True, True), (False, False)])
def test_the_vpc_is_protected_on_request(protect: bool, expected: bool) -> None:
    recorded = network(zones=zones(2), protect=protect)
    assert bool(recorded[f"{VPC}::net"].registration.protect) is expected


@pytest.mark.parametrize("preview", [False, True])
def test_an_existing_vpc_makes_nothing(preview: bool) -> None:
    recorded = network(**GIVEN, preview=preview)
    assert [entry.key for entry in recorded.graph] == [NETWORK]
    assert recorded.exports == {
        "vpc": "vpc-1",
        "private": ["subnet-1", "subnet-2"],
        "control plane": ["subnet-1", "subnet-2"],
        "public": ["subnet-3"],
        "by zone": GIVEN["private_subnets"],
    }


def test_an_existing_vpc_may_be_private_altogether() -> None:
    recorded = network(vpc_id="vpc-1", private_subnets=GIVEN["private_subnets"])
    assert recorded.exports["public"] == []


def test_an_existing_vpc_gets_the_interface_endpoints_asked_for() -> None:
    recorded = network(**GIVEN, interface_endpoints=["sts"], cidr="172.16.0.0/12")
    assert counts(recorded) == {"Network": 1, "SecurityGroup": 1, "SecurityGroupIngressRule": 1, "VpcEndpoint": 1}
    assert recorded[RULE + "::net-endpoints"].inputs["cidrIpv4"] == "172.16.0.0/12"
    assert recorded[ENDPOINT + "::net-sts"].inputs["subnetIds"] == ["subnet-1", "subnet-2"]
