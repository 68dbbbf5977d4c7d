"""What nodes that never scale down would cost with a commitment, and of which day a discount of spot is.

Prices with a commitment are those of AWS's price list of April 2025 (yeo/ec2.shop 74c9fd8a, Reserved Instances
without upfront payment, us-east-1): g6.2xlarge 0.63642 for one year and 0.44872 for three, m7i.large 0.06668 and
0.04572; and of September 2026 (instances.vantage.sh): p4d.24xlarge 13.921 and 9.374, p5.48xlarge 23.777 for three.
"""

from decimal import Decimal

import pytest

from components.fleet.prices import Buying, Quote, fixed_quote
from components.plan.costs.commitments import commitments
from components.plan.costs.prices import OwnPrices
from components.resources.serving.fleet.cost_output import cost_of
from tests.plan.costs.manifests import flavor, served, written
from tests.plan.costs.stacks import AWS, bill, planned, settings_of
from tests.plan.costs.test_bills import ONE, RESERVED, item, nodes, on_aws

SYSTEM = "system nodes"


def test_nodes_on_demand_are_compared_by_their_least_number() -> None:
    found = {each.name: each for each in commitments(on_aws(**nodes({"minNodes": 2, "maxNodes": 5})).items)}
    group = found["node group g6-2xlarge"]
    assert (group.nodes, group.usd_per_hour) == (Decimal(2), 2 * Decimal("0.9776"))
    assert (group.one_year, group.three_years) == (2 * Decimal("0.63642"), 2 * Decimal("0.44872"))
    system = found[SYSTEM]
    assert (system.one_year, system.three_years) == (2 * Decimal("0.06668"), 2 * Decimal("0.04572"))
    assert {each.date for each in found.values()} == {"2025-04-05"}


@pytest.mark.parametrize("rule", [{"capacity": "spot"}, {"maxNodes": 5}])
def test_nodes_on_spot_and_those_that_may_go_are_not(rule: dict[str, object]) -> None:
    manifests = written([served("one", flavor("g6.2xlarge"), replicas=0 if "maxNodes" in rule else 1)])
    found = commitments(on_aws(manifests, **nodes(rule, scaleToZero=True)).items)
    assert [each.name for each in found] == [SYSTEM]


def test_what_is_known_is_said_in_words() -> None:
    # (0.9776 + 2 x 0.1008) x 730; (0.63642 + 2 x 0.06668) x 730 = 561.9394; (0.44872 + 2 x 0.04572) x 730.
    (note,) = [note for note in on_aws().notes if "commitment" in note]
    assert note == (
        "Nodes that never scale down (node group g6-2xlarge, system nodes): $860.82 a month on demand; with a "
        "commitment $561.94 for one year, $394.32 for three years (Reserved Instances without upfront payment, "
        "prices of 2025-04-05; for comparison, not part of any total)."
    )


@pytest.mark.parametrize(
    ("kind", "on_demand", "year", "years", "said"),
    [
        (
            "p4d.24xlarge",
            "21.957642",
            "13.921",
            "9.374",
            # 3 nodes for 730 hours, with 2 x 0.1008, 2 x 0.06668 and 2 x 0.04572 for those of the system.
            "(node group p4d-24xlarge-odcr, system nodes): $48,234.40 a month on demand; with a commitment "
            "$30,584.34 for one year, $20,595.81 for three years",
        ),
        (
            "p5.48xlarge",
            "55.04",
            None,
            "23.777",
            "(node group p5-48xlarge-odcr): $120,537.60 a month on demand; with a commitment unknown for one "
            "year, $52,071.63 for three years",
        ),
        (
            "p4de.24xlarge",
            "27.44705",
            None,
            None,
            "(node group p4de-24xlarge-odcr): $60,109.04 a month on demand; with a commitment: unknown.",
        ),
    ],
)
def test_large_nodes_of_a_reservation(
    kind: str, on_demand: str, year: str | None, years: str | None, said: str
) -> None:
    found = on_aws(written([served("one", flavor(kind, 8))]), **nodes(RESERVED, kind))
    (group,) = [each for each in commitments(found.items) if each.name != SYSTEM]
    assert group.usd_per_hour == 3 * Decimal(on_demand)
    assert group.one_year == (None if year is None else 3 * Decimal(year))
    assert group.three_years == (None if years is None else 3 * Decimal(years))
    assert any(said in note for note in found.notes)


def test_prices_of_ones_own_count_more() -> None:
    quotes: dict[tuple[str, str, str], Quote] = {
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
    assert (line["usdPerUnitHour"]["committed"], line["usdPerUnitHour"]["committed3Y"]) == (0.63642, 0.44872)


def test_spot_has_the_day_of_its_discount_in_its_line_and_in_the_notes() -> None:
    found = on_aws(**nodes({"capacity": "spot"}))
    price = item(found, "node group g6-2xlarge-spot").price
    assert price is not None
    assert price.source.startswith("58 % less than on demand on average over 30 days until 2025-06-28: AWS Spot")
    assert price.source.endswith("/pkg/providers/pricing/zz_generated.pricing_aws.go, 2026-07-20")
    (note,) = [note for note in found.notes if note.startswith("Spot counts")]
    assert "in the 30 days until 2025-06-28 (AWS Spot Instance Advisor)" in note


def test_spot_prices_of_ones_own_are_no_average() -> None:
    quote = fixed_quote(Decimal("0.5"), "2026-11-01", "ours")
    own = OwnPrices(instances={("us-east-1", "g6.2xlarge", Buying.SPOT): quote})
    assert not [note for note in on_aws(own=own, **nodes({"capacity": "spot"})).notes if note.startswith("Spot")]
