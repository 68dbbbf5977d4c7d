"""Enough nodes, whatever the scheduler does: held against a scheduler that does its worst."""

import random
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from components.fleet.demand import PodDemand
from components.fleet.nodes.bounds import nodes_for_any_order

GPU = "nvidia.com/gpu"
NODE = {"cpu": Decimal("47.5"), "memory": Decimal(180 * 2**30), GPU: Decimal(4), "pods": Decimal(110)}


def pods(count: int, gpus: int, cpu: str = "1", max_pods: int | None = None, surge_pods: int = 0) -> PodDemand:
    return PodDemand(count, {GPU: Decimal(gpus), "cpu": Decimal(cpu)}, (), max_pods, surge_pods)


def test_equal_pods_are_packed_without_waste() -> None:
    assert nodes_for_any_order(NODE, [pods(9, 1)]) == 3
    assert nodes_for_any_order(NODE, [pods(8, 1)]) == 2
    assert nodes_for_any_order(NODE, [pods(3, 4)]) == 3
    assert nodes_for_any_order(NODE, [pods(5, 1, cpu="20")]) == 3


def test_small_pods_can_block_a_node_each_for_a_large_one() -> None:
    """Two pods of one GPU spread over two nodes; the pod of four GPUs needs a third."""
    assert nodes_for_any_order(NODE, [pods(2, 1), pods(1, 4)]) == 3


def test_no_pods_need_no_nodes() -> None:
    assert nodes_for_any_order(NODE, []) == 0
    assert nodes_for_any_order(NODE, [pods(0, 1)]) == 0


def test_what_autoscalers_and_updates_add_counts() -> None:
    assert nodes_for_any_order(NODE, [pods(1, 4, max_pods=3)]) == 3
    assert nodes_for_any_order(NODE, [pods(1, 4, max_pods=3, surge_pods=1)]) == 4


kinds = st.lists(
    st.builds(
        pods,
        st.integers(1, 6),
        st.integers(0, 4),
        st.sampled_from(["0.5", "1", "7", "11.25", "24", "47.5"]),
    ),
    min_size=1,
    max_size=4,
)


@given(kinds, st.integers(0, 2**32))
def test_no_order_and_no_choice_of_nodes_leaves_a_pod_out(demands: list[PodDemand], seed: int) -> None:
    """Any pod in any order on any node with room: never is there none."""
    count = nodes_for_any_order(NODE, demands)
    chance = random.Random(seed)
    nodes = [dict(NODE) for _ in range(count)]
    queue = [{**demand.requests, "pods": Decimal(1)} for demand in demands for _ in range(demand.most)]
    chance.shuffle(queue)
    for wanted in queue:
        room = [node for node in nodes if all(node[key] >= amount for key, amount in wanted.items())]
        assert room, (count, wanted)
        chosen = chance.choice(room)
        for key, amount in wanted.items():
            chosen[key] -= amount


@given(st.integers(1, 40), st.integers(1, 4))
def test_the_bound_is_not_wasteful_for_equal_pods(count: int, gpus: int) -> None:
    assert nodes_for_any_order(NODE, [pods(count, gpus)]) == -(-count // (4 // gpus))
