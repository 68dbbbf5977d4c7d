"""Trust of roles, and what organizations require: boundaries, keys of logs, policies of endpoints, hop limits."""

import json
from typing import Any

import pytest

from components.clouds.aws.facts.eks import addons
from components.clouds.aws.facts.iam import boundary_problem
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded
from tests.resources.aws.networks import network, zones
from tests.resources.aws.test_cluster import made

KEY = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
BOUNDARY = "arn:aws:iam::123456789012:policy/team/boundary"
LOGS, ROLE, ENDPOINT = "aws:cloudwatch/logGroup:LogGroup", "aws:iam/role:Role", "aws:ec2/vpcEndpoint:VpcEndpoint"
READ_ONLY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}],
}


def trust(graph: Recorded, role: str) -> dict[str, Any]:
    (statement,) = json.loads(graph[f"{ROLE}::{role}"].inputs["assumeRolePolicy"])["Statement"]
    found: dict[str, Any] = statement
    return found


@pytest.mark.parametrize("name", [name for name, addon in addons().items() if addon.service_account])
def test_roles_of_add_ons_are_for_one_service_account_of_the_cluster(name: str) -> None:
    """EKS user guide, "Create IAM role with trust policy required by EKS Pod Identity", Setting conditions."""
    graph = made(cluster_name="edits", addons={name: ""})
    namespace = "amazon-cloudwatch" if name == "amazon-cloudwatch-observability" else "kube-system"
    assert trust(graph, f"main-{name}")["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/eks-cluster-name": "edits",
            "aws:RequestTag/kubernetes-namespace": namespace,
            "aws:RequestTag/kubernetes-service-account": [addons()[name].service_account],
        }
    }


def test_the_role_of_a_cluster_is_for_that_cluster() -> None:
    """EKS user guide, "Cross-service confused deputy prevention in Amazon EKS"."""
    statement = trust(made(cluster_name="edits"), "main-control-plane")
    assert statement["Principal"] == {"Service": "eks.amazonaws.com"}
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": "arn:aws:eks:us-east-1:*:cluster/edits"}}


def test_the_driver_of_lustre_has_no_role() -> None:
    graph = made(addons={"aws-fsx-csi-driver": ""})
    assert not [entry.name for entry in graph.of(ROLE) if "fsx" in entry.name]


@pytest.mark.parametrize(("given", "key"), [({}, None), ({"log_kms_key_arn": KEY}, KEY)])
def test_key_of_the_log_group(given: dict[str, str], key: str | None) -> None:
    assert made(**given)[f"{LOGS}::main-logs"].inputs.get("kmsKeyId") == key


@pytest.mark.parametrize(("given", "hops"), [({}, 1), ({"imds_hop_limit": 2}, 2)])
def test_hop_limit_of_system_nodes(given: dict[str, int], hops: int) -> None:
    template = made(**given)["aws:ec2/launchTemplate:LaunchTemplate::main-system"]
    assert template.inputs["metadataOptions"]["httpPutResponseHopLimit"] == hops


def test_boundary_of_every_role() -> None:
    graph = made(permissions_boundary_arn=BOUNDARY, bastion=True)
    assert {entry.inputs["permissionsBoundary"] for entry in graph.of(ROLE)} == {BOUNDARY}
    assert not [entry for entry in made(bastion=True).of(ROLE) if "permissionsBoundary" in entry.inputs]


@pytest.mark.parametrize(
    ("arn", "valid"),
    [(BOUNDARY, True), ("arn:aws:iam::aws:policy/PowerUserAccess", True), ("boundary", False), (f"{KEY}", False)],
)
def test_a_boundary_is_a_policy(arn: str, valid: bool) -> None:
    assert (boundary_problem(arn) is None) == valid
    if not valid:
        with pytest.raises(InvalidArguments, match="permissions_boundary_arn: must be the ARN of an IAM policy"):
            made(permissions_boundary_arn=arn)


def test_policies_of_endpoints_and_the_key_of_flow_logs() -> None:
    graph = network(
        zones=zones(2),
        interface_endpoints=["sts"],
        endpoint_policies={"s3": READ_ONLY},
        flow_logs={"traffic": "all", "kms_key_arn": KEY},
        permissions_boundary_arn=BOUNDARY,
    )
    policies = {entry.name: entry.inputs.get("policy") for entry in graph.of(ENDPOINT)}
    assert {name: text and json.loads(text) for name, text in policies.items()} == {
        "net-s3": READ_ONLY,
        "net-sts": None,
    }
    assert [entry.inputs["kmsKeyId"] for entry in graph.of(LOGS)] == [KEY]
    assert [entry.inputs["permissionsBoundary"] for entry in graph.of(ROLE)] == [BOUNDARY]


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        ({"ec2": READ_ONLY}, r"endpoint_policies\[ec2\]: is of no endpoint that is created; it creates s3"),
        ({"s3": {"Action": "*"}}, r"endpoint_policies\[s3\]: must be a policy document"),
    ],
)
def test_policies_of_no_endpoint_are_refused(policies: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArguments, match=words):
        network(zones=zones(2), endpoint_policies=policies)
