"""Random edits of models and settings while time passes and Capacity Blocks come and go.

EKS refuses nothing, no node goes on which a model runs, and all nodes of a block that runs are there.
Requests are the provider's, EKS and the autoscaler are stand-ins that say no as the real ones do.
INFERENCE_PLATFORM_SEQUENCES says how many sequences there are.
"""

import datetime
import functools
import json
import os
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clouds.aws.sizes.account import ENDED, Account, Block
from tests.clouds.aws.sizes.deployed import Deployed
from tests.clouds.aws.sizes.edits import BOUGHT, EDITS, FIRST, Edit, edited, program, with_times
from tests.recorded import Recorded

SOON = datetime.timedelta(minutes=10)
HOURS_TO_EXTEND = datetime.timedelta(hours=1)
"""Before the end of a block, after which it can no longer be extended (EC2 user guide, "Extend Capacity Blocks")."""
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "5"))

pytestmark = pytest.mark.usefixtures("here")


@functools.lru_cache(maxsize=500)
def program_of(text: str, now: datetime.datetime) -> Recorded | None:
    return program(json.loads(text), now)


def new_stack(seed: int) -> Deployed:
    blocks = {id_: Block(*bought) for id_, bought in BOUGHT.items()}
    return Deployed(random.Random(seed), Account(blocks=blocks), minutes=2)


def deployed(stack: Deployed, values: dict[str, Any]) -> bool:
    """Deploy settings, unless the program refuses them; then ten minutes pass."""
    account = stack.account
    asked = account.now
    graph = program_of(json.dumps(with_times(values, account.blocks), sort_keys=True), asked)
    if graph is None:
        return False
    stack.update(graph)
    assert account.now - asked < datetime.timedelta(hours=1)
    account.advance(account.now + SOON)
    stack.wait()
    assert account.taken == []
    check_sizes(stack)
    check_blocks(stack, dict(values["types"].get("p5.48xlarge", {}).get("blocks", [])), asked)
    return True


def check_blocks(stack: Deployed, counts: dict[str, int], asked: datetime.datetime) -> None:
    """Each block that is named has all its nodes while it runs, and no group has those of another."""
    now = stack.account.now
    groups = {group.block: group for group in stack.account.groups.values() if group.block}
    assert len(groups) == sum(bool(group.block) for group in stack.account.groups.values())
    assert groups.keys() <= counts.keys()
    for id_, group in groups.items():
        block = stack.account.blocks[id_]
        # Two hours before the end nothing is promised; then EKS takes the nodes away.
        if block.starts + SOON <= now and asked < block.ends - datetime.timedelta(hours=2):
            assert group.nodes == min(counts[id_], block.count), (id_, group)
        if now < block.starts or block.ends - ENDED <= now:
            assert group.nodes == 0


def passed(stack: Deployed, values: dict[str, Any], hours: int) -> dict[str, Any]:
    """Let time pass, and name other blocks where all that are named have ended: else the program refuses them."""
    account = stack.account
    account.advance(account.now + datetime.timedelta(hours=hours))
    stack.wait()
    assert account.taken == []
    named = values["types"].get("p5.48xlarge", {}).get("blocks", [])
    left = [[id_, count] for id_, count in named if account.now < account.blocks[id_].ends]
    if left != [list(each) for each in named]:
        assert not deployed(stack, values)
        return edited(values, ("capacity", "capacity-block", left) if left else ("capacity", "on-demand", None))
    return values


def check_sizes(stack: Deployed) -> None:
    """Each group has what its pods want and what settings ask for, as far as these allow it."""
    for name, state in stack.state.items():
        group = stack.account.groups[state["nodeGroupName"]]
        bounds = stack.autoscaler.bounds(group)
        least, most = bounds or (0, group.nodes)
        wanted = stack.wanted.get(name, 0)
        assert group.nodes >= max(least, min(wanted, most)), (name, group, bounds, wanted)
    assert set(stack.autoscaler.told) <= {group.scaled for group in stack.account.groups.values()}


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(EDITS, min_size=3, max_size=8), st.booleans(), st.integers(0, 2**32))
def test_whatever_is_edited(edits: list[Edit], with_block: bool, seed: int) -> None:
    stack = new_stack(seed)
    values = edited(FIRST, ("models", "large", 1))
    if with_block:
        values = edited(values, ("capacity", "capacity-block", [["cr-a", 2]]))
    assert deployed(stack, values)
    for edit in edits:
        what, key, value = edit
        if what == "time":
            values = passed(stack, values, value)
            assert deployed(stack, values)
        elif what == "extend":
            block = stack.account.blocks[key]
            if stack.account.now < block.ends - HOURS_TO_EXTEND:
                block.ends += datetime.timedelta(days=value)
            assert deployed(stack, passed(stack, values, 0))
        changed = edited(values, edit)
        if deployed(stack, changed):
            values = changed
        values = passed(stack, values, 0)


@pytest.mark.parametrize(
    "edits",
    [
        [("models", "chat", 3), ("models", "twin", 2)],
        [("models", "twin", 4), ("models", "twin", None)],
        [("cluster", "systemNodes", 5), ("cluster", "systemNodes", 2)],
        [("cluster", "systemNodesMax", 6), ("cluster", "systemNodes", 4), ("cluster", "systemNodesMax", None)],
        [("types", "g5.2xlarge.minNodes", 3), ("types", "g5.2xlarge.maxNodes", 3), ("models", "chat", 3)],
        [("network", "zones", ["us-east-1a", "us-east-1b", "us-east-1c"]), ("models", "twin", 2)],
        [("cluster", "version", "1.35"), ("cluster", "systemInstanceTypes", ["m7i.xlarge"])],
        [("cluster", "nodeRoleArn", "arn:aws:iam::123456789012:role/nodes"), ("nodes", "image", "bottlerocket")],
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_used_to_break(edits: list[Edit], seed: int) -> None:
    """One model more, one less, more system nodes: the stored size was sent, or was outside the new bounds."""
    stack = new_stack(seed)
    values = edited(FIRST, ("models", "large", 1))
    assert deployed(stack, values)
    for edit in edits:
        values = edited(values, edit)
        assert deployed(stack, values)
