"""The shipped prices: each with source and date, and none that contradicts another."""

import csv
import datetime
import re
from decimal import Decimal
from pathlib import Path

import pytest

import components.clouds.aws.prices
from components.clouds.aws.prices.tables import ITEMS, AwsItem, quoted
from components.fleet.instances import instances
from components.fleet.prices import Buying, Flat
from components.plan.costs.prices import Prices

FOLDER = Path(components.clouds.aws.prices.__file__).parent
REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1", "ap-northeast-1")


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("name", ["reserved.csv", "flat.csv"])
def test_every_row_has_a_source_and_a_date_and_stands_once(name: str) -> None:
    found = rows(FOLDER / name)
    key = [column for column in ("region", "instance_type", "bought", "item") if column in found[0]]
    assert len({tuple(row[column] for column in key) for row in found}) == len(found)
    for row in found:
        assert_dated(row)
        assert Decimal(row["usd"]) > 0, row


@pytest.mark.parametrize(("table", "name"), [("on-demand", "on_demand.csv"), ("spot", "spot.csv")])
def test_every_column_has_a_source_and_a_date_and_every_row_stands_once(table: str, name: str) -> None:
    found = rows(FOLDER / name)
    sources = {row["region"]: row for row in rows(FOLDER.parent / "sources.csv") if row["table"] == table}
    assert set(sources) == set(found[0]) - {"instance_type"}
    for row in sources.values():
        assert_dated(row)
        assert bool(row["average"]) == (table == "spot")
    assert len({row["instance_type"] for row in found}) == len(found)
    cells = [value for row in found for region, value in row.items() if region != "instance_type" and value]
    assert all(0 <= Decimal(cell) < (1000 if table == "on-demand" else 100) for cell in cells)


def assert_dated(row: dict[str, str]) -> None:
    assert datetime.date.fromisoformat(row["date"]) <= datetime.datetime.now(datetime.UTC).date()
    assert lookup_problems(row["source"]) == [], row


def lookup_problems(source: str) -> list[str]:
    """Return why a reader could not look a price up: it needs the address of a page, or of a file at a commit."""
    addresses = re.findall(r"https://[^\s,;()]+", source)
    problems = [] if addresses else ["no address"]
    for address in addresses:
        host, _, path = address.removeprefix("https://").partition("/")
        if not path:
            problems.append(f"{address}: a site, not a page")
        elif host == "github.com" and not re.fullmatch(r"[\w.-]+/[\w.-]+/(blob|tree)/[0-9a-f]{7,40}/\S+", path):
            problems.append(f"{address}: not a file at a commit")
    return problems


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("https://aws.amazon.com/ecr/pricing/ (2026-03-01)", ""),
        ("https://github.com/yeo/ec2.shop/blob/74c9fd8a/data/ebs/ebs.json", ""),
        ("AWS price list of April 2025, in yeo/ec2.shop@74c9fd8a", "no address"),
        ("a table of our own, which nobody else has", "no address"),
        ("https://instances.vantage.sh", "a site"),
        ("https://github.com/yeo/ec2.shop/blob/master/data/ebs/ebs.json", "not a file at a commit"),
        ("https://github.com/yeo/ec2.shop", "not a file at a commit"),
    ],
)
def test_a_source_that_cannot_be_looked_up_is_found(source: str, problem: str) -> None:
    problems = lookup_problems(source)
    assert bool(problems) == bool(problem)
    assert all(problem in each for each in problems)


def test_the_page_names_the_sources_of_the_tables() -> None:
    """Every repository and site of a table is a link on the page about costs."""
    shown = (FOLDER.parents[3] / "docs/costs.md").read_text(encoding="utf-8")
    for path in (FOLDER / "reserved.csv", FOLDER / "flat.csv", FOLDER.parent / "sources.csv"):
        for address in {match for row in rows(path) for match in re.findall(r"https://[^\s,;()]+", row["source"])}:
            host, owner, *rest = address.removeprefix("https://").split("/")
            place = f"{host}/{owner}/{rest[0]}" if host == "github.com" else host
            assert f"https://{place}" in shown, place


def test_items_and_ways_are_words() -> None:
    assert {row["item"] for row in rows(FOLDER / "flat.csv")} <= set(ITEMS)
    assert {row["bought"] for row in rows(FOLDER / "reserved.csv")} == {Buying.RESERVED, Buying.RESERVED_3Y}


def test_every_priced_type_is_a_known_type() -> None:
    for name in ("on_demand.csv", "spot.csv", "reserved.csv"):
        assert {row["instance_type"] for row in rows(FOLDER / name)} <= set(instances()), name


