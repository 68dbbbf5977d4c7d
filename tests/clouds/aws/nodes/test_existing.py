"""Node groups that exist: they are used instead of created, and what they lack is an error."""

from typing import Any

import pulumi
import pytest

from components.clouds.aws.nodes.plan import created
from components.clouds.aws.words import Provisioner
from components.fleet.nodes.policy import Capacity, TypePolicy
from components.resources.aws.gpu_node_groups import GpuNodeGroups
from tests.clouds.aws.environments import environment, flavor, one, planned, problems
from tests.recorded import deploy
from tests.resources.aws.aws_mock import Aws

GROUP = "aws:eks/nodeGroup:NodeGroup"


def said(*flavors: Any, provisioner: Provisioner = Provisioner.MANAGED, **rule: Any) -> list[str]:
    types = {"g5.xlarge": TypePolicy(existing_groups=("gpu",), **rule)}
    where = environment(types=types, provisioner=provisioner)
    return [str(problem) for problem in problems(one(*flavors, where=where), where, "error")]


def test_only_other_types_get_node_groups() -> None:
    where = environment(types={"g5.xlarge": TypePolicy(existing_groups=("gpu",), max_nodes=3)})
    groups = planned(one(flavor("g5.xlarge"), flavor("g6.xlarge", name="other"), where=where), where)
    assert [(group.node.name, group.existing, group.maximum) for group in groups] == [
        ("g5.xlarge", ("gpu",), 3),
        ("g6.xlarge", (), 1),
    ]
    assert [group.node.name for group in created(groups)] == ["g6.xlarge"]

    def program() -> None:
        nodes = GpuNodeGroups.of(
            "nodes",
            groups,
            {
                "cluster_name": "main",
                "cluster_plain_name": "main",
                "region": "us-east-1",
                "vpc_id": "vpc-1",
                "subnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
                "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
                "cluster_security_group_id": "sg-cluster",
                "version": "1.35",
            },
        )
        pulumi.export("bounds", nodes.bounds)

    graph = deploy(program, mock=Aws())
    assert [group.name for group in graph.of(GROUP)] == ["nodes-g6-xlarge"]


@pytest.mark.parametrize("provisioner", Provisioner)
def test_groups_that_have_what_models_select(provisioner: Provisioner) -> None:
    assert said(flavor("g5.xlarge"), provisioner=provisioner) == []
    assert said(flavor("g5.xlarge", pool="a"), provisioner=provisioner, labels={"pool": "a", "more": "b"}) == []


@pytest.mark.parametrize(
    ("selected", "rule", "expected"),
    [
        ({"pool": "a"}, {}, "with pool: a, which labels of gpu do not have"),
        ({"pool": "a"}, {"labels": {"pool": "b"}}, "with pool: a, which labels of gpu do not have"),
        (
            {"eks.amazonaws.com/capacityType": "SPOT"},
            {"alternatives": ("g5.2xlarge", "g5.4xlarge")},
            "with capacity spot, but capacity of gpu is on-demand",
        ),
        ({}, {"capacity": Capacity.SPOT}, None),
        (
            {"topology.kubernetes.io/zone": "us-east-1b"},
            {"zones": ("us-east-1a",)},
            "in zone us-east-1b, but zones of gpu are us-east-1a",
        ),
    ],
)
def test_what_existing_groups_lack_is_an_error(
    selected: dict[str, str], rule: dict[str, Any], expected: str | None
) -> None:
    found = said(flavor("g5.xlarge", None, **selected), **rule)
    if expected is None:
        assert found == []
        return
    (text,) = found
    assert text.startswith("Pulumi.dev.yaml: gpuNodes.types.g5.xlarge.existingGroups: models need nodes ")
    assert expected in text


@pytest.mark.parametrize(
    ("rule", "key"),
    [({"placement_group": True, "zones": ("us-east-1a",)}, "placementGroup"), ({"ami_id": "ami-1"}, "amiId")],
)
def test_settings_of_created_nodes_are_refused(rule: dict[str, Any], key: str) -> None:
    (text,) = said(flavor("g5.xlarge"), **rule)
    assert text.startswith(
        f"Pulumi.dev.yaml: gpuNodes.types.g5.xlarge.{key}: has no effect on the existing groups gpu"
    )


def test_images_of_existing_nodes_are_not_required() -> None:
    """AWS has no image of EKS for g7 (driver 595): groups that exist have one of their own."""
    where = environment(types={"g7.2xlarge": TypePolicy(existing_groups=("own",))})
    assert problems(one(flavor("g7.2xlarge"), where=where), where, "error") == []
    without = environment()
    assert problems(one(flavor("g7.2xlarge"), where=without), without, "error") != []
