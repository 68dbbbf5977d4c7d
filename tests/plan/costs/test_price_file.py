"""A file with prices of one's own: what it says counts, and every mistake is told."""

import json
import re
from decimal import Decimal
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.fleet.prices import Buying, Flat
from components.plan.costs.price_file import read_prices
from components.plan.costs.price_schema import price_schema
from components.plan.costs.prices import OwnPrices, Prices
from stacks.settings_schema import PRICES

PAGE = (Path(__file__).parents[3] / "docs/costs.md").read_text()
SECTION = PAGE.partition("## Your own prices")[2].partition("## Worked examples")[0]
REGION = "eu-central-1"


def block(start: str) -> str:
    """The block in the section about the file that begins so."""
    found = re.search(rf"```(?:yaml)?\n({start}.*?)```", SECTION, re.DOTALL)
    assert found
    return found[1]


def below(text: str, region: str = "us-east-1") -> str:
    """A file with something of a region."""
    return f"date: 2026-11-01\nregions:\n  {region}:\n    {text}\n"


@pytest.mark.parametrize(("name", "start"), [("own.yaml", "date"), ("own.csv", "region")])
def test_the_examples_in_the_documentation(name: str, start: str) -> None:
    own, problems = read_prices(block(start), name)
    assert problems == ()
    prices = Prices(REGION, own)
    spot, gateway = prices.node(["g6.2xlarge"], Buying.SPOT), prices.flat(Flat.NAT_GATEWAY)
    assert not isinstance(spot, str)
    assert not isinstance(gateway, str)
    assert (spot.low, spot.usd, spot.high) == (Decimal("0.38"), Decimal("0.52"), Decimal("0.52"))
    assert (spot.date, spot.source) == ("2026-11-01", "our agreement of 2026, 2026-11-01")
    assert gateway.usd == Decimal("0.052")


def test_own_prices_replace_and_others_stay() -> None:
    own, _ = read_prices(below("instances: {g6.2xlarge: {onDemand: 0.5}}"), "own.yaml")
    prices = Prices("us-east-1", own)
    replaced, stayed = (prices.node([name], Buying.ON_DEMAND) for name in ("g6.2xlarge", "g6.4xlarge"))
    assert not isinstance(replaced, str)
    assert not isinstance(stayed, str)
    assert (replaced.usd, replaced.source) == (Decimal("0.5"), "own.yaml, 2026-11-01")
    assert stayed.usd == Decimal("1.3232")
    # Spot is as much below the price of one's own as it is below that of AWS.
    shipped, ours = (Prices("us-east-1", each).node(["g6.2xlarge"], Buying.SPOT) for each in (OwnPrices(), own))
    assert not isinstance(shipped, str)
    assert not isinstance(ours, str)
    assert ours.usd / Decimal("0.5") == shipped.usd / Decimal("0.9776")


def test_a_price_for_all_regions() -> None:
    own, _ = read_prices(below("flat: {kms-key: 730}", '"*"'), "own.yaml")
    key = Prices("ap-south-1", own).flat(Flat.KEY)
    assert not isinstance(key, str)
    assert key.usd == 1


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "must be one YAML document, found 0"),
        ("a: 1\n---\nb: 2\n", 1, "must be one YAML document, found 2"),
        ("[]", 1, "must be a map, found []"),
        ("{}", 1, "date: must be the date of the prices, such as 2026-11-01, found nothing"),
        (
            "date: yesterday",
            1,
            "date: must be the date of the prices, such as 2026-11-01, found 'yesterday'",
        ),
        ("date: 2026-02-30", 1, "date: must be the date of the prices"),
        ("date: 2026-11-01\nregion: {}", 2, "region: unknown key; did you mean 'regions'?"),
        ("date: 2026-11-01\nsource: [1]", 2, "source: must be a text, found [1]"),
        ("date: 2026-11-01\nregions: []", 2, "regions: must be a map, found []"),
        (
            below("{}", "mars"),
            3,
            "regions.mars: must be a region such as eu-central-1, or * for all regions, found 'mars'",
        ),
        (below("instance: {}"), 4, "instance: unknown key; did you mean 'instances'?"),
        (below("instances: {g6.2xlrge: {}}"), 4, "unknown instance type 'g6.2xlrge'; did you mean 'g6.2xlarge'?"),
        (below("instances: {g6.2xlarge: 1}"), 4, "must be a map, found 1"),
        (below("instances: {g6.2xlarge: {ondemand: 1}}"), 4, "unknown key; did you mean 'onDemand'?"),
        (below("instances: {g6.2xlarge: {onDemand: cheap}}"), 4, "must be a number of US dollars, found 'cheap'"),
        (below("instances: {g6.2xlarge: {onDemand: true}}"), 4, "must be a number of US dollars, found True"),
        (below("instances: {g6.2xlarge: {onDemand: null}}"), 4, "must be a number of US dollars, found None"),
        (below("instances: {g6.2xlarge: {onDemand: -1}}"), 4, "must be between 0 and 1000000, found -1"),
        (below("instances: {g6.2xlarge: {onDemand: 1e300}}"), 4, "must be between 0 and 1000000, found 1e+300"),
        (below("instances: {g6.2xlarge: {spot: {}}}"), 4, "must have one of usd, low, high"),
        (below("instances: {g6.2xlarge: {spot: {hi: 1}}}"), 4, "spot.hi: unknown key; did you mean 'high'?"),
        (below("instances: {g6.2xlarge: {spot: {low: 2, high: 1}}}"), 4, "found low 2, usd 2 and high 1"),
        (below("flat: {natgateway: 1}"), 4, "unknown item 'natgateway'; did you mean 'nat-gateway'?"),
        (below("flat: {nat-gateway: {usd: 1}}"), 4, "must be a number of US dollars, found {'usd': 1}"),
        (below("flat: {nat-gateway: 1, nat-gateway: 2}"), 4, "key 'nat-gateway' occurs twice; remove one"),
        ("date: [", 1, ""),
        ("date: 2026-11-01\nregions: {us-east-1: {flat: {kms-key: .nan}}}", 2, "JSON"),
        ("date: 2026-11-01\nregions: {us-east-1: {flat: {kms-key: 1e999}}}", 2, ""),
        ("date: !!python/object:os.system x", 1, "is not allowed"),
    ],
)
def test_mistakes_in_yaml(text: str, line: int, message: str) -> None:
    own, problems = read_prices(text, "own.yaml")
    assert own == OwnPrices()
    assert problems
    assert (problems[0].file, problems[0].line, problems[0].rule) == ("own.yaml", line, RuleId.SETTINGS)
    assert message in f"{problems[0].path}: {problems[0].reason}"


