"""What nodes that never scale down would cost under a commitment, and of which day a discount of spot is.

Prices under a commitment are those of AWS's price list of April 2025 (yeo/ec2.shop 74c9fd8a, Reserved Instances
without upfront payment, us-east-1): g6.2xlarge 0.63642 for one year and 0.44872 for three, m7i.large 0.06668 and 0.04572. Of
p5.48xlarge there is none that is as new as its price on demand.
"""

from decimal import Decimal

import pytest

from components.costs.commitments import commitments
from components.costs.prices import OwnPrices
from components.costs.tables import Buying, fixed_quote
from components.serving.fleet.cost_output import cost_of
from tests.costs.manifests import flavor, served, written
from tests.costs.stacks import AWS, bill, planned, settings_of
from tests.costs.test_bills import ONE, RESERVED, item, nodes, on_aws

SYSTEM = "system nodes"


def test_nodes_on_demand_are_compared_by_their_least_number() -> None:
    found = {each.name: each for each in commitments(on_aws(**nodes({"minNodes": 2, "maxNodes": 5})).items)}
    group = found["node group g6-2xlarge"]
    assert (group.nodes, group.usd_per_hour) == (2, 2 * Decimal("0.9776"))
    assert (group.one_year, group.three_years) == (2 * Decimal("0.63642"), 2 * Decimal("0.44872"))
    system = found[SYSTEM]
    assert (system.one_year, system.three_years) == (2 * Decimal("0.06668"), 2 * Decimal("0.04572"))
    assert {each.date for each in found.values()} == {"2025-04-05"}


@pytest.mark.parametrize("rule", [{"capacity": "spot"}, {"maxNodes": 5}])
def test_nodes_on_spot_and_those_that_may_go_are_not(rule: dict[str, object]) -> None:
    manifests = written([served("one", flavor("g6.2xlarge"), replicas=0 if "maxNodes" in rule else 1)])
    found = commitments(on_aws(manifests, **nodes(rule, scaleToZero=True)).items)
    assert [each.name for each in found] == [SYSTEM]


def test_what_is_not_known_is_named() -> None:
    manifests = written([served("one", flavor("p5.48xlarge", 8))])
    notes = on_aws(manifests, **nodes(RESERVED, "p5.48xlarge")).notes
    # 3 x 55.04 x 730 USD.
    (unknown,) = [note for note in notes if "is not known" in note and "commitment" in note]
    assert "node group p5-48xlarge-odcr, $120,537.60 a month on demand" in unknown


def test_the_words_have_all_three_prices() -> None:
    (note,) = [note for note in on_aws().notes if note.startswith("Nodes that never scale down")]
    # (0.9776 + 2 x 0.1008) x 730 = 860.816; (0.63642 + 2 x 0.06668) x 730 = 561.9394; (0.44872 + 2 x 0.04572) x 730.
    assert "on demand: $860.82 a month" in note
    assert "one year they would cost $561.94, of three years $394.32" in note
    assert "2025-04-05; a comparison, in no sum" in note


def test_prices_of_ones_own_count_more() -> None:
    quotes = {
        ("us-east-1", "g6.2xlarge", Buying.RESERVED): fixed_quote(Decimal("0.5"), "2026-11-01", "ours"),
        ("us-east-1", "g6.2xlarge", Buying.RESERVED_3Y): fixed_quote(Decimal("0.4"), "2026-11-01", "ours"),
    }
    found = {each.name: each for each in commitments(on_aws(own=OwnPrices(instances=quotes)).items)}
    group = found["node group g6-2xlarge"]
    assert (group.one_year, group.three_years, group.date) == (Decimal("0.5"), Decimal("0.4"), "2026-11-01")


def test_a_comparison_is_in_no_sum() -> None:
    found = on_aws()
    assert found.usd_per_hour.now == sum(each.usd_per_hour.now for each in found.items if each.usd_per_hour)
    price = item(found, "node group g6-2xlarge").price
    assert price is not None
    assert price.usd == Decimal("0.9776")


def test_the_output_has_both_prices() -> None:
    lines = cost_of(planned(ONE, settings_of(AWS)), bill(ONE, AWS))["items"]
    (line,) = [each for each in lines if each["name"] == "node group g6-2xlarge"]
    assert (line["usdPerUnitHour"]["committed"], line["usdPerUnitHour"]["committed3y"]) == (0.63642, 0.44872)


def test_spot_has_the_day_of_its_discount_in_its_line_and_in_the_notes() -> None:
    found = on_aws(**nodes({"capacity": "spot"}))
    price = item(found, "node group g6-2xlarge-spot").price
    assert price is not None
    assert price.source.startswith("58 % less than on demand on average over 30 days until 2025-06-28: AWS Spot")
    assert price.source.endswith("pkg/providers/pricing, 2026-07-20")
    (note,) = [note for note in found.notes if note.startswith("Spot counts")]
    assert "in the 30 days until 2025-06-28 (AWS Spot Instance Advisor)" in note


def test_spot_prices_of_ones_own_are_no_average() -> None:
    quote = fixed_quote(Decimal("0.5"), "2026-11-01", "ours")
    own = OwnPrices(instances={("us-east-1", "g6.2xlarge", Buying.SPOT): quote})
    assert not [note for note in on_aws(own=own, **nodes({"capacity": "spot"})).notes if note.startswith("Spot")]
