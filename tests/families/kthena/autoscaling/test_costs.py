"""What a replica costs: the share of a node that its pods take, in whole US cents an hour, rounded up."""

from decimal import Decimal
from typing import Any

import pytest

from components.families.kthena.autoscaling.costs import replica_cost
from components.fleet.demand import NodeChoice, PodDemand
from components.fleet.words import Realization
from components.nodes.instances import instance
from tests.families.kthena.autoscaling.bindings import binding, bounded, policy, said, serving
from tests.families.kthena.serving.support import engine, pods, role
from tests.fleets import fleet_of

Object = dict[str, Any]
G5, P5 = "g5.xlarge", "p5.48xlarge"


def demand(*types: str, count: int = 1, **requests: int) -> PodDemand:
    named = {{"gpu": "nvidia.com/gpu"}.get(key, key): Decimal(value) for key, value in requests.items()}
    return PodDemand(count, named, tuple(NodeChoice(name, name) for name in types), per_replica=count)


def price(name: str) -> Decimal:
    node = instance(name)
    assert node
    assert node.usd_per_hour
    return node.usd_per_hour


def test_the_prices_that_the_table_gives() -> None:
    """On demand in us-east-1: the figures below are worked out by hand from these."""
    assert (price(G5), price(P5)) == (Decimal("1.006"), Decimal("55.04"))


@pytest.mark.parametrize(
    ("parts", "cents"),
    [
        # A whole node: 100.6 cents.
        ([demand(G5, gpu=1)], 101),
        # One of eight, and four of them: 688 and 2752 cents.
        ([demand(P5, gpu=1)], 688),
        ([demand(P5, gpu=4)], 2752),
        # The first choice counts, whatever comes after it.
        ([demand(G5, P5, gpu=1)], 101),
        # An entry pod and three workers: 402.4 cents; rounded once.
        ([demand(G5, gpu=1), demand(G5, count=3, gpu=1)], 403),
        # What requests nothing, or more than there is, counts for a whole one.
        ([demand(G5, gpu=3)], 101),
        ([demand(G5, cpu=1)], 101),
        ([demand(G5)], 101),
        ([], 0),
        # Nobody knows.
        ([demand()], None),
        ([demand("x9.nowhere")], None),
        ([demand("m7i.xlarge", cpu=1)], None),
        ([demand(G5, gpu=1), demand()], None),
    ],
)
def test_a_share_of_its_nodes(parts: list[PodDemand], cents: int | None) -> None:
    assert replica_cost(parts) == cents


def costs(*params: Object, **options: Any) -> tuple[list[int], list[tuple[str, str, str]]]:
    """The costs in the object that Kthena's controller gets, and what is said of them."""
    panic = {"scaleUp": {"panicPolicy": {"period": "0s"}}}
    worker = role(workers=1, entryTemplate=pods(engine()), workerTemplate=pods(engine()))
    documents = [serving("gpu"), serving("cpu", worker), policy(behavior=panic), binding(*params)]
    for document in documents:
        document["metadata"]["namespace"] = "kthena-system"
    fleet = fleet_of(*documents, realization=Realization.OPERATOR, **options)
    said_of_costs = [each for each in said(fleet.problems) if each[2].endswith("cost")]
    (item,) = [item for item in fleet.rendered if item.kind == "AutoscalingPolicyBinding"]
    spec = item.others[0]["spec"]["optimizerConfiguration"]
    return [param["cost"] for param in spec["params"]], said_of_costs


def test_a_param_without_a_cost_gets_its_price() -> None:
    assert costs(bounded("gpu")) == ([101], [])


@pytest.mark.parametrize("cost", [0, 7])
def test_what_is_written_stays(cost: int) -> None:
    assert costs(bounded("gpu", cost=cost)) == ([cost], [])


def test_a_price_that_nobody_knows_is_0_and_that_is_said() -> None:
    found, problems = costs(bounded("gpu"), bounded("cpu"))
    assert found == [101, 0]
    assert problems == [("warning", "AutoscalingPolicyBinding", "spec.optimizerConfiguration.params[1].cost")]
