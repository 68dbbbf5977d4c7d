"""How nodes are replaced: EKS user guide, "Understand each phase of node updates"; Karpenter, "Disruption"."""

from typing import Any

import pytest

from components.clouds.aws.nodes.plan import NodeGroupPlan
from components.clouds.aws.nodes.pool_rules import Budget, Disruption, PoolRules
from components.fleet.nodes.policy import Capacity, Reservation, TypePolicy
from components.fleet.nodes.replacement import NodeSource
from tests.clouds.aws.environments import BLOCK, environment, flavor, one, planned

GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
POOL, CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
TYPE = "g5.2xlarge"


def group(replicas: int = 2, **changes: Any) -> NodeGroupPlan:
    where = environment(**changes)
    (plan,) = planned(one(flavor(TYPE), where=where, replicas=replicas), where)
    return plan


def reserved(count: int, **changes: Any) -> NodeGroupPlan:
    held = Reservation("cr-0a1b", "us-east-1b", count)
    return group(types={TYPE: TypePolicy(capacity=Capacity.ODCR, reservation=held)}, **changes)


def test_eks_adds_two_nodes_per_zone_before_it_drains_one() -> None:
    how = group().replacement
    assert (how.at_once, how.surge, how.pause, how.patience) == (1, 4, 60, 900)
    assert not how.deletion_waits


def test_eks_adds_none_on_reserved_capacity() -> None:
    assert reserved(2).replacement.surge == 0


def test_karpenter_launches_one_node_for_each_that_it_replaces() -> None:
    how = group(provisioner="karpenter").replacement
    assert (how.name, how.at_once, how.surge, how.launches_each, how.deletion_waits) == ("drift", 1, 1, True, True)
    assert how.patience is None


@pytest.mark.parametrize(
    ("budgets", "at_once"),
    [
        ((Budget("2"),), 2),
        ((Budget("50%"),), 3),  # of five nodes, rounded up
        ((Budget("4"), Budget("2", reasons=("Drifted",))), 2),
        ((Budget("4"), Budget("1", reasons=("Empty",))), 4),
        ((Budget("4"), Budget("0", schedule="0 9 * * *", duration="8h")), 4),
        ((), 1),  # 10% of five nodes by default
    ],
)
def test_budgets_of_a_pool(budgets: tuple[Budget, ...], at_once: int) -> None:
    pools = PoolRules(Disruption(budgets=budgets))
    assert group(5, provisioner="karpenter", pools=pools).replacement.at_once == at_once


def test_a_budget_of_none_blocks_drift() -> None:
    pools = PoolRules(Disruption(budgets=(Budget("0"),)))
    assert "disruption budget" in group(provisioner="karpenter", pools=pools).replacement.blocked


@pytest.mark.parametrize(("count", "blocked"), [(2, True), (3, False)])
def test_karpenter_needs_a_free_instance_of_a_reservation(count: int, *, blocked: bool) -> None:
    how = reserved(count, provisioner="karpenter").replacement
    assert (how.at_once, bool(how.blocked)) == ((0, True) if blocked else (1, False))


def test_images_by_alias_follow_the_version_of_the_cluster() -> None:
    assert group(provisioner="karpenter", version="1.35").replacement.version == "1.35"
    own = {TYPE: TypePolicy(ami_id="ami-0a1b2c3d")}
    assert group(provisioner="karpenter", types=own).replacement.version == ""
    # A managed group has a version of its own, which is a property of its resource.
    assert group(version="1.35").replacement.version == ""


def test_resources_of_a_managed_group() -> None:
    assert group().sources == (NodeSource(TEMPLATE, "g5-2xlarge"), NodeSource(GROUP, "g5-2xlarge", 2))


def test_each_capacity_block_has_a_group_of_its_own() -> None:
    held = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)
    found = group(types={TYPE: held}).sources
    assert found == (
        NodeSource(TEMPLATE, "g5-2xlarge-capacity-block-0a1b"),
        NodeSource(GROUP, "g5-2xlarge-capacity-block-0a1b", 2),
    )


def test_resources_of_pools() -> None:
    most = {TYPE: TypePolicy(min_nodes=1, max_nodes=4)}
    assert group(provisioner="karpenter", types=most).sources == (
        NodeSource(CLASS, "g5-2xlarge-class"),
        NodeSource(POOL, "g5-2xlarge", 3),
        NodeSource(POOL, "g5-2xlarge-static", 1),
    )


def test_existing_groups_of_others_have_no_resources() -> None:
    assert group(types={TYPE: TypePolicy(existing_groups=("theirs",))}).sources == ()
