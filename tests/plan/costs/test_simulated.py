"""What simulated nodes would cost on demand, and the bounds of costs at most."""

from decimal import Decimal
from typing import Any

import pytest

from components.plan.costs.bill import Amounts
from components.plan.review.compare import review
from components.plan.review.planned import snapshot_of
from components.plan.review.review import Thresholds
from components.plan.sections.costs import bill_of
from tests.fleets import open_model, playground
from tests.plan.costs.manifests import flavor, served, written
from tests.plan.costs.stacks import AWS, bill, planned, settings_of
from workbench.planning.formats.data import document
from workbench.planning.formats.markdown import markdown
from workbench.planning.formats.text import text

G6_2XLARGE = Decimal("0.9776")
"""US dollars per hour on demand in us-east-1 (aws.amazon.com/ec2/instance-types/g6)."""
TWO = written([served("two", flavor("g6.2xlarge"), replicas=2)])
LOCAL: dict[str, Any] = {"kubeconfig": "k", "simulatedNodes": True}


def test_simulated_nodes_are_priced_beside_the_bill() -> None:
    found = bill(TWO, LOCAL)
    assert (found.region, found.items) == ("", ())
    assert found.usd_per_hour.most == 0
    assert found.simulated_region == "us-east-1"
    (item,) = found.simulated_items
    assert item.counts == Amounts(Decimal(2), Decimal(2), Decimal(2))
    assert found.simulated_usd_per_hour.now == 2 * G6_2XLARGE


def test_the_report_names_the_region_and_that_it_is_no_bill() -> None:
    made = planned(TWO, settings_of(LOCAL))
    found = review(snapshot_of(made, "local", bill_of(made)), None, thresholds=Thresholds(max_monthly_usd=Decimal(1)))
    assert found.failures == ()  # nothing is paid
    assert "$0 now ($1,427 a month on AWS)" in text(found)
    assert "this is no bill" in text(found, details=True)
    report = markdown(found)
    assert "free, because its nodes are simulated: as instances in us-east-1" in report
    assert "1,427.30 a month" in report
    assert "monthly cost as instances" in report
    assert "simulated nodes, as instances in us-east-1" in report
    assert "this is no bill" in report
    assert "environment total" not in report
    data = document(found)
    assert data["monthlyUsd"]["after"] == {"now": "0.00", "least": "0.00", "most": "0.00"}


def test_a_real_environment_has_no_simulated_costs() -> None:
    found = bill(TWO, AWS)
    assert (found.simulated_region, found.simulated_items) == ("", ())


def scaled(most: int, rule: dict[str, Any]) -> tuple[Decimal, Decimal]:
    """Return the costs at most of a model and of its nodes, with a maximum of an autoscaler."""
    grows = {"elasticConfig": {"minReplicas": 1, "maxReplicas": most, "scaleTrigger": {"hpa": {}}}}
    found = bill(
        written([[open_model("w", "example/x", flavors=[flavor("g6.2xlarge")]), playground("one", "w", **grows)]]),
        {**AWS, "gpuNodes": {"types": {"g6.2xlarge": rule}}},
    )
    (model,) = found.models
    (nodes,) = [item for item in found.items if item.name == "node group g6-2xlarge"]
    assert model.usd_per_hour
    assert nodes.usd_per_hour
    return model.usd_per_hour.most, nodes.usd_per_hour.most


@pytest.mark.parametrize(("most_nodes", "paid"), [(2, 2), (6, 4)])
def test_a_model_costs_at_most_what_its_nodes_do(most_nodes: int, paid: int) -> None:
    model, nodes = scaled(4, {"maxNodes": most_nodes})
    assert model == paid * G6_2XLARGE <= nodes


@pytest.mark.parametrize("rule", [{}, {"maxNodes": 5}])
def test_a_model_without_replicas_needs_no_node_at_most(rule: dict[str, Any]) -> None:
    found = bill(
        written([served("none", flavor("g6.2xlarge"), replicas=0)]),
        {**AWS, "gpuNodes": {"types": {"g6.2xlarge": rule}}},
    )
    (nodes,) = [item for item in found.items if item.name == "node group g6-2xlarge"]
    assert nodes.counts == Amounts(Decimal(0), Decimal(0), Decimal(0))
