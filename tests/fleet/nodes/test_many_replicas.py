"""Nodes for any number of replicas: as many as by placing pod after pod, in a time that does not depend on them."""

import random
import time
from collections.abc import Sequence
from decimal import Decimal

import pytest

from components.fleet.demand import NodeChoice, PodDemand
from components.fleet.nodes.groups import groups_of, offered_by

MOST = 2**31 - 1
"""Replicas that Kubernetes can count."""


def demand(pods: int, instance_type: str, **requests: int) -> PodDemand:
    named = {"gpu": "nvidia.com/gpu", "cpu": "cpu"}
    wanted = {named[key]: Decimal(amount) for key, amount in requests.items()}
    return PodDemand(pods, wanted, (NodeChoice("a", instance_type),))


def pod_after_pod(instance_type: str, demands: Sequence[PodDemand]) -> int:
    """First fit as it is defined: each pod goes to the first node with room, and to a new one where none has."""
    offered, nodes = offered_by(instance_type, efa=False), list[dict[str, Decimal]]()
    for each in sorted(demands, key=lambda d: d.requests.get("nvidia.com/gpu", Decimal(0)), reverse=True):
        wanted = {**each.requests, "pods": Decimal(1)}
        for _ in range(each.pods):
            # Nodes without a free accelerator take nothing more.
            open_ = (n for n in nodes if n["nvidia.com/gpu"] > 0)
            node = next((n for n in open_ if all(n.get(k, 0) >= v for k, v in wanted.items())), None)
            if node is None:
                node = dict(offered)
                nodes.append(node)
            for key, amount in wanted.items():
                node[key] = node.get(key, Decimal(0)) - amount
    return len(nodes)


@pytest.mark.parametrize("seed", range(60))
def test_as_many_as_pod_after_pod(seed: int) -> None:
    rng = random.Random(seed)
    name = rng.choice(["g6.12xlarge", "g6.48xlarge", "p4d.24xlarge"])
    demands = [
        demand(rng.randint(0, 30), name, gpu=rng.randint(0, 5), cpu=rng.choice([0, 1, 3, 7, 20, 60]))
        for _ in range(rng.randint(1, 8))
    ]
    (group,) = groups_of(demands)
    assert group.nodes == pod_after_pod(name, demands)


@pytest.mark.parametrize(
    ("pods", "instance_type", "gpu", "nodes"),
    [
        (MOST, "g6.2xlarge", 1, MOST),
        (10_000_000, "g6.2xlarge", 1, 10_000_000),
        # Three of four: one pod a node.
        (8_000, "g6.12xlarge", 3, 8_000),
        (MOST, "g6.12xlarge", 3, MOST),
        # One of four: four pods a node, rounded up.
        (MOST, "g6.12xlarge", 1, 536_870_912),
        # More than a node has: each pod takes one, and the plan refuses it elsewhere.
        (1_000_000, "g6.2xlarge", 2, 1_000_000),
    ],
)
def test_the_time_does_not_depend_on_replicas(pods: int, instance_type: str, gpu: int, nodes: int) -> None:
    before = time.process_time()
    (group,) = groups_of([demand(pods, instance_type, gpu=gpu, cpu=1)])
    assert group.nodes == nodes
    assert time.process_time() - before < 1


def test_the_time_does_not_grow_with_the_square_of_models() -> None:
    """4,000 models with three of four accelerators and some without fill what the others leave."""
    demands = [demand(3, "g6.12xlarge", gpu=3, cpu=1) for _ in range(4_000)]
    demands += [demand(1, "g6.12xlarge", gpu=1, cpu=1) for _ in range(4_000)]
    before = time.process_time()
    (group,) = groups_of(demands)
    assert group.nodes == 12_000
    assert time.process_time() - before < 5
