"""Generations of nodes reach the pods and the groups of their instance types, and no others."""

from typing import Any

import pytest

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.nodes.plan import NodeEnvironment, next_generation, node_plan
from components.fleet.nodes.policy import TypePolicy
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from tests.clouds.aws.environments import environment, flavor, one, problems
from tests.fleets import fleet_of, open_model, playground

LABEL = "inference-platform/generation"
B = TypePolicy(generation="b")
TYPE = "node.kubernetes.io/instance-type"


def where(**types: TypePolicy) -> NodeEnvironment:
    return environment(types={name.replace("_", "."): rule for name, rule in types.items()})


def adapted(fleet: Fleet, place: NodeEnvironment) -> Fleet:
    return AwsEnvironment("us-east-1", place).adapted(fleet)


def terms(fleet: Fleet) -> list[dict[str, Any]]:
    """Return what each alternative of the pods requires of nodes."""
    ((_, workload),) = fleet.workloads
    affinity = workload.templates[0]["spec"]["affinity"]["nodeAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [{each["key"]: each["values"] for each in term["matchExpressions"]} for term in required]


def test_nodes_have_the_label_that_pods_select() -> None:
    place = where(g5_2xlarge=B)
    fleet = adapted(one(flavor("g5.2xlarge"), where=place), place)
    assert terms(fleet) == [{TYPE: ["g5.2xlarge"], LABEL: ["b"]}]
    (group,) = node_plan(fleet, place)
    assert group.name.startswith("g5-2xlarge-b-")
    assert group.labels[LABEL] == "b"
    assert not problems(fleet, place)


def test_other_types_stay_as_they_are() -> None:
    place = where(g5_2xlarge=B)
    fleet = one(flavor("g6.2xlarge"), where=place)
    assert adapted(fleet, place) == fleet


def test_each_alternative_has_its_own() -> None:
    place = where(g5_2xlarge=B)
    flavors = (flavor("g5.2xlarge", name="a"), flavor("g6.2xlarge", name="b"))
    fleet = adapted(one(*flavors, where=place), place)
    assert terms(fleet) == [{TYPE: ["g5.2xlarge"], LABEL: ["b"]}, {TYPE: ["g6.2xlarge"]}]
    ((_, workload),) = fleet.workloads
    node = workload.templates[0]["spec"]["affinity"]["nodeAffinity"]
    preferred = node["preferredDuringSchedulingIgnoredDuringExecution"]
    keys = [[each["key"] for each in term["preference"]["matchExpressions"]] for term in preferred]
    assert keys == [[TYPE, LABEL], [TYPE]]
    assert [group.name for group in node_plan(fleet, place)][1] == "g6-2xlarge"


def test_pods_with_a_node_selector() -> None:
    """LLMKube puts the node selector of a service into the pods."""
    place = where(g5_2xlarge=B)
    group = "inference.llmkube.dev/v1alpha1"
    spec = {"source": "https://models.example.com/m.gguf", "format": "gguf", "hardware": {"gpu": {"count": 1}}}
    model = {"apiVersion": group, "kind": "Model", "metadata": {"name": "m"}, "spec": spec}
    served = {"modelRef": "m", "nodeSelector": {TYPE: "g5.2xlarge"}, "resources": {"gpu": 1}}
    serving = {"apiVersion": group, "kind": "InferenceService", "metadata": {"name": "s"}, "spec": served}
    fleet = adapted(fleet_of(model, serving), place)
    ((_, workload),) = fleet.workloads
    assert workload.templates[0]["spec"]["nodeSelector"] == {TYPE: "g5.2xlarge", LABEL: "b"}
    assert [group.labels.get(LABEL) for group in node_plan(fleet, place)] == ["b"]


def test_a_flavor_that_selects_a_generation_itself_keeps_it() -> None:
    place = where(g5_2xlarge=B)
    chosen = {**flavor("g5.2xlarge"), "nodeSelector": {LABEL: "a"}}
    fleet = adapted(one(chosen, where=place), place)
    assert terms(fleet) == [{TYPE: ["g5.2xlarge"], LABEL: ["a"]}]


def test_pods_of_operators_cannot_select_it() -> None:
    place = where(g5_2xlarge=B)
    documents = (open_model(flavors=[flavor("g5.2xlarge")]), playground())
    fleet = adapted(fleet_of(*documents, realization=Realization.OPERATOR), place)
    (problem,) = [each for each in problems(fleet, place) if each.path.endswith("generation")]
    assert "set realization: native" in problem.reason


def test_existing_groups_need_the_label() -> None:
    theirs = TypePolicy(generation="b", existing_groups=("theirs",))
    place = where(g5_2xlarge=theirs)
    fleet = adapted(one(flavor("g5.2xlarge"), where=place), place)
    (problem,) = problems(fleet, place)
    assert f"{LABEL}: b" in problem.reason
    labelled = TypePolicy(generation="b", existing_groups=("theirs",), labels={LABEL: "b"})
    place = where(g5_2xlarge=labelled)
    assert not problems(adapted(one(flavor("g5.2xlarge"), where=place), place), place)


@pytest.mark.parametrize(
    ("current", "following"),
    [("", "b"), ("a", "b"), ("b", "c"), ("z", "z-b"), ("blue", "blue-b"), ("x" * 15, "x" * 13 + "-b")],
)
def test_the_next_name(current: str, following: str) -> None:
    assert next_generation(current) == following
    assert len(following) <= 15