HEAD = "region,item,bought,usd,low,high,date\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "must begin with a line of columns"),
        ("region,item\n", 1, "bought, usd, low, high, date missing"),
        (f"{HEAD}mars,kms-key,,1,,,2026-11-01\n", 2, "region: must be a region such as eu-central-1"),
        (f"{HEAD}us-east-1,kms-kee,,1,,,2026-11-01\n", 2, "unknown item 'kms-kee'; did you mean 'kms-key'?"),
        (f"{HEAD}us-east-1,kms-key,,,,,2026-11-01\n", 2, "usd: must be a number of US dollars, found None"),
        (f"{HEAD}us-east-1,kms-key,,NaN,,,2026-11-01\n", 2, "usd: must be a number of US dollars, found 'NaN'"),
        (f"{HEAD}us-east-1,kms-key,,1e99999999,,,2026-11-01\n", 2, "must be between 0 and 1000000"),
        (
            f"{HEAD}us-east-1,g6.2xlarge,spt,1,,,2026-11-01\n",
            2,
            "unknown purchase option 'spt'; did you",
        ),
        (f"{HEAD}us-east-1,g6,spot,1,,,2026-11-01\n", 2, "item: unknown instance type 'g6'"),
        (f"{HEAD}us-east-1,kms-key,,1,,,\n", 2, "date: must be the date"),
        (f"{HEAD}us-east-1,kms-key,,1,,,2026-11-01,a,b\n", 2, "more values than columns"),
        (f'{HEAD}us-east-1,"kms-key,,1,,,2026-11-01\n', 2, "is not CSV"),
    ],
)
def test_mistakes_in_csv(text: str, line: int, message: str) -> None:
    own, problems = read_prices(text, "own.csv")
    assert own == OwnPrices()
    assert (problems[0].file, problems[0].line) == ("own.csv", line)
    assert message in "; ".join(f"{problem.path}: {problem.reason}" for problem in problems)


def test_every_mistake_is_told_at_its_line() -> None:
    text = "regions:\n  us-east-1:\n    flat:\n      kms-key: no\n      nat-gate: 1\n  mars: {}\n"
    _, problems = read_prices(text, "own.yaml")
    assert [(problem.line, problem.path) for problem in problems] == [
        (1, "date"),
        (4, "regions[us-east-1].flat[kms-key]"),
        (5, "regions[us-east-1].flat[nat-gate]"),
        (6, "regions.mars"),
    ]


@given(st.text() | st.sampled_from(["a: &a [*a]", "\x00", "- " * 5000, "{" * 5000, "\ud800"]))
def test_no_text_ends_in_a_traceback(text: str) -> None:
    for name in ("own.yaml", "own.csv"):
        own, problems = read_prices(text, name)
        assert problems or own == OwnPrices()


@pytest.mark.parametrize("hostile", ["a\nerror: b", "\x1b[31m", "\u202e", "x" * 10_000])
def test_what_others_wrote_stays_on_one_short_line(hostile: str) -> None:
    text = json.dumps({"date": "2026-11-01", "regions": {"us-east-1": {"flat": {hostile: 1}}}})
    lines = [str(problem) for problem in read_prices(text, "own.yaml")[1]]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert lines[0].isprintable()


def test_the_schema_is_up_to_date() -> None:
    assert json.loads(PRICES.read_text()) == json.loads(json.dumps(price_schema())), "run make settings-schema"


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({"date": "2026-11-01"}, True),
        ({}, False),
        ({"date": "2026-11-01", "regions": {"*": {"flat": {"kms-key": 1}}}}, True),
        ({"date": "2026-11-01", "regions": {"mars": {}}}, False),
        ({"date": "2026-11-01", "regions": {REGION: {"instances": {"g6.2xlarge": {"spot": 1}}}}}, True),
        ({"date": "2026-11-01", "regions": {REGION: {"instances": {"g6.2xlarge": {"spot": {"low": 1}}}}}}, True),
        ({"date": "2026-11-01", "regions": {REGION: {"instances": {"g6.2xlarge": {"spot": {}}}}}}, False),
        ({"date": "2026-11-01", "regions": {REGION: {"instances": {"g6.2xlarge": {"spotty": 1}}}}}, False),
        ({"date": "2026-11-01", "regions": {REGION: {"flat": {"kms-key": -1}}}}, False),
        ({"date": "2026-11-01", "regions": {REGION: {"flat": {"key": 1}}}}, False),
        ({"date": "2026-11-01", "extra": 1}, False),
    ],
)
def test_schema_and_reader_agree(value: object, valid: bool) -> None:
    problems: tuple[Problem, ...] = read_prices(json.dumps(value), "own.yaml")[1]
    assert (problems == ()) is valid
    assert jsonschema_rs.is_valid(price_schema(), value) is valid
