"""Ephemeral storage and huge pages: what nodes have, tags of empty groups, and pods that ask for more."""

from typing import Any

import pytest

from components.clouds.aws.nodes.disks import EPHEMERAL, HUGE_2MI, offered, requested
from components.clouds.aws.nodes.launch import Boot
from components.clouds.aws.nodes.plan import NodeEnvironment, NodeGroupPlan
from components.clouds.aws.words import Provisioner
from components.contract.findings.ids import RuleId
from components.fleet.nodes.policy import TypePolicy
from components.fleet.rendered import Fleet
from tests.clouds.aws.environments import environment, flavor, planned, problems
from tests.fleets import fleet_of, open_model, playground

_TAG = "k8s.io/cluster-autoscaler/node-template/resources/"
GIB = 2**30


def asking(resources: dict[str, str], kind: str = "g5.2xlarge", limits: dict[str, Any] | None = None) -> Fleet:
    """A model whose pods request these resources besides little memory."""
    need = {"cpu": "1", "memory": "1Gi", **resources}
    config = {"resources": {"requests": need, "limits": need}}
    return fleet_of(
        open_model(flavors=[flavor(kind, limits)]), playground("p", "m", replicas=1, backendRuntimeConfig=config)
    )


def group_of(fleet: Fleet, where: NodeEnvironment) -> NodeGroupPlan:
    (group,) = planned(fleet, where)
    return group


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        # EBS of 200 GiB: nine tenths less 1 GiB. By the same rule, a node with 80 GiB reports 76224326324 bytes.
        ("p3.2xlarge", 178.9, 179.1),
        # 450 GB of local NVMe (EC2, instance types of accelerated computing).
        ("g5.2xlarge", 370, 378),
        ("p5.48xlarge", 25000, 25600),
    ],
)
def test_storage_of_a_node(kind: str, least: float, most: float) -> None:
    found = offered(group_of(asking({}, kind), environment()))
    assert least < found[EPHEMERAL] / GIB < most
    assert HUGE_2MI not in found


def test_nodes_with_efa_have_huge_pages() -> None:
    """5,128 pages of 2 MiB on the AWS images (aws-gpu spec 8)."""
    fleet = asking({}, "p5.48xlarge", {"nvidia.com/gpu": 8})
    with_efa = group_of(fleet, environment(zones=("us-east-1a",), types={"p5.48xlarge": TypePolicy(efa=True)}))
    assert offered(with_efa)[HUGE_2MI] == with_efa.node.fabric_memory > 0


def test_an_empty_group_has_tags_of_what_its_pods_request_and_no_others() -> None:
    assert not [key for key in group_of(asking({}), environment()).tags if key == f"{_TAG}{EPHEMERAL}"]
    tags = group_of(asking({EPHEMERAL: "60Gi"}), environment()).tags
    assert 370 * GIB < int(tags[f"{_TAG}{EPHEMERAL}"]) < 378 * GIB


def test_the_largest_pod_counts_with_its_init_containers() -> None:
    ((_, workload),) = asking({EPHEMERAL: "60Gi"}).workloads
    assert requested(workload) == {EPHEMERAL: 60 * GIB}


@pytest.mark.parametrize(
    ("fleet", "changes"),
    [
        (asking({}), {}),
        (asking({EPHEMERAL: "370Gi"}), {}),
        (asking({EPHEMERAL: "178Gi"}, "p3.2xlarge"), {}),
        (asking({EPHEMERAL: "400Gi"}, "p3.2xlarge"), {"boot": Boot(disk_gib=500)}),
        (asking({EPHEMERAL: "1Ti"}), {"types": {"g5.2xlarge": TypePolicy(ami_id="ami-0a1b")}}),
        (asking({EPHEMERAL: "1Ti"}), {"types": {"g5.2xlarge": TypePolicy(existing_groups=("g",))}}),
        (asking({HUGE_2MI: "1Gi"}), {"boot": Boot(user_data="#!/bin/sh\nsysctl -w vm.nr_hugepages=1024\n")}),
        (asking({EPHEMERAL: "60Gi"}), {"provisioner": Provisioner.KARPENTER}),
    ],
)
def test_what_nodes_have_or_may_have_is_no_problem(fleet: Fleet, changes: dict[str, Any]) -> None:
    assert [p for p in problems(fleet, environment(**changes)) if p.rule is RuleId.NODES_TOO_SMALL] == []


@pytest.mark.parametrize(
    ("fleet", "changes", "words"),
    [
        (
            asking({EPHEMERAL: "600Gi"}),
            {},
            "request 600 GiB of ephemeral-storage, and nodes of g5-2xlarge have 372 GiB; request less, or use a type "
            "with more than the 450 GB of local disks of g5.2xlarge",
        ),
        (
            asking({EPHEMERAL: "200Gi"}, "p3.2xlarge"),
            {},
            "nodes of p3-2xlarge have 179 GiB; request less, or raise gpuNodes.diskGib, now 200",
        ),
        (asking({HUGE_2MI: "1Gi"}), {}, "the images allocate huge pages of 2 MiB on nodes with EFA"),
        (asking({"hugepages-1Gi": "4Gi"}), {}, "nodes of g5-2xlarge have 0 MiB"),
        (asking({HUGE_2MI: "1Gi"}), {"provisioner": Provisioner.KARPENTER}, "Karpenter knows no huge pages"),
    ],
)
def test_more_than_any_node_has_is_an_error(fleet: Fleet, changes: dict[str, Any], words: str) -> None:
    (problem,) = (p for p in problems(fleet, environment(**changes)) if p.rule is RuleId.NODES_TOO_SMALL)
    assert words in problem.reason
