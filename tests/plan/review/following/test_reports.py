"""Every format names the cluster and the system nodes of which an appended zone changes the subnets."""

import json
from collections.abc import Callable

import pytest
from pulumi_aws import ec2, eks, iam

from components.resources.aws.parts.common import replaceable_name
from tests.plan.review.following.programs import Program, review_of
from toolkit.screen import Screen
from workbench.planning.formats.data import as_json
from workbench.planning.formats.html.page import html
from workbench.planning.formats.markdown import markdown
from workbench.planning.formats.text import text


def network(zones: str) -> Program:
    """A cluster and a node group in all subnets; the name of the group has a digest of them."""

    def program() -> None:
        vpc = ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
        ids = [ec2.Subnet(f"private-{zone}", vpc_id=vpc.id, availability_zone=zone).id for zone in zones]
        role = iam.Role("node", assume_role_policy="{}")
        eks.Cluster("cluster", name="c", role_arn="arn", vpc_config={"subnet_ids": ids})
        eks.NodeGroup(
            "system",
            cluster_name="c",
            node_group_name=replaceable_name("system", role.arn, *ids),
            node_role_arn=role.arn,
            subnet_ids=ids,
            scaling_config={"min_size": 2, "max_size": 2, "desired_size": 2},
        )

    return program


REVIEW = review_of(network("ab"), network("abc"))
FIELD = "vpcConfig.subnetIds[2]"
SUBNET = "[id of aws:ec2/subnet private-c]"


@pytest.mark.parametrize(
    "report", [lambda: text(REVIEW, Screen(400), details=True), lambda: markdown(REVIEW), lambda: html(REVIEW)]
)
def test_the_cluster_and_the_nodes_are_in_the_report(report: Callable[[], str]) -> None:
    shown = report()
    for words in (FIELD, SUBNET, "aws:eks/cluster cluster", "aws:eks/nodeGroup system", "nodeGroupName"):
        assert words in shown


def test_counts_are_those_of_the_graph() -> None:
    assert text(REVIEW).startswith("dev: 1 to create, 1 to update, 1 to replace\n")


def test_other_programs_read_the_same() -> None:
    changes = {each["title"]: each for each in json.loads(as_json(REVIEW))["review"]["changes"]}
    assert {title: each["kind"] for title, each in changes.items()} == {
        "aws:ec2/subnet private-c": "created",
        "aws:eks/cluster cluster": "updated",
        "aws:eks/nodeGroup system": "replaced",
    }
    assert {field["path"]: field["replaces"] for field in changes["aws:eks/nodeGroup system"]["fields"]} == {
        "nodeGroupName": True,
        "subnetIds[2]": True,
    }


def test_nothing_is_reported_where_nothing_changes() -> None:
    assert review_of(network("ab"), network("ab")).changes_nothing
