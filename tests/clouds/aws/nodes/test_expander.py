"""Models that prefer the same nodes in opposite order, where an autoscaler has one order for all."""

from typing import Any

import pytest

from components.contract.findings.ids import RuleId
from components.fleet.rendered import Fleet
from tests.clouds.aws.environments import environment, flavor, planned, problems, small
from tests.fleets import fleet_of, open_model


def serving(**preferences: list[str]) -> Fleet:
    """A Playground per name, which prefers instance types in this order."""
    models = [
        open_model(f"of-{name}", flavors=[flavor(kind, name=f"f{index}") for index, kind in enumerate(kinds)])
        for name, kinds in preferences.items()
    ]
    return fleet_of(*models, *(small(name, f"of-{name}") for name in preferences))


def conflicts(fleet: Fleet, **changes: Any) -> list[tuple[str, str]]:
    found = problems(fleet, environment(**changes), "warning")
    return [(each.name, each.reason) for each in found if each.rule == RuleId.NODES_ORDER_CONFLICT]


def test_models_that_agree() -> None:
    fleet = serving(a=["g6e.2xlarge", "g5.2xlarge"], b=["g5.2xlarge"], c=["g5.2xlarge", "g6.2xlarge"])
    assert conflicts(fleet) == []
    levels = {group.name: group.demand.level for group in planned(fleet, environment())}
    assert levels == {"g6e-2xlarge": 2, "g5-2xlarge": 1, "g6-2xlarge": 0}


def test_each_model_of_a_conflict_has_a_warning_that_names_the_others() -> None:
    fleet = serving(a=["g6e.2xlarge", "g5.2xlarge"], b=["g5.2xlarge", "g6e.2xlarge"], c=["g6.2xlarge"])
    (first, of_a), (second, of_b) = conflicts(fleet)
    assert (first, second) == ("a", "b")
    assert "prefers nodes g6e-2xlarge to g5-2xlarge, and Playground/b the opposite" in of_a
    assert "prefers nodes g5-2xlarge to g6e-2xlarge, and Playground/a the opposite" in of_b
    assert "set provisioner: karpenter" in of_a


def test_a_circle_of_three_is_a_conflict_of_all_three() -> None:
    types = ["g6e.2xlarge", "g5.2xlarge", "g6.2xlarge"]
    fleet = serving(a=types[:2], b=types[1:], c=[types[2], types[0]])
    assert [name for name, _ in conflicts(fleet)] == ["a", "b", "c"]


@pytest.mark.parametrize("provisioner", ["karpenter"])
def test_karpenter_follows_each_pod(provisioner: str) -> None:
    fleet = serving(a=["g6e.2xlarge", "g5.2xlarge"], b=["g5.2xlarge", "g6e.2xlarge"])
    assert conflicts(fleet, provisioner=provisioner) == []
