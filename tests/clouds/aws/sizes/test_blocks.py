"""Capacity Blocks from before their start until after their end, while pods ask for their nodes all the time.

Each transition between blocks, and each edit while one runs: nothing is refused, all nodes that are paid for come,
and no busy node goes but with its block.
"""

import datetime
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.clouds.aws.sizes.account import EKS_END, Block
from tests.clouds.aws.sizes.deployed import GROUP, SCHEDULE, TEMPLATE, Deployed
from tests.clouds.aws.sizes.edits import FIRST, program
from tests.recorded import Recorded

pytestmark = pytest.mark.usefixtures("here")

BASE = "nodes-p5-48xlarge-capacity-block"
TEN_MINUTES = datetime.timedelta(minutes=10)
RUNNING = ("2026-11-20T11:30:00Z", "2026-11-28T11:30:00Z")
"""It runs at the moment at which tests begin, 2026-11-21 12:00 UTC."""
TO_COME = ("2026-11-28T11:30:00Z", "2026-12-05T11:30:00Z")


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def block(id_: str, times: tuple[str, str], count: int = 2) -> dict[str, Any]:
    return {"id": id_, "zone": "us-east-1b", "count": count, "starts": times[0], "ends": times[1]}


def settings(rule: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**FIRST, "models": {"large": 1}, "types": {"p5.48xlarge": rule}, **changes}


def with_blocks(first: dict[str, Any], *others: dict[str, Any], **changes: Any) -> dict[str, Any]:
    rule = {"capacity": "capacity-block", "reservation": first}
    return settings({**rule, "nextBlocks": list(others)} if others else rule, **changes)


@dataclass
class World:
    """An account with two Capacity Blocks, and a stack in it."""

    stack: Deployed = field(default_factory=lambda: Deployed(random.Random(1)))

    def __post_init__(self) -> None:
        for id_, (starts, ends), count in (("cr-a", RUNNING, 4), ("cr-b", TO_COME, 2)):
            self.stack.account.blocks[id_] = Block(count, at(starts), at(ends))

    def up(self, values: dict[str, Any], *, replaced: bool = False) -> Recorded:
        """Deploy settings at the time that it is; then the autoscaler looks, while pods want two nodes of blocks."""
        graph = program(values, self.stack.account.now)
        assert graph, "the program refuses the settings"
        self.stack.update(graph)
        self.stack.wanted[BASE] = 2
        self.stack.wait()
        if not replaced:
            assert self.stack.account.taken == []
        return graph

    def until(self, moment: str) -> None:
        self.stack.account.advance(at(moment))
        self.stack.wait()

    def soon(self) -> None:
        """Let ten minutes pass: two recurrences."""
        self.stack.account.advance(self.stack.account.now + TEN_MINUTES)
        self.stack.wait()

    def nodes(self, id_: str = "cr-a") -> int | None:
        """Return the nodes of a block, None where it has no group."""
        found = [group for group in self.stack.account.groups.values() if group.block == id_]
        assert len(found) < 2, f"{id_} has {len(found)} groups"
        return found[0].nodes if found else None


@pytest.fixture
def world() -> World:
    return World()


def test_nodes_come_at_its_start_and_never_after_its_end(world: World) -> None:
    graph = world.up(with_blocks(block("cr-b", TO_COME)))
    (begin,) = graph.of(SCHEDULE)
    assert (begin.inputs["startTime"], begin.inputs["endTime"]) == (TO_COME[0], "2026-12-05T10:45:00Z")
    world.until("2026-11-28T11:29:00Z")
    assert world.nodes("cr-b") == 0  # Pending: nobody launches what is not there yet
    world.until("2026-11-28T11:31:00Z")
    assert world.nodes("cr-b") == 2
    world.stack.wanted[BASE] = 0
    world.until("2026-12-05T10:49:00Z")
    assert world.nodes("cr-b") == 2  # paid for, and kept where none would do
    world.stack.wanted[BASE] = 2
    world.until("2026-12-05T10:51:00Z")
    assert world.nodes("cr-b") == 0  # EKS does so 40 minutes before the end
    world.until("2026-12-06T00:00:00Z")
    assert world.nodes("cr-b") == 0
    assert world.stack.account.taken == []


def test_a_block_that_runs_has_all_its_nodes_within_minutes(world: World) -> None:
    graph = world.up(with_blocks(block("cr-a", RUNNING)))
    (begin,) = graph.of(SCHEDULE)
    assert "startTime" not in begin.inputs  # AWS refuses one in the past
    assert world.nodes() == 0
    world.soon()
    assert world.nodes() == 2


def test_the_next_block_is_named_when_it_runs_already(world: World) -> None:
    """Block A has ended, and EKS took its nodes away. The launch template alone would leave the group at 0."""
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.until("2026-11-28T12:00:00Z")
    assert world.nodes() == 0
    world.up(with_blocks(block("cr-b", TO_COME)))
    world.soon()
    assert (world.nodes("cr-a"), world.nodes("cr-b")) == (None, 2)
    (group,) = [group for group in world.stack.account.groups.values() if group.block == "cr-b"]
    assert EKS_END in group.actions  # EKS drains it too: it was made for this block
    world.until("2026-12-06T00:00:00Z")
    assert world.stack.account.taken == []


