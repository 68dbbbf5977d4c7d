"""A cloud that no module of the project names works with its folder and one registration alone."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from components.checks.front_door.settings import Door
from components.checks.front_door.words import Exposure
from components.contract.findings.ids import RuleId
from components.families import objects
from components.fleet.cloud_providers import names, refusals, replaced_fields
from components.fleet.transitions import Transition
from components.plan.costs.price_file import read_prices
from components.plan.environment import Environment
from components.plan.monitoring import costs
from components.plan.plan import Plan, plan
from components.plan.prerequisites.needed import ClusterFacts
from components.plan.sections.costs import UNKNOWN, bill_of
from components.resources.serving.fleet.settings import ProgramSettings
from tests.fleets import open_model, playground

from .provider import ToyEnvironment
from .registered import registered

PRICES = """
date: "2026-11-02"
regions:
  toyland-2:
    instances: {toy-small: {onDemand: 1}}
    flat: {marbles: 730}
"""


@pytest.fixture
def _toy() -> Iterator[None]:
    with registered():
        yield


def planned(
    instance_type: str,
    *,
    gpus: int = 1,
    replicas: int = 1,
    cloud: ToyEnvironment | None = None,
    **environment: object,
) -> Plan:
    """One model on nodes of a type, in an environment on the toy cloud."""
    flavor = {"name": "toy", "limits": {"nvidia.com/gpu": gpus}, "params": {"INSTANCE-TYPE": instance_type}}
    manifests = objects([open_model(flavors=[flavor]), playground(replicas=replicas)], "models.yaml")
    return plan(manifests, Environment(cloud=cloud or ToyEnvironment(), **environment))  # type: ignore[arg-type]


def rules(found: Plan) -> set[RuleId]:
    return {problem.rule for problem in found.problems}


@pytest.mark.usefixtures("_toy")
class TestNodes:
    def test_node_groups_are_those_that_the_cloud_plans(self) -> None:
        found = planned("toy-small", replicas=3)
        (group,) = found.cloud_groups
        assert (group.instance_types, group.minimum, group.maximum) == (("toy-small",), 1, 6)
        assert [(each.name, each.nodes) for each in found.groups] == [(group.name, 3)]

    def test_a_pod_that_fits_no_node_of_its_type_is_an_error(self) -> None:
        assert RuleId.NODES_TOO_SMALL in rules(planned("toy-small", gpus=2))
        assert RuleId.NODES_TOO_SMALL not in rules(planned("toy-large", gpus=2))

    def test_the_rule_of_the_cloud_reports_too_many_large_nodes(self) -> None:
        found = planned("toy-large", gpus=4, replicas=2)
        (problem,) = [each for each in found.problems if each.rule == RuleId.NODES_PENDING]
        assert problem.reason == "toyland-1 has 1 nodes of type toy-large, and the models need 2"
        assert RuleId.NODES_PENDING not in rules(planned("toy-large", gpus=4))
        assert RuleId.NODES_PENDING not in rules(
            planned("toy-large", gpus=4, replicas=2, cloud=ToyEnvironment(most_large=2))
        )


def test_without_registration_its_types_are_unknown() -> None:
    assert RuleId.NODES_TYPE_UNKNOWN in rules(planned("toy-small"))
    assert names() == ("none", "aws")


@pytest.mark.usefixtures("_toy")
class TestCosts:
    def test_nodes_cost_what_its_price_list_says(self) -> None:
        bill = bill_of(planned("toy-small", replicas=3))
        # Three pods with a GPU each need three nodes at $2; the cloud lets the group grow to six.
        (item,) = bill.items
        assert item.usd_per_hour is not None
        assert (item.usd_per_hour.now, item.usd_per_hour.most) == (Decimal(6), Decimal(12))
        assert (bill.region, bill.date) == ("toyland-1", "2026-11-01")
        assert "Toys are never returned." in bill.notes

    def test_a_share_of_a_node_is_what_a_model_costs(self) -> None:
        (model,) = bill_of(planned("toy-large", gpus=2)).models
        assert model.usd_per_hour is not None
        assert model.usd_per_hour.now == Decimal("3.5")

    def test_what_it_does_not_sell_has_no_price(self) -> None:
        bill = bill_of(planned("toy-small", cloud=ToyEnvironment(region="toyland-9")))
        assert [item.unpriced for item in bill.items] == ["no dated price of toy-small (on-demand) in toyland-9"]

    def test_without_a_region_models_show_its_usual_prices(self) -> None:
        bill = bill_of(planned("toy-small", cloud=ToyEnvironment(region="")))
        assert bill.notes == (UNKNOWN.format(cloud="Toyland", region="toyland-1"),)
        assert bill.models[0].usd_per_hour is not None

    def test_the_dashboard_has_its_prices(self) -> None:
        found = planned("toy-small")
        assert costs(found.groups, found.environment) == {"toy-small": Decimal(2)}

    def test_a_price_file_may_name_its_regions_types_and_items(self) -> None:
        own, problems = read_prices(PRICES, "prices.yaml")
        assert not problems
        assert own.instances["toyland-2", "toy-small", "on-demand"].usd == Decimal(1)
        # 730 dollars a month are one an hour.
        assert own.flat["toyland-2", "marbles"].usd == Decimal(1)


def test_without_registration_a_price_file_may_not() -> None:
    _, problems = read_prices(PRICES, "prices.yaml")
    assert any("must be a region" in problem.reason for problem in problems)


@pytest.mark.usefixtures("_toy")
class TestCluster:
    FACTS = ClusterFacts(version="1.35", on_nodes=frozenset({"nvidia.com/gpu"}))

    def test_charts_are_those_that_its_nodes_need(self) -> None:
        small = planned("toy-small", cluster=self.FACTS, install=True)
        large = planned("toy-large", cluster=self.FACTS, install=True)
        assert [each.chart.name for each in small.prerequisites] == []
        assert [each.chart.name for each in large.prerequisites] == ["metrics-server"]

    def test_its_load_balancers_need_no_controller(self) -> None:
        door = Door(expose=Exposure.LOAD_BALANCER)
        found = planned("toy-small", cluster=self.FACTS, install=True, door=door)
        assert [each.chart.name for each in found.prerequisites] == []

    def test_clients_are_in_its_network_where_no_others_are_named(self) -> None:
        found = planned("toy-small", door=Door(expose=Exposure.LOAD_BALANCER), network_policies=True)
        assert found.environment.balancing.clients == ("10.7.0.0/16",)
        unknown = planned(
            "toy-small",
            door=Door(expose=Exposure.LOAD_BALANCER),
            network_policies=True,
            cloud=ToyEnvironment(network=()),
        )
        assert any("an existing sandbox" in problem.reason for problem in unknown.problems)

    def test_a_fleet_in_a_program_may_be_on_it(self) -> None:
        settings = ProgramSettings.model_validate(
            {"cluster": {"cloud": "toy", "region": "toyland-1", "image": "wood"}}
        )
        cloud = settings.environment().cloud
        assert cloud is not None
        assert (cloud.provider.title, cloud.region, cloud.owns_nodes) == ("Toyland", "toyland-1", False)
        assert settings.facts().on_nodes == {"nvidia.com/gpu"}

    def test_a_range_that_its_networks_cannot_have_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"must be 10\.7\.0\.0/16"):
            ProgramSettings.model_validate({"cluster": {"cloud": "toy", "cidr": "10.0.0.0/16"}})

    def test_reviews_know_what_replaces_its_resources(self) -> None:
        assert replaced_fields("toy:index:Nodes", {}, {}) == ("box",)

    def test_reviews_refuse_what_it_refuses(self) -> None:
        def found(before: int, after: int) -> list[str]:
            nodes = Transition("nodes", "toy:index:Nodes", {"size": before}, {"size": after})
            return [refusal.setting for refusal in refusals([nodes])]

        assert (found(2, 1), found(1, 2)) == (["nodes.size"], [])
