"""Which models stay Pending, said before anything is created."""

from typing import Any

import pytest

from components.clouds.aws.nodes.plan import NodeEnvironment
from components.fleet.nodes.policy import TypePolicy
from tests.clouds.aws.environments import environment, flavor, one, problems, small
from tests.fleets import fleet_of, open_model

FOUR = {"nvidia.com/gpu": 4}


def limited(kind: str, nodes: int) -> NodeEnvironment:
    return environment(types={kind: TypePolicy(max_nodes=nodes)})


@pytest.mark.parametrize(("nodes", "left"), [(3, 0), (2, 1), (1, 2)])
def test_at_rest_it_is_an_error_that_names_the_model(nodes: int, left: int) -> None:
    found = problems(one(flavor("g5.xlarge"), replicas=3), limited("g5.xlarge", nodes))
    expected = (
        f"{left} of 3 pods will stay Pending: g5-xlarge has at most {nodes} node{'s' * (nodes != 1)}; raise maxNodes"
    )
    assert [(p.kind, p.name) for p in found] == [("Playground", "p")] * bool(left)
    assert all(p.reason.startswith(expected) for p in found)


def test_models_that_share_nodes_are_told_apart() -> None:
    """The larger pods are placed first: four GPUs fill the node, and the small one has none."""
    fleet = fleet_of(
        open_model("big", flavors=[flavor("g5.12xlarge", FOUR)]),
        open_model("little", flavors=[flavor("g5.12xlarge")]),
        small("big", "big"),
        small("little", "little"),
    )
    (problem,) = problems(fleet, limited("g5.12xlarge", 1))
    assert problem.name == "little"
    assert problems(fleet, limited("g5.12xlarge", 2)) == []


def test_a_fallback_takes_what_does_not_fit_the_first_choice() -> None:
    flavors = [flavor("g6.xlarge", name="a"), flavor("g5.xlarge", name="b")]
    assert problems(one(*flavors, replicas=3), limited("g6.xlarge", 1)) == []


def scaled(**elastic: Any) -> dict[str, Any]:
    made = small("p", "m")
    del made["spec"]["replicas"]
    made["spec"]["elasticConfig"] = {"scaleTrigger": {"hpa": {}}, **elastic}
    return made


def test_at_its_largest_it_is_a_warning() -> None:
    fleet = fleet_of(open_model(flavors=[flavor("g5.xlarge")]), scaled(minReplicas=1, maxReplicas=4))
    where = limited("g5.xlarge", 3)
    assert problems(fleet, where) == []
    (warning,) = problems(fleet, where, "warning")
    assert warning.reason.startswith(
        "with all autoscalers at their maximum and an update in progress, 1 of 4 pods will stay "
        "Pending: g5-xlarge has at most 3"
    )
    assert problems(fleet, environment(), "warning") == []


def test_pods_that_fit_no_node_at_all_are_not_reported_twice() -> None:
    assert problems(one(flavor("g5.xlarge", FOUR)), environment()) == []


def test_pods_without_a_type_are_not_ours_to_place() -> None:
    fleet = fleet_of(open_model(flavors=[{"name": "f", "limits": {"nvidia.com/gpu": 1}}]), small("p", "m", 9))
    assert problems(fleet, environment()) == []
