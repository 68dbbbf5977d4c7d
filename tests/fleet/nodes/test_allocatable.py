"""What pods can have of a node, against what Karpenter and the images document.

Karpenter's amounts are those of its instance type reference (aws/karpenter-provider-aws 1d927085,
website/content/en/docs/reference/instance-types.md), which are for AL2023 and for nodes that it has not seen yet.
"""

from decimal import Decimal

import pytest

from components.contract.quantity import parse_quantity
from components.fleet.instances import MAX_PODS, Instance, instance, instances
from components.fleet.nodes.groups import NodeGroupDemand, allocatable, offered_by
from components.fleet.nodes.unschedulable import NodeKind
from components.resources.serving.simulated_nodes import node_object

MIB = 2**20
KARPENTER = {
    "c7g.4xlarge": 27322,
    "c7i.2xlarge": 14162,
    "g4dn.12xlarge": 178933,
    "g4dn.xlarge": 14481,
    "g5.12xlarge": 173400,
    "g5.2xlarge": 29317,
    "g5.4xlarge": 57691,
    "g5g.xlarge": 6525,
    "g6e.48xlarge": 1449132,
    "g7.24xlarge": 346715,
    "inf2.48xlarge": 718987,
    "m7g.large": 6844,
    "m7i.16xlarge": 234021,
    "m7i.2xlarge": 29317,
    "p5.48xlarge": 1938410,
    "p5en.48xlarge": 1937332,
    "trn1.32xlarge": 481894,
}
"""MiB of memory that pods can ask for before Karpenter has seen a node of the type."""


def known(name: str) -> Instance:
    node = instance(name)
    assert node is not None
    return node


@pytest.mark.parametrize(("name", "documented"), KARPENTER.items())
def test_memory_is_what_karpenter_assumes_or_what_bottlerocket_leaves_if_that_is_less(
    name: str, documented: int
) -> None:
    """Bottlerocket keeps 11 MiB for each pod that kubelet may run, however few addresses the node has."""
    node = known(name)
    further = 11 * max(0, MAX_PODS - node.address_pods)
    assert allocatable(node)["memory"] / MIB == documented - further


def test_of_a_g5_2xlarge_28_gib_are_left() -> None:
    """32 GiB less 7.5 %, 255 MiB, 110 times 11 MiB and 100 MiB; 7.91 cores of 8."""
    offered = allocatable(known("g5.2xlarge"))
    assert offered["memory"] / MIB == 32768 - 2458 - 255 - 1210 - 100
    assert offered["cpu"] == Decimal("7.91")


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        # 5128 pages as the EKS user guide has it, where that is more than Bottlerocket's 110 per core.
        ("g5.8xlarge", 5128),
        ("g5.12xlarge", 5280),
        ("p5.48xlarge", 21120),
    ],
)
def test_huge_pages_of_nodes_with_efa_are_no_memory_for_pods(name: str, pages: int) -> None:
    node = known(name)
    assert allocatable(node)["memory"] - allocatable(node, efa=True)["memory"] == 2 * MIB * pages


def test_a_type_without_efa_sets_nothing_aside() -> None:
    node = known("g5.2xlarge")
    assert allocatable(node, efa=True) == allocatable(node)


@pytest.mark.parametrize("efa", [False, True])
def test_every_type_leaves_something_and_less_than_it_has(efa: bool) -> None:
    for node in instances().values():
        offered = allocatable(node, efa=efa)
        assert 0 < offered["cpu"] < node.vcpu, node.name
        if node.memory_gib <= 1:
            assert offered["memory"] == 0, node.name
        else:
            assert 0 < offered["memory"] < node.memory_gib * 1024 * MIB * Decimal("0.925"), node.name


@pytest.mark.parametrize("efa", [False, True])
def test_plan_check_and_simulated_nodes_say_the_same(efa: bool) -> None:
    group = NodeGroupDemand("a", "p5.48xlarge", nodes=1, labels={}, taints=(), max_nodes=1, efa=efa)
    offered = offered_by("p5.48xlarge", efa=efa)
    simulated = node_object(group, 0)["status"]["allocatable"]
    assert NodeKind.of_group(group).offered == offered
    assert {key: parse_quantity(amount) for key, amount in simulated.items()} == offered
    assert ("vpc.amazonaws.com/efa" in simulated) == efa