def test_the_next_block_is_named_while_the_first_runs(world: World) -> None:
    """The first keeps its nodes; the second gets its own without any further update."""
    first, second = block("cr-a", RUNNING), block("cr-b", TO_COME)
    world.up(with_blocks(first))
    world.soon()
    world.up(with_blocks(first, second))
    assert (world.nodes("cr-a"), world.nodes("cr-b")) == (2, 0)
    world.until("2026-11-28T11:40:00Z")
    assert (world.nodes("cr-a"), world.nodes("cr-b")) == (0, 2)
    world.up(with_blocks(second))  # at any time later
    assert (world.nodes("cr-a"), world.nodes("cr-b")) == (None, 2)


def test_an_expired_block_must_be_removed(world: World) -> None:
    first, second = block("cr-a", RUNNING), block("cr-b", TO_COME)
    assert program(with_blocks(first, second), at("2026-11-28T12:00:00Z")) is None
    assert program(with_blocks(second), at("2026-11-28T12:00:00Z"))


@pytest.mark.parametrize(("before", "after"), [(2, 4), (3, 2)])
def test_another_count_of_a_block_that_runs(world: World, before: int, after: int) -> None:
    """A block cannot grow; four were bought, and the settings say so only now."""
    world.up(with_blocks(block("cr-a", RUNNING, before)))
    world.soon()
    assert world.nodes() == before
    graph = world.up(with_blocks(block("cr-a", RUNNING, after)))
    world.soon()
    assert world.nodes() == after
    assert len(graph.of(GROUP)) == 2  # the system's too


def test_more_than_was_bought_never_comes(world: World) -> None:
    world.up(with_blocks(block("cr-a", RUNNING, 9)))
    world.soon()
    assert world.nodes() == 4


_OF_NODES: list[tuple[str, dict[str, Any]]] = [
    ("amiRelease", {"nodes": {"amiRelease": "1.34.10-20261101"}}),
    ("disk", {"nodes": {"diskThroughput": 300}}),
    ("user data", {"nodes": {"userData": "#!/bin/sh\ntrue\n"}}),
    ("tags", {"tags": {"team": "other"}}),
    ("Kubernetes version", {"cluster": {"version": "1.35"}}),
    ("hop limit", {"nodes": {"imdsHopLimit": 2}}),
    ("image", {"cluster": {"version": "1.35"}, "nodes": {"image": "bottlerocket"}}),
]


@pytest.mark.parametrize("changes", [pytest.param(changes, id=name) for name, changes in _OF_NODES])
def test_what_nodes_are_made_of_waits_until_the_block_has_ended(world: World, changes: dict[str, Any]) -> None:
    """EKS asks for desired size 0 while it updates such a group; a replacement would end its nodes."""
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.soon()
    (group,) = [group for group in world.stack.account.groups.values() if group.block == "cr-a"]
    name, state = next((name, state) for name, state in world.stack.state.items() if name.startswith(BASE))
    made_of = ("launchTemplate", "version", "releaseVersion", "amiType", "nodeGroupName")
    before = {key: state.get(key) for key in made_of}
    template = world.stack.templates[name]
    world.up(with_blocks(block("cr-a", RUNNING), **changes))
    assert world.stack.account.groups[group.name] is group
    assert (group.nodes, group.busy) == (2, 2)
    assert {key: world.stack.state[name].get(key) for key in made_of} == before
    assert world.stack.templates[name][1] == template[1]
    world.until("2026-11-28T12:00:00Z")
    graph = world.up(with_blocks(block("cr-b", TO_COME), **changes))
    world.soon()
    (made,) = [entry for entry in graph.of(GROUP) if entry.name.startswith(BASE)]
    assert {key: made.inputs.get(key) for key in made_of} != before or graph[f"{TEMPLATE}::{made.name}"]
    assert world.nodes("cr-b") == 2


@pytest.mark.parametrize("changes", [pytest.param(changes, id=name) for name, changes in _OF_NODES])
def test_before_its_start_a_block_gets_what_nodes_are_made_of(world: World, changes: dict[str, Any]) -> None:
    world.up(with_blocks(block("cr-b", TO_COME)))
    first = {name: dict(state) for name, state in world.stack.state.items() if name.startswith(BASE)}
    world.up(with_blocks(block("cr-b", TO_COME), **changes))
    second = {name: state for name, state in world.stack.state.items() if name.startswith(BASE)}
    assert first != second
    world.until("2026-11-28T11:40:00Z")
    assert world.nodes("cr-b") == 2


def test_an_extension(world: World) -> None:
    """EC2 user guide, "Extend Capacity Blocks": the same ID, a later end. EKS may leave its action at the old end."""
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.soon()
    world.stack.account.blocks["cr-a"].ends = at("2026-12-05T11:30:00Z")
    world.up(with_blocks(block("cr-a", (RUNNING[0], "2026-12-05T11:30:00Z"))))
    assert world.nodes() == 2
    world.until("2026-11-28T10:51:00Z")
    assert world.nodes() == 0  # as the stand-in of EKS has it
    world.until("2026-11-28T10:56:00Z")
    assert world.nodes() == 2
    world.until("2026-12-05T10:50:00Z")
    assert world.nodes() == 2
    assert not world.stack.account.scaled(world.stack.schedules[f"{BASE}-a-begin"]["autoscalingGroupName"]).actions  # type: ignore[union-attr]


