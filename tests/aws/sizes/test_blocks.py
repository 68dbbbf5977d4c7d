"""A Capacity Block from before its start until after its end, while pods ask for its nodes all the time."""

import random
from typing import Any

import pytest

from tests.aws.sizes.deployed import Deployed
from tests.aws.sizes.edits import FIRST, program

SCHEDULE = "aws:autoscaling/schedule:Schedule"
NAME = "nodes-p5-48xlarge-capacity-block"

pytestmark = pytest.mark.usefixtures("here")


def block(starts: str, ends: str) -> dict[str, Any]:
    reservation = {"id": "cr-0a1b", "zone": "us-east-1b", "count": 2, "starts": starts, "ends": ends}
    rule = {"capacity": "capacity-block", "reservation": reservation}
    return {**FIRST, "models": {"large": 1}, "types": {"p5.48xlarge": rule}}


def test_nodes_come_at_its_start_and_never_after_its_end() -> None:
    graph = program(block("2026-12-01T11:30:00Z", "2026-12-08T11:30:00Z"))
    assert graph
    stack = Deployed(random.Random(1))
    stack.update(graph)
    group = stack.account.groups[stack.state[NAME]["nodeGroupName"]]

    def nodes_with(pods_on: int) -> int:
        stack.wanted[NAME] = pods_on
        stack.wait()
        return group.nodes

    assert nodes_with(1) == 0  # Pending: nobody launches what is not there yet

    (begin,) = graph.of(SCHEDULE)
    assert begin.inputs["autoscalingGroupName"] == group.scaled
    stack.account.set_desired(group, begin.inputs["desiredCapacity"])
    assert nodes_with(1) == 2  # paid for, and kept where one would do
    assert nodes_with(0) == 2

    stack.account.set_desired(group, 0)  # EKS does so 40 minutes before the end
    assert nodes_with(1) == 0


def test_a_block_that_runs_has_all_its_nodes_from_the_start() -> None:
    graph = program(block("2026-11-20T11:30:00Z", "2026-12-08T11:30:00Z"))
    assert graph
    stack = Deployed(random.Random(1))
    stack.update(graph)
    assert stack.account.groups[stack.state[NAME]["nodeGroupName"]].nodes == 2
    assert graph.of(SCHEDULE) == []