def test_an_instance_type_has_the_price_that_is_quoted() -> None:
    for name, node in instances().items():
        quote = quoted("us-east-1", name, Buying.ON_DEMAND)
        assert node.usd_per_hour == (quote.usd if quote else None), name


@pytest.mark.parametrize("table", ["accelerated_instances.csv", "general_instances.csv", "sources.csv"])
def test_tables_of_instance_types_have_named_columns_alone(table: str) -> None:
    path = FOLDER.parent / table
    header, *lines = csv.reader(path.read_text().splitlines())
    assert all(header)
    assert {len(line) for line in lines} == {len(header)}


def test_no_region_but_those_of_2026_has_types_whose_price_changed() -> None:
    """AWS lowered the prices of p4 and p5 after the day of the other regions' prices."""
    current = {
        row["region"]
        for row in rows(FOLDER.parent / "sources.csv")
        if row["table"] == "on-demand" and row["date"] >= "2026-01-01"
    }
    assert "us-east-1" in current
    lowered = [row for row in rows(FOLDER / "on_demand.csv") if re.match(r"p[456]", row["instance_type"])]
    assert not [
        (row["instance_type"], region)
        for row in lowered
        for region in set(row) - current - {"instance_type"}
        if row[region]
    ]


def test_a_commitment_is_cheaper_and_spot_no_dearer_than_on_demand() -> None:
    counted = 0
    for region in REGIONS:
        for name in instances():
            full = quoted(region, name, Buying.ON_DEMAND)
            committed, spot = quoted(region, name, Buying.RESERVED), Prices(region).node([name], Buying.SPOT)
            if full and committed:
                counted += 1
                longer = quoted(region, name, Buying.RESERVED_3Y)
                assert longer is not None
                assert longer.usd < committed.usd < full.usd, (region, name)
            if full and not isinstance(spot, str):
                assert 0 < spot.usd <= full.usd == spot.high, (region, name)
    assert counted > 400


@pytest.mark.parametrize(
    ("region", "name", "usd"),
    [
        ("us-east-1", "g5.2xlarge", "1.212"),
        ("us-east-1", "t4g.nano", "0.0042"),
        ("us-west-2", "g5.2xlarge", "1.212"),
        ("eu-west-1", "g5.2xlarge", "1.35296"),
        ("eu-central-1", "g4dn.xlarge", "0.658"),
        ("ap-northeast-1", "g4dn.xlarge", "0.71"),
        # skypilot-org/skypilot-catalog at e385a0d3, catalogs/v8/aws/vms.csv.
        ("us-east-1", "i7ie.18xlarge", "9.3564"),
        ("us-west-2", "i7ie.48xlarge", "24.9504"),
        ("eu-west-2", "i7ie.6xlarge", "3.6294"),
        ("ap-northeast-1", "i7ie.large", "0.3059"),
        ("eu-central-1", "i7ie.2xlarge", "1.242"),
        ("ap-south-1", "a1.2xlarge", "0.204"),
        ("ap-southeast-1", "a1.xlarge", "0.1176"),
        ("us-west-1", "c3.large", "0.12"),
        ("ap-southeast-2", "c3.8xlarge", "2.117"),
    ],
)
def test_prices_as_aws_lists_them(region: str, name: str, usd: str) -> None:
    quote = quoted(region, name, Buying.ON_DEMAND)
    assert quote is not None
    assert quote.usd == Decimal(usd)


@pytest.mark.parametrize(
    ("item", "month"),
    [
        # What infracost's test data say for 730 hours or a month (internal/providers/terraform/aws/testdata).
        (Flat.CONTROL_PLANE, "73.00"),
        (Flat.EXTENDED_SUPPORT, "438.00"),
        (Flat.NAT_GATEWAY, "32.85"),
        (Flat.INTERFACE_ENDPOINT, "7.30"),
        (Flat.LOAD_BALANCER, "16.425"),
        (Flat.DISK_GIB, "0.08"),
        (Flat.DISK_THROUGHPUT, "0.04"),
        (Flat.DISK_IOPS, "0.005"),
        (AwsItem.EFS_THROUGHPUT, "6"),
        (Flat.KEY, "1"),
        (Flat.PUBLIC_IPV4, "3.65"),
    ],
)
def test_flat_prices_of_us_east_1_by_the_month(item: str, month: str) -> None:
    price = Prices("us-east-1").flat(item)
    assert not isinstance(price, str)
    assert abs(price.usd * 730 - Decimal(month)) < Decimal("1e-20")
