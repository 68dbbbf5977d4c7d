"""A first update while EC2 has no spare node of a type: every group becomes ACTIVE, and nodes come when there are."""

import random
from typing import Any

import pytest

from tests.clouds.aws.sizes.account import Account
from tests.clouds.aws.sizes.deployed import Deployed
from tests.clouds.aws.sizes.edits import FIRST, edited, program

pytestmark = pytest.mark.usefixtures("here")

NAME = "nodes-p5-48xlarge"
PROD: dict[str, Any] = edited({**FIRST, "types": {}}, ("nodes", "scaleToZero", False))
"""One node of each type stays, as in prod."""


def without(*types: str) -> Deployed:
    return Deployed(random.Random(1), account=Account(capacity=dict.fromkeys(types, 0)))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_group_without_capacity_is_made_and_filled_later(seed: int) -> None:
    graph = program(edited(PROD, ("models", "large", 1)))
    assert graph
    stack = without("p5.48xlarge")
    stack.chance = random.Random(seed)
    stack.update(graph)
    account = stack.account
    assert {group.status for group in account.groups.values()} == {"ACTIVE"}
    group = account.groups[stack.state[NAME]["nodeGroupName"]]
    assert group.nodes == 0
    account.capacity["p5.48xlarge"] = 4
    stack.wait()
    assert group.nodes >= 1
    stack.wanted[NAME] = 0
    stack.wait()
    assert group.nodes == 1  # its minimum, which the autoscaler keeps


def test_a_second_update_finds_nothing_in_its_way() -> None:
    graph = program(edited(PROD, ("models", "large", 1)))
    assert graph
    stack = without("p5.48xlarge", "g5.2xlarge")
    stack.update(graph)
    name = stack.state[NAME]["nodeGroupName"]
    stack.update(graph)
    assert stack.state[NAME]["nodeGroupName"] == name
