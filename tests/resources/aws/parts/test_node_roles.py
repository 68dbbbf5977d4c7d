"""The roles of nodes: what each may do, in a cluster of ours and with Karpenter."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from components.resources.aws.cluster import Cluster
from components.resources.aws.karpenter_access import KarpenterAccess
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import deploy
from tests.resources.aws.aws_mock import Aws

ROLE = "arn:aws:iam::123456789012:role/nodes"
OURS = "arn:aws:iam::123456789012:policy/teams/logs"
ALWAYS = ["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"]
REGION = "us-east-1"


def cluster(**args: Any) -> None:
    plain: Any = {"region": REGION, "version": "1.35", "subnet_ids": ["a", "b"], "tunnel_port": 8443}
    plain.update(args)
    Cluster("main", plain)


def existing(**args: Any) -> None:
    plain: Any = {"region": REGION, "existing": True}
    plain.update(args)
    Cluster("main", plain)


def karpenter(**args: Any) -> None:
    plain: Any = {"cluster_name": "main", "cluster_plain_name": "main", "region": REGION}
    plain.update(args)
    KarpenterAccess("main", plain)


MAKERS = pytest.mark.parametrize("make", [cluster, existing, karpenter])


def policies(make: Callable[..., None], **args: Any) -> set[str]:
    graph = deploy(lambda: make(**args), mock=Aws())
    attached = graph.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    return {entry.inputs["policyArn"] for entry in attached if entry.inputs["role"] == "main-node"}


def refused(make: Callable[..., None], **args: Any) -> str:
    with pytest.raises(InvalidArguments) as caught:
        deploy(lambda: make(**args), mock=Aws())
    return str(caught.value)


@MAKERS
def test_session_manager_is_the_way_in(make: Callable[..., None]) -> None:
    names = [*ALWAYS, "AmazonSSMManagedInstanceCore"]
    assert policies(make) == {f"arn:aws:iam::aws:policy/{name}" for name in names}
    known = json.loads(aws_managed_policies_data)
    assert all(known[name]["Path"] == "/" for name in names)


@MAKERS
def test_others_take_its_place(make: Callable[..., None]) -> None:
    found = policies(make, node_policies=["CloudWatchAgentServerPolicy", OURS])
    always = policies(make, node_policies=[])
    assert {arn.rpartition("/")[2] for arn in always} == set(ALWAYS)
    assert found - always == {"arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy", OURS}


@MAKERS
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (
            ["no policy"],
            "node_policies: must be names of AWS managed policies, such as AmazonSSMManagedInstance",
        ),
        (
            ["arn:aws:iam::123456789012:role/nodes"],
            "or policy ARNs, found 'arn:aws:iam::123456789012:role/nodes'",
        ),
        (["AmazonEKSWorkerNodePolicy"], "AmazonEKSWorkerNodePolicy is listed more than once; every node has it"),
        ([OURS, OURS], "node_policies: logs is listed more than once"),
    ],
)
def test_what_is_refused(make: Callable[..., None], wanted: list[str], expected: str) -> None:
    assert expected in refused(make, node_policies=wanted)


def test_a_role_of_ones_own_has_its_own() -> None:
    text = refused(cluster, node_role_arn=ROLE, node_policies=[OURS])
    assert "node_policies: has no effect with node_role_arn; attach the policies to that role" in text
