"""Reserved nodes under Karpenter, which replaces a node only after its replacement has started."""

from typing import Any

import pytest

from components.clouds.aws.words import Provisioner
from components.contract.findings.ids import RuleId
from components.fleet.nodes.policy import Capacity, Reservation, TypePolicy
from tests.clouds.aws.environments import BLOCK, NOW, environment, flavor, one, problems

KARPENTER = Provisioner.KARPENTER


def held(count: int, **more: Any) -> TypePolicy:
    return TypePolicy(capacity=Capacity.ODCR, reservation=Reservation("cr-0a1b", "us-east-1b", count), **more)


def found(rule: TypePolicy, provisioner: Provisioner, replicas: int, kind: str = "g5.2xlarge") -> list[str]:
    where = environment(types={kind: rule}, provisioner=provisioner)
    fleet = one(flavor(kind), where=where, replicas=replicas)
    return [
        problem.reason
        for problem in problems(fleet, where, "warning")
        if problem.rule is RuleId.NODES_RESERVATION_FULL
    ]


@pytest.mark.parametrize(
    ("rule", "provisioner", "replicas"),
    [
        (held(3), KARPENTER, 2),
        (held(2), Provisioner.MANAGED, 2),
        (held(2, existing_groups=("mine",)), KARPENTER, 2),
        (TypePolicy(), KARPENTER, 2),
    ],
    ids=["a spare instance", "managed groups", "pools of others", "on demand"],
)
def test_nodes_are_replaced(rule: TypePolicy, provisioner: Provisioner, replicas: int) -> None:
    assert found(rule, provisioner, replicas) == []


@pytest.mark.parametrize("more", [{}, {"min_nodes": 2}], ids=["dynamic", "static"])
def test_nodes_of_a_full_reservation_are_not(more: dict[str, Any]) -> None:
    (reason,) = found(held(2, **more), KARPENTER, 2)
    assert "all 2 instances of the reservation run nodes of g5-2xlarge-odcr" in reason
    for works in ("one instance more", "gpuNodes.provisioner: managed", "kubectl delete nodeclaim"):
        assert works in reason


def test_nor_are_those_of_a_capacity_block() -> None:
    rule = TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)
    assert BLOCK.starts is not None
    assert BLOCK.starts > NOW
    assert found(rule, KARPENTER, 16, "p5.48xlarge")
    assert found(rule, KARPENTER, 8, "p5.48xlarge") == []
