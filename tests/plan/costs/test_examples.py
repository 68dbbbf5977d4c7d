"""The examples in the documentation, worked out there by hand, cost to the cent what is computed."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from components.plan.costs.bill import Amounts, by_month
from components.plan.costs.price_file import read_prices
from tests.plan.costs.stacks import bill, usd

PAGE = (Path(__file__).parents[3] / "docs/costs.md").read_text()
_BLOCK = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_ROW = re.compile(r"\| (?P<item>[^|]+) \| [^|]* \| (?P<now>[\d,.]+) \| (?P<least>[\d,.]+) \| (?P<most>[\d,.]+) \|")


@dataclass(frozen=True, slots=True)
class Example:
    """Settings, manifests, perhaps prices, and what each item costs a month."""

    title: str
    blocks: tuple[str, ...]
    rows: dict[str, Amounts]


def _example(text: str) -> Example:
    rows = {
        found["item"].strip(" *"): Amounts(usd(found["now"]), usd(found["least"]), usd(found["most"]))
        for found in _ROW.finditer(text)
    }
    return Example(text.splitlines()[0], tuple(_BLOCK.findall(text)), rows)


EXAMPLES = [_example(text) for text in PAGE.partition("## Worked examples")[2].split("\n### ")[1:]]


def test_there_are_three_with_rows() -> None:
    assert len(EXAMPLES) == 3
    assert [len(example.rows) for example in EXAMPLES] == [14, 9, 10]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_by_hand_and_computed_are_equal(example: Example) -> None:
    settings, manifests, *prices = example.blocks
    own, problems = read_prices(prices[0], "own.yaml") if prices else (None, ())
    assert problems == ()
    written = {key.removeprefix("inference-platform:"): value for key, value in yaml.safe_load(settings).items()}
    found = bill(manifests, written, own)
    assert found.unpriced == ()
    computed = {item.name: by_month(item.usd_per_hour) for item in found.items if item.usd_per_hour}
    computed["total"] = by_month(found.usd_per_hour)
    computed |= {
        f"model {model.title.partition('/')[2]}": by_month(model.usd_per_hour)
        for model in found.models
        if model.usd_per_hour
    }
    assert computed == example.rows
