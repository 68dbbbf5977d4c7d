"""What a replica costs: the share of a node that its pods take, in whole US cents an hour, rounded up."""

from decimal import Decimal
from typing import Any

import pytest

from components.contract.findings.collector import Findings
from components.families import objects
from components.families.kthena.serving.context import ServingContext
from components.families.kthena.serving.roles import replica_cost
from components.families.kthena.types import ModelServing
from components.fleet.instances import instance
from components.fleet.options import Options
from components.fleet.words import Realization
from tests.families.kthena.autoscaling.bindings import GPU, binding, bounded, policy, said, serving
from tests.families.kthena.serving.support import engine, pods, role
from tests.fleets import fleet_of, read

Object = dict[str, Any]
G5, P5 = "g5.xlarge", "p5.48xlarge"
TYPE = "node.kubernetes.io/instance-type"


def priced(*templates: tuple[str, int, int], replicas: int = 1) -> int | None:
    """The cost of a group with an entry pod, and workers for each further template: type, GPUs and number of pods."""
    (entry, *_), *workers = [
        (pods(engine(resources={"limits": {"nvidia.com/gpu": gpus}}), nodeSelector={TYPE: name}), count)
        for name, gpus, count in templates
    ]
    more: dict[str, Any] = {"workers": workers[0][1], "workerTemplate": workers[0][0]} if workers else {}
    document = serving("chat", role(replicas=replicas, entryTemplate=entry, **more))
    source = read(document)
    assert isinstance(source.resource, ModelServing)
    return replica_cost(ServingContext(source, source.resource, "ns", Options(), Findings(source)))


def test_the_prices_that_the_table_gives() -> None:
    """On demand in us-east-1: the figures below are worked out by hand from these."""
    found = [(node.usd_per_hour, node.accelerators) for node in map(instance, (G5, P5)) if node]
    assert found == [(Decimal("1.006"), 1), (Decimal("55.04"), 8)]


@pytest.mark.parametrize(
    ("templates", "cents"),
    [
        # A whole node: 100.6 cents.
        ([(G5, 1, 1)], 101),
        # One of eight, and four of them: 688 and 2752 cents.
        ([(P5, 1, 1)], 688),
        ([(P5, 4, 1)], 2752),
        # More than there is, which is an error elsewhere, is all of it.
        ([(G5, 3, 1)], 101),
        # An entry pod and three workers: 402.4 cents; rounded once.
        ([(G5, 1, 1), (G5, 1, 3)], 403),
        ([(P5, 8, 1), (G5, 1, 2)], 5706),
        # Of nodes without accelerators the whole: 20.16 cents, and 100.6 with the other.
        ([("m7i.xlarge", 1, 1)], 21),
        ([(G5, 1, 1), ("m7i.xlarge", 1, 1)], 121),
        # Nobody knows.
        ([("x9.nowhere", 1, 1)], None),
        ([(G5, 1, 1), ("x9.nowhere", 1, 1)], None),
    ],
)
def test_a_share_of_its_nodes(templates: list[tuple[str, int, int]], cents: int | None) -> None:
    assert priced(*templates) == cents


def test_a_group_has_all_instances_of_its_roles() -> None:
    """402.4 cents."""
    assert priced((G5, 1, 1), replicas=4) == 403


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


AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": TYPE, "operator": "In", "values": [P5, G5]}]}
]}}}  # fmt: skip


@pytest.mark.parametrize(
    ("worker", "known"),
    [
        ({"affinity": AFFINITY}, "; by the price of its nodes that is 1376"),
        ({"affinity": AFFINITY, "replicas": None, "pods": None}, "; by the price of its nodes that is 688"),
        ({}, ", found 0"),
        ({"affinity": {"podAffinity": {}}}, ", found 0"),
    ],
)
def test_a_booster_without_a_cost_is_told_the_price(worker: Object, known: str) -> None:
    """V5: two instances of one pod with one of the eight GPUs of a p5.48xlarge."""
    fields = {"type": "server", "image": "i", "replicas": 2, "pods": 1, "resources": GPU, **worker}
    backend = {
        "name": "gpu",
        "type": "vLLM",
        "modelURI": "hf://org/name",
        "minReplicas": 1,
        "maxReplicas": 2,
        "workers": [{key: value for key, value in fields.items() if value is not None}],
    }
    document = policy()
    body = {
        "apiVersion": document["apiVersion"],
        "kind": "ModelBooster",
        "metadata": {"name": "chat"},
        "spec": {"autoscalingPolicy": document["spec"], "backends": [backend]},
    }
    (problem,) = objects([body]).problems
    assert problem.path == "spec.backends[0].scalingCost"
    assert problem.reason.endswith(known)