@pytest.mark.parametrize("starts", ["2026-11-25T11:30:00Z", "2026-11-30T11:30:00Z"])
def test_another_begin_of_a_block_to_come(world: World, starts: str) -> None:
    world.up(with_blocks(block("cr-b", TO_COME)))
    world.stack.account.blocks["cr-b"].starts = at(starts)
    world.up(with_blocks(block("cr-b", (starts, TO_COME[1]))))
    world.stack.account.advance(at(starts) - TEN_MINUTES)
    assert world.nodes("cr-b") == 0
    world.soon()
    world.soon()
    assert world.nodes("cr-b") == 2


def test_a_later_update_leaves_an_action_that_has_begun_alone(world: World) -> None:
    """Its start lies in the past by then, and AWS would refuse it."""
    values = with_blocks(block("cr-b", TO_COME))
    world.up(values)
    world.until("2026-11-29T00:00:00Z")
    before = dict(world.stack.schedules)
    graph = world.up(values)
    assert "startTime" not in graph.of(SCHEDULE)[0].inputs
    assert world.stack.schedules == before
    assert world.nodes("cr-b") == 2


def test_a_block_shortly_before_its_end(world: World) -> None:
    values = with_blocks(block("cr-a", RUNNING))
    world.up(values)
    world.until("2026-11-28T10:00:00Z")
    assert world.up(values).of(SCHEDULE) == []  # an action that ends within the update may be refused
    assert world.nodes() == 2
    world.until("2026-11-28T10:51:00Z")
    assert world.nodes() == 0
    assert world.stack.account.taken == []


ODCR = {"capacity": "odcr", "reservation": {"id": "cr-0a1b", "zone": "us-east-1b", "count": 2}}


@pytest.mark.parametrize("rule", [ODCR, {"capacity": "on-demand"}, {}], ids=["odcr", "on-demand", "nothing"])
def test_from_a_block_to_other_capacity_and_back(world: World, rule: dict[str, Any]) -> None:
    """The other nodes are made before those of the block go; the group goes with the settings that named it."""
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.soon()
    world.up(settings(rule))
    assert world.nodes() is None
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.soon()
    assert world.nodes() == 2


def test_another_type(world: World) -> None:
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.soon()
    world.up(settings({}, models={"chat": 1}))
    assert world.nodes() is None


def test_a_role_replaces_the_group_of_a_block(world: World) -> None:
    """No group can change it: the plan shows the replacement, and the new group has its nodes within minutes."""
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.soon()
    role = {"version": "1.34", "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes"}
    world.up(with_blocks(block("cr-a", RUNNING), cluster=role))
    world.soon()
    assert world.nodes() == 2


def renamed(world: World) -> None:
    """Let the stack be one of the earlier release: one group for all blocks, with an action that ran once."""
    stack = world.stack
    state = stack.state[BASE] = stack.state.pop(f"{BASE}-a")
    stack.templates[BASE] = stack.templates.pop(f"{BASE}-a")
    action = stack.schedules[f"{BASE}-begin"] = stack.schedules.pop(f"{BASE}-a-begin")
    group = stack.account.groups.pop(state["nodeGroupName"])
    group.name = state["nodeGroupName"] = "p5-48xlarge-capacity-block-0a1b2c"
    action["autoscalingGroupName"] = group.scaled = f"eks-{group.name}"
    stack.account.delete_action(group.scaled, action["scheduledActionName"])
    action["scheduledActionName"] = f"{BASE}-begin"
    stack.account.groups[group.name] = group


def test_a_stack_of_the_earlier_release_keeps_the_nodes_of_a_block_that_runs(world: World) -> None:
    values = with_blocks(block("cr-a", RUNNING))
    world.up(values)
    world.soon()
    renamed(world)
    world.up(values)
    world.soon()
    assert list(world.stack.account.groups)[-1] == "p5-48xlarge-capacity-block-0a1b2c"
    assert world.nodes() == 2
    world.up(with_blocks(block("cr-a", RUNNING), block("cr-b", TO_COME)))
    world.until("2026-11-28T11:40:00Z")
    assert (world.nodes("cr-a"), world.nodes("cr-b")) == (0, 2)


def test_a_stack_of_the_earlier_release_replaces_the_group_of_a_block_to_come(world: World) -> None:
    world.up(with_blocks(block("cr-a", RUNNING)))
    world.until("2026-11-28T12:00:00Z")
    renamed(world)
    world.stack.account.blocks["cr-b"].starts = at("2026-11-30T11:30:00Z")
    world.up(with_blocks(block("cr-b", ("2026-11-30T11:30:00Z", TO_COME[1]))))
    world.until("2026-11-30T11:40:00Z")
    assert (world.nodes("cr-a"), world.nodes("cr-b")) == (None, 2)
