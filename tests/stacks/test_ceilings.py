"""What a stack may cost at most, the quotas that it needs, and the nodes that there may be: the same number."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.fleet.instances import instance
from components.plan.costs.bill import cents
from tests.clouds.aws.environments import flavor
from tests.fleets import open_model, playground
from tests.recorded import Recorded
from tests.stacks.shipped import as_shipped, run

pytestmark = pytest.mark.usefixtures("here")

GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = "kubernetes:karpenter.sh/v1:NodePool"
RELEASE = "kubernetes:helm.sh/v3:Release::fleet-cluster-autoscaler"
G5 = Decimal("1.212")
"""USD an hour of a g5.2xlarge on demand in us-east-1 (aws-gpu spec 1)."""


def bounds(graph: Recorded) -> dict[str, int]:
    """The most nodes of each group that the autoscaler or Karpenter makes, as it is registered, by name."""
    pools = {entry.inputs["metadata"]["name"]: entry.inputs["spec"] for entry in graph.of(POOL)}
    if pools:
        return {name: int(spec["limits"]["nodes"]) for name, spec in pools.items()}
    found = graph[RELEASE].inputs["values"]["autoscalingGroups"]
    return {each["name"].removeprefix("asg-nodes-"): each["maxSize"] for each in found}


def counted(graph: Recorded) -> dict[str, dict[str, Any]]:
    prefix = "node group "
    items = graph.exports["cost"]["items"]
    return {each["name"].removeprefix(prefix): each for each in items if each["name"].startswith(prefix)}


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_bill_counts_the_bounds_that_are_registered(stack: str) -> None:
    graph = run(stack)
    most = bounds(graph)
    assert {name: each["count"]["max"] for name, each in counted(graph).items()} == most
    assert {name: each["maxNodes"] for name, each in graph.exports["nodes"].items()} == most


@pytest.mark.parametrize(("stack", "system"), [("dev", {"L-1216C47A": 4}), ("prod", {"L-1216C47A": 6})])
def test_so_do_the_quotas(stack: str, system: dict[str, int]) -> None:
    """Of on-demand instances of one family, or of spot: aws-gpu spec 14. System nodes are m7i.large with 2 vCPUs."""
    graph = run(stack)
    spot = stack == "dev"
    codes = {
        "g": "L-3819A6DF" if spot else "L-DB2E81BA",
        "m": "L-34B43A08" if spot else "L-1216C47A",
        "p": "L-417A185B",
    }
    needed = dict(system)
    for name, most in bounds(graph).items():
        node = instance(graph.exports["nodes"][name]["instanceType"])
        assert node
        code = codes[node.name[0]]
        needed[code] = needed.get(code, 0) + most * node.vcpu
    assert {code: each["vcpus"] for code, each in graph.exports["vcpus"].items()} == needed


def test_prods_ceiling_by_hand() -> None:
    """One g5.2xlarge more than its models need at their largest: the fallback of a model that prefers g6e.2xlarge."""
    graph = as_shipped("prod")
    most = bounds(graph)
    assert (most["g5-2xlarge"], most["p4de-24xlarge"], max(most.values())) == (8, 1, 16)
    line = counted(graph)["g5-2xlarge"]
    assert line["usdPerMonth"]["max"] == float(cents(8 * G5 * 730))


def test_every_group_that_may_grow_has_a_bound() -> None:
    graph = run("dev", cluster={"version": "1.35", "systemNodes": 3, "systemNodesMax": 6})
    registered = {each["name"] for each in graph[RELEASE].inputs["values"]["autoscalingGroups"]}
    assert registered == {f"asg-{entry.name}" for entry in graph.of(GROUP)}


def test_more_than_models_need_is_a_setting() -> None:
    graph = run("dev", gpuNodes={"types": {"g5.2xlarge": {"maxNodes": 7}}})
    assert bounds(graph)["g5-2xlarge"] == 7
    assert counted(graph)["g5-2xlarge"]["count"] == {"now": 1, "min": 1, "max": 7}


def test_an_edit_of_a_model_raises_the_ceiling_and_replaces_no_group(tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    shipped = Path("stacks/models/qwen-chat.yaml").read_text()
    assert shipped.count("replicas: 1\n") == 1

    def deployed(replicas: int) -> Recorded:
        file.write_text(shipped.replace("replicas: 1\n", f"replicas: {replicas}\n"))
        return run("dev", models=[str(file)], gpuNodes={})

    before, after = deployed(1), deployed(5)
    assert (bounds(before), bounds(after)) == ({"g5-2xlarge": 1}, {"g5-2xlarge": 5})
    assert [entry.inputs for entry in before.of(GROUP)] == [entry.inputs for entry in after.of(GROUP)]


def test_without_an_upper_bound_the_ceiling_is_what_eks_allows(tmp_path: Path) -> None:
    """The plan warns of it and names the setting (nodes-unbounded)."""
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump_all(UNBOUNDED))
    graph = run("dev", models=[str(file)], gpuNodes={})
    assert bounds(graph) == {"g5-2xlarge": 450}
    assert counted(graph)["g5-2xlarge"]["count"]["max"] == 450


UTILIZATION = {"type": "Utilization", "averageUtilization": 80}
METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": UTILIZATION}}
UNBOUNDED = (
    open_model(flavors=[flavor("g5.2xlarge")]),
    playground(elasticConfig={"minReplicas": 1, "scaleTrigger": {"hpa": {"metrics": [METRIC]}}}),
)
