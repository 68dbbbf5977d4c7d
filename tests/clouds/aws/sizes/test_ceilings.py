"""Random edits: no group ever grows beyond what the plan says at most, and none is smaller than its pods need."""

import functools
import json
import os
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clouds.aws.sizes.account import Account, Group
from tests.clouds.aws.sizes.ceilings import Watched, most_nodes, update
from tests.clouds.aws.sizes.deployed import SYSTEM, Deployed
from tests.clouds.aws.sizes.edits import EDITS, FIRST, Edit, edited, program
from tests.recorded import Recorded

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "5"))

pytestmark = pytest.mark.usefixtures("here")


@functools.lru_cache(maxsize=500)
def program_of(text: str) -> Recorded | None:
    return program(json.loads(text))


def watched(seed: int) -> tuple[Deployed, Watched]:
    account = Watched()
    return Deployed(random.Random(seed), account=account), account


def deployed(stack: Deployed, account: Watched, values: dict[str, Any]) -> Recorded | None:
    """Deploy settings, unless the program refuses them, and compare the nodes with the plan."""
    graph = program_of(json.dumps(values, sort_keys=True))
    if graph is None:
        return None
    update(stack, account, graph)
    assert account.above == []
    assert account.taken == []
    check_enough(stack, most_nodes(graph))
    return graph


def check_enough(stack: Deployed, most: dict[str, int]) -> None:
    """Pods get all nodes that they want, as long as these are no more than the plan's most."""
    for name, state in stack.state.items():
        group = stack.account.groups[state["nodeGroupName"]]
        wanted = stack.wanted.get(name, 0)
        assert group.nodes >= min(wanted, most[name]), (name, group, wanted, most[name])
        if name != SYSTEM:
            assert stack.autoscaler.bounds(group) is not None, name


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(EDITS, min_size=3, max_size=8), st.integers(0, 2**32))
def test_whatever_is_edited(edits: list[Edit], seed: int) -> None:
    stack, account = watched(seed)
    values = FIRST
    assert deployed(stack, account, values)
    for edit in edits:
        changed = edited(values, edit)
        if deployed(stack, account, changed):
            values = changed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_ceiling_follows_the_models_and_the_group_stays(seed: int) -> None:
    stack, account = watched(seed)
    values = FIRST
    names = set()
    for replicas in (1, 4, 2, 3):
        values = edited(values, ("models", "chat", replicas))
        graph = deployed(stack, account, values)
        assert graph
        names.add(stack.state["nodes-g5-2xlarge"]["nodeGroupName"])
        group = account.groups[stack.state["nodes-g5-2xlarge"]["nodeGroupName"]]
        assert stack.autoscaler.bounds(group) == (0, graph.exports["nodes"]["g5-2xlarge"]["maxNodes"])
    assert len(names) == 1


def test_an_autoscaler_without_end_stops_at_the_ceiling() -> None:
    """Pods of a controller that goes wrong: the plan's most holds all the same."""
    stack, account = watched(1)
    assert deployed(stack, account, FIRST)
    stack.wanted["nodes-g5-2xlarge"] = 40
    stack.wait()
    group = account.groups[stack.state["nodes-g5-2xlarge"]["nodeGroupName"]]
    assert (group.nodes, account.above) == (1, [])


def test_what_exceeds_a_ceiling_is_noticed() -> None:
    account = Watched(ceilings={"asg": 2})
    group = Group("g", "asg", {"minSize": 0, "desiredSize": 1, "maxSize": 450}, {}, "1.34")
    account.groups["g"] = group
    account.set_desired(group, 2)
    assert account.above == []
    account.set_desired(group, 3)
    account.set_desired(group, 2)
    assert account.above == ["g: 3 nodes, at most 2"]
    assert isinstance(account, Account)
