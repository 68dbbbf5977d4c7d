"""Changes of deployed resources that AWS refuses, or that destroy what is in use.

Expected outcomes are those of the EC2 API (CreateSubnet, DeleteSubnet, DisassociateVpcCidrBlock) and of the EKS user
guide: "Update existing cluster to new Kubernetes version", "Rollback cluster to previous Kubernetes version",
"VPC and subnet requirements", "Encrypt Kubernetes secrets with KMS" and
"Change authentication mode to use access entries".
"""

from typing import Any

import pytest

from components.clouds.aws.transitions import refusals
from components.contract.findings.ids import RuleId
from components.fleet.transitions import Transition

CLUSTER = "aws:eks/cluster:Cluster"
SUBNET = "aws:ec2/subnet:Subnet"
VPC = "aws:ec2/vpc:Vpc"
KEPT = Transition("cluster", CLUSTER, {"name": "a"}, {"name": "a"})
REFUSED, DESTROYS, REPLACES = RuleId.CHANGE_REFUSED, RuleId.CHANGE_DESTROYS, RuleId.CHANGE_REPLACES_CLUSTER


def found(*changes: Transition) -> list[tuple[RuleId, str]]:
    return [(refusal.rule, refusal.setting) for refusal in refusals(changes)]


def reason(*changes: Transition) -> str:
    (refusal,) = refusals(changes)
    return refusal.reason


def cluster(before: dict[str, Any], after: dict[str, Any], **further: Any) -> Transition:
    return Transition("cluster", CLUSTER, before, after, **further)


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ("1.34", "1.35", False),
        ("1.34", "1.34", False),
        ("1.34", "1.36", True),
        ("1.34", "1.33", True),
        ("1.34", "1.32", True),
    ],
)
def test_versions_go_up_one_by_one(before: str, after: str, *, refused: bool) -> None:
    change = cluster({"version": before}, {"version": after})
    assert found(change) == ([(REFUSED, "cluster.version")] if refused else [])


def test_a_skipped_version_names_the_steps() -> None:
    said = reason(cluster({"version": "1.33"}, {"version": "1.35"}))
    assert "found 1.35 after 1.33" in said
    assert "1.34 → 1.35" in said


def test_a_lower_version_says_when_it_is_possible() -> None:
    said = reason(cluster({"version": "1.35"}, {"version": "1.34"}))
    assert "within 7 days" in said
    assert "restore 1.35" in said


def key(arn: str) -> dict[str, Any]:
    return {"encryptionConfig": {"provider": {"keyArn": arn}, "resources": ["secrets"]}}


OWN, OTHER = "[arn of aws:kms/key cluster-secrets]", "arn:aws:kms:us-east-1:123456789012:key/x"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (OWN, OTHER, [(DESTROYS, "cluster.secretsKeyArn")]),
        (OTHER, OWN, [(REFUSED, "cluster.secretsKeyArn")]),
        (OTHER, f"{OTHER}y", [(REFUSED, "cluster.secretsKeyArn")]),
        (OWN, OWN, []),
    ],
)
def test_the_key_of_secrets_never_changes(before: str, after: str, expected: list[Any]) -> None:
    assert found(cluster(key(before), key(after))) == expected


def test_another_key_says_how_to_keep_the_former_one() -> None:
    assert "remove cluster.secretsKeyArn" in reason(cluster(key(OWN), key(OTHER)))
    assert f"set cluster.secretsKeyArn: {OTHER}" in reason(cluster(key(OTHER), key(OWN)))


def in_subnets(*names: str) -> dict[str, Any]:
    return {"vpcConfig": {"subnetIds": list(names)}}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("[id of a]", "[id of b]"), ("[id of b]", "[id of a]"), []),
        (("[id of a]", "[id of b]"), ("[id of a]", "[id of b]", "[id of c]"), []),
        (("[id of a]", "[id of b]"), ("[id of a]", "[id of c]"), [(REFUSED, "cluster.zones")]),
        (("[id of a]", "[id of b]"), ("subnet-0a", "subnet-0b"), [(REFUSED, "network.vpcId")]),
    ],
)
def test_the_control_plane_keeps_its_subnets(
    before: tuple[str, ...], after: tuple[str, ...], expected: list[Any]
) -> None:
    assert found(cluster(in_subnets(*before), in_subnets(*after))) == expected


@pytest.mark.parametrize(
    ("path", "setting"),
    [
        ("name", "clusterName"),
        ("region", "region"),
        ("kubernetesNetworkConfig.serviceIpv4Cidr", "cluster.serviceCidr"),
        ("roleArn", ""),
    ],
)
def test_a_replaced_cluster_names_the_setting(path: str, setting: str) -> None:
    change = cluster({}, {}, replaced=True, changed={path: ("old", "new")})
    assert found(change) == [(REPLACES, setting)]
    assert "second stack" in reason(change)


def test_a_replaced_cluster_with_deletion_protection() -> None:
    change = cluster({"deletionProtection": True}, {}, replaced=True, changed={"name": ("a", "b")})
    assert "deletion protection" in reason(change)
    assert "deletion protection" not in reason(cluster({}, {}, replaced=True, changed={"name": ("a", "b")}))


