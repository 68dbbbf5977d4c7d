"""Random edits of models and settings: EKS refuses nothing, and no node goes on which a model runs.

Requests are the provider's, EKS and the autoscaler are stand-ins that say no as the real ones do.
INFERENCE_PLATFORM_SEQUENCES says how many sequences there are.
"""

import functools
import json
import os
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.aws.sizes.deployed import Deployed
from tests.aws.sizes.edits import EDITS, FIRST, Edit, edited, program
from tests.recorded import Recorded

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "8"))

pytestmark = pytest.mark.usefixtures("here")


@functools.lru_cache(maxsize=500)
def program_of(text: str) -> Recorded | None:
    return program(json.loads(text))


def deployed(stack: Deployed, values: dict[str, Any]) -> bool:
    """Deploy settings, unless the program refuses them."""
    graph = program_of(json.dumps(values, sort_keys=True))
    if graph is None:
        return False
    stack.update(graph)
    assert stack.account.taken == []
    check_sizes(stack)
    return True


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
@given(st.lists(EDITS, min_size=3, max_size=8), st.integers(0, 2**32))
def test_whatever_is_edited(edits: list[Edit], seed: int) -> None:
    stack = Deployed(random.Random(seed))
    values = FIRST
    assert deployed(stack, values)
    for edit in edits:
        changed = edited(values, edit)
        if deployed(stack, changed):
            values = changed


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
    stack = Deployed(random.Random(seed))
    values = edited(FIRST, ("models", "large", 1))
    assert deployed(stack, values)
    for edit in edits:
        values = edited(values, edit)
        assert deployed(stack, values)
