"""Which nodes come first for a model with several flavors, when the Cluster Autoscaler adds them."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.fleet.instances import instance
from components.fleet.nodes.groups import allocatable
from tests.clouds.aws.environments import flavor
from tests.clouds.aws.sizes.expander import chosen
from tests.fleets import open_model, playground
from tests.recorded import Recorded
from tests.stacks.shipped import as_shipped, run

pytestmark = pytest.mark.usefixtures("here")

RELEASE = "kubernetes:helm.sh/v3:Release::fleet-cluster-autoscaler"


def values(graph: Recorded) -> Any:
    return graph[RELEASE].inputs["values"]


def unused(kind: str, pod: dict[str, Decimal]) -> Decimal:
    node = instance(kind)
    assert node
    offered = allocatable(node)
    return sum(((offered[key] - pod[key]) / offered[key] for key in ("cpu", "memory")), Decimal(0))


def test_the_first_flavor_of_the_shipped_model_comes_first() -> None:
    """Its fallback leaves less unused: without an order of groups it would come first."""
    pod = {"cpu": Decimal(4), "memory": Decimal(16 * 2**30)}
    options = {f"asg-nodes-{kind.replace('.', '-')}": unused(kind, pod) for kind in ("g6e.2xlarge", "g5.2xlarge")}
    assert min(options, key=lambda name: options[name]) == "asg-nodes-g5-2xlarge"
    assert chosen(values(as_shipped("prod")), options) == {"asg-nodes-g6e-2xlarge"}


def test_groups_that_no_model_compares_are_chosen_by_what_they_leave_unused() -> None:
    options = {"asg-nodes-g6-2xlarge": Decimal("0.5"), "asg-nodes-g6-12xlarge": Decimal("1.5")}
    assert chosen(values(as_shipped("prod")), options) == {"asg-nodes-g6-2xlarge"}


def test_the_order_is_an_output_for_an_autoscaler_of_ones_own() -> None:
    graph = run("prod", prerequisites={"install": True, "present": ["cluster-autoscaler"]})
    assert yaml.safe_load(graph.exports["nodeGroupPriorities"]) == {1: [".*"], 20: ["^asg-nodes-g6e-2xlarge$"]}


def test_names_that_begin_alike_are_not_mistaken(tmp_path: Path) -> None:
    """Pattern g5-2xlarge must not match g5-2xlarge-spot."""
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump_all(TWO))
    graph = run("dev", models=[str(file)], gpuNodes={"types": {"g6.2xlarge": {"capacity": "spot"}}})
    assert {entry.name for entry in graph.of("aws:eks/nodeGroup:NodeGroup")} == {
        "cluster-system",
        "nodes-g6-2xlarge",
        "nodes-g6-2xlarge-spot",
    }
    options = {"asg-nodes-g6-2xlarge": Decimal(1), "asg-nodes-g6-2xlarge-spot": Decimal(1)}
    assert chosen(values(graph), options) == {"asg-nodes-g6-2xlarge"}


TWO = (
    open_model(
        flavors=[
            flavor("g6.2xlarge", name="kept", eks_amazonaws_com__capacityType="ON_DEMAND"),
            flavor("g6.2xlarge", name="cheap", eks_amazonaws_com__capacityType="SPOT"),
        ]
    ),
    playground(replicas=1, modelClaim={"modelName": "m", "inferenceFlavors": ["kept", "cheap"]}),
)
