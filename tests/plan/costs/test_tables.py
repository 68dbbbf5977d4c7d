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


@pytest.mark.parametrize("name", ["on_demand_us_east_1.csv", "instances.csv", "spot.csv", "flat.csv"])
def test_every_row_has_a_source_and_a_date_and_stands_once(name: str) -> None:
    found = rows(FOLDER / name)
    key = [column for column in ("region", "instance_type", "bought", "item") if column in found[0]]
    assert len({tuple(row[column] for column in key) for row in found}) == len(found)
    for row in found:
        assert datetime.date.fromisoformat(row["date"]) <= datetime.datetime.now(datetime.UTC).date()
        assert lookup_problems(row["source"]) == [], row
        assert Decimal(row.get("usd") or row["saved_percent"]) > 0 or row.get("saved_percent") == "0", row


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
    for path in sorted(FOLDER.glob("*.csv")):
        for address in {match for row in rows(path) for match in re.findall(r"https://[^\s,;()]+", row["source"])}:
            host, owner, *rest = address.removeprefix("https://").split("/")
            place = f"{host}/{owner}/{rest[0]}" if host == "github.com" else host
            assert f"https://{place}" in shown, place


def test_items_and_ways_are_words() -> None:
    assert {row["item"] for row in rows(FOLDER / "flat.csv")} <= set(ITEMS)
    ways = {Buying.ON_DEMAND, Buying.RESERVED, Buying.RESERVED_3Y}
    assert {row["bought"] for row in rows(FOLDER / "instances.csv")} == ways


def test_on_demand_prices_in_us_east_1_are_defined_once() -> None:
    priced = rows(FOLDER / "on_demand_us_east_1.csv")
    assert {(row["region"], row["bought"]) for row in priced} == {("us-east-1", Buying.ON_DEMAND)}
    assert ("us-east-1", Buying.ON_DEMAND) not in {
        (row["region"], row["bought"]) for row in rows(FOLDER / "instances.csv")
    }
    types = [
        row for table in ("accelerated_instances.csv", "general_instances.csv") for row in rows(FOLDER.parent / table)
    ]
    without = {row["instance_type"] for row in types if "no us-east-1 price" in row["source"]}
    names = {row["instance_type"] for row in types} - without | {"t4g.nano"}
    assert {row["instance_type"] for row in priced} == names


def test_an_instance_type_has_the_price_that_is_quoted() -> None:
    for name, node in instances().items():
        quote = quoted("us-east-1", name, Buying.ON_DEMAND)
        assert node.usd_per_hour == (quote.usd if quote else None), name


@pytest.mark.parametrize("table", ["accelerated_instances.csv", "general_instances.csv"])
def test_tables_of_instance_types_have_named_columns_alone(table: str) -> None:
    path = FOLDER.parent / table
    header, *lines = csv.reader(path.read_text().splitlines())
    assert all(header)
    assert {len(line) for line in lines} == {len(header)}


def test_no_region_but_the_first_has_types_whose_price_changed() -> None:
    """AWS lowered the prices of p4 and p5 after the day of the other regions' prices."""
    later = {row["instance_type"] for row in rows(FOLDER / "instances.csv") if row["region"] != "us-east-1"}
    assert not [name for name in later if re.match(r"p[456]", name)]


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