def test_existing_on_a_cluster_of_the_stack_and_back() -> None:
    assert found(cluster({"name": "a"}, {}, is_released=True)) == [(DESTROYS, "cluster.existing")]
    assert found(Transition("cluster", CLUSTER, None, {"name": "a"}, is_claimed=True)) == [
        (REFUSED, "cluster.existing")
    ]
    assert found(Transition("cluster", CLUSTER, None, {"name": "a"})) == []


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [("API", "API_AND_CONFIG_MAP", True), ("CONFIG_MAP", "API", False), ("API", "API", False)],
)
def test_the_authentication_mode_never_goes_back(before: str, after: str, *, refused: bool) -> None:
    inputs = [{"accessConfig": {"authenticationMode": mode}} for mode in (before, after)]
    assert bool(found(cluster(*inputs))) is refused


@pytest.mark.parametrize(
    ("before", "after", "refused"), [(True, None, True), (None, True, False), (True, True, False)]
)
def test_a_vpc_keeps_its_ipv6_range(before: object, after: object, *, refused: bool) -> None:
    old, new = ({"assignGeneratedIpv6CidrBlock": value} for value in (before, after))
    assert found(Transition("network", VPC, old, new)) == ([(REFUSED, "network.ipv6")] if refused else [])


def test_the_range_of_a_vpc_with_a_cluster() -> None:
    change = Transition("network", VPC, {}, {}, {"cidrBlock": ("10.0.0.0/16", "10.1.0.0/16")}, replaced=True)
    assert found(change, KEPT) == [(DESTROYS, "network.cidr")]
    assert "found 10.1.0.0/16 after 10.0.0.0/16" in reason(change, KEPT)
    assert found(change) == []


def subnet(name: str, before: str | None, after: str | None, *, pods: bool = False, **further: Any) -> Transition:
    tags = {"kubernetes.io/role/cni": "1"} if pods else {}
    old, new = (None if cidr is None else {"cidrBlock": cidr, "tags": tags} for cidr in (before, after))
    return Transition(name, SUBNET, old, new, **further)


def test_subnets_of_pods_stay_with_their_nodes() -> None:
    moved = subnet("pods-a", "100.64.0.0/19", "100.65.0.0/19", pods=True, replaced=True)
    gone = subnet("pods-a", "100.64.0.0/19", None, pods=True)
    assert found(moved, KEPT) == [(REFUSED, "network.podCidr")]
    assert found(gone, KEPT) == [(REFUSED, "network.podCidr")]
    assert found(gone) == []
    assert found(subnet("pods-a", "100.64.0.0/19", "100.64.0.0/19", pods=True), KEPT) == []
    assert found(subnet("private-a", "10.0.0.0/19", None), KEPT) == []


def test_new_subnets_beside_old_ones() -> None:
    old = subnet("private-b", "10.0.32.0/19", None)
    assert found(old, subnet("private-c", None, "10.0.32.0/19")) == [(REFUSED, "network.zones")]
    assert found(old, subnet("private-c", None, "10.0.40.0/24")) == [(REFUSED, "network.zones")]
    assert found(old, subnet("private-c", None, "10.0.64.0/19")) == []
    moved = subnet("private-c", "10.0.64.0/19", "10.0.32.0/19", replaced=True)
    assert found(old, moved) == [(REFUSED, "network.zones")]


def test_new_subnets_in_another_vpc() -> None:
    vpc = Transition("network", VPC, {}, {}, {"tags": ("a", "b")}, replaced=True)
    assert found(vpc, subnet("private-a", "10.0.0.0/19", "10.0.0.0/19", replaced=True)) == []


def test_a_subnet_that_is_deleted_first_may_keep_its_range() -> None:
    assert found(subnet("private-a", "10.0.0.0/19", "10.0.0.0/19", replaced=True, deletes_first=True)) == []
    assert found(subnet("private-a", "10.0.0.0/19", "10.0.0.0/19", replaced=True)) == [(REFUSED, "network.zones")]


def test_the_last_nat_gateway_goes_only_if_endpoints_replace_it() -> None:
    """EKS user guide, "Deploy private clusters with limited internet access"."""
    gone = Transition("nat", "aws:ec2/natGateway:NatGateway", {"subnetId": "a"}, None)
    other = Transition("nat-b", "aws:ec2/natGateway:NatGateway", None, {"subnetId": "b"})
    endpoints = [
        Transition(name, "aws:ec2/vpcEndpoint:VpcEndpoint", None, {"serviceName": f"com.amazonaws.eu-west-1.{name}"})
        for name in ("ec2", "ecr.api", "ecr.dkr", "sts")
    ]
    assert found(gone, KEPT) == [(DESTROYS, "network.natGateways")]
    assert "add sts to network.interfaceEndpoints" in reason(gone, KEPT, *endpoints[:3])
    assert found(gone, KEPT, *endpoints) == []
    assert found(gone, other, KEPT) == []
    assert found(gone) == []
