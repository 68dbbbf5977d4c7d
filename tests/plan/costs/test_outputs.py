"""What a fleet and a stack tell of their costs, and what a wrong price file does to them."""

from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.resources.serving.arguments import InvalidArguments
from tests.plan.costs.manifests import flavor, served
from tests.resources.serving.manifests import fleet
from tests.stacks.conftest import here as here
from tests.stacks.shipped import run

DOCUMENTS = [*served("one", flavor("g6.12xlarge"), replicas=2), *served("any", {"name": "any", "limits": {}})]
AWS = {"cloud": "aws", "region": "us-east-1"}


def once(number: float) -> dict[str, float]:
    """A number that never changes."""
    return {"now": number, "min": number, "max": number}


@pytest.mark.parametrize("preview", [False, True])
def test_a_fleet_says_what_its_models_would_cost(preview: bool) -> None:
    cost = fleet(DOCUMENTS, preview=preview).exports["cost"]
    # Two of four GPUs of a node for 4.6016 USD an hour.
    assert cost["models"]["one"] == {
        "usdPerMonth": once(1679.58),
        "usdPerHour": once(2.30),
        "usdPerMonthRange": {"low": 1679.58, "high": 1679.58},
        "accelerators": once(2.0),
    }
    assert cost["models"]["any"] == {
        "accelerators": once(0.0),
        "unpriced": "its pods do not specify a known instance type",
    }
    assert list(cost["models"]) == ["any", "one"]
    assert cost["usdPerMonth"] == once(0.0)
    assert cost["modelsUsdPerMonth"] == once(1679.58)
    assert (cost["items"], cost["unpriced"], cost["region"], cost["date"]) == ([], [], "", "2026-07-20")
    assert ["is not known" in note for note in cost["notes"]] == [True]


def test_a_fleet_on_aws_counts_nodes_that_others_make() -> None:
    cost = fleet(DOCUMENTS, cluster=AWS).exports["cost"]
    (item,) = cost["items"]
    assert item["usdPerMonth"] == cost["usdPerMonth"] == once(3359.17)
    assert (item["name"], item["unit"], item["count"], item["bought"]) == (
        "node group g6-12xlarge",
        "nodes",
        once(1.0),
        "on-demand",
    )
    assert item["usdPerUnitHour"]["usd"] == 4.6016
    assert 0 < item["usdPerUnitHour"]["committed"] < 4.6016
    assert any("does not manage nodes" in note for note in cost["notes"])


def test_prices_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("date: 2026-11-01\nregions: {us-east-1: {instances: {g6.12xlarge: {onDemand: 4}}}}\n")
    cost = fleet(DOCUMENTS, cluster=AWS, prices=str(file)).exports["cost"]
    assert cost["usdPerMonth"] == once(2920.0)
    assert cost["date"] == "2026-11-01"


def test_a_fleet_refuses_a_wrong_price_file_with_all_else_that_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("date: 2026-11-01\nregions:\n  mars: {}\n  us-east-1: {flat: {kms-kee: 1}}\n")
    with pytest.raises(InvalidArguments) as caught:
        fleet([*DOCUMENTS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}], prices=str(file))
    lines = str(caught.value)
    assert f"{file}:3: regions.mars: must be a region" in lines
    assert f"{file}:4: regions[us-east-1].flat[kms-kee]: unknown item 'kms-kee'; did you mean 'kms-key'?" in lines
    assert "Secret" in lines


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_shipped_stacks_have_a_price_for_everything(stack: str) -> None:
    cost = run(stack).exports["cost"]
    assert cost["unpriced"] == []
    assert [name for name, model in cost["models"].items() if "unpriced" in model] == []
    total = sum(item["usdPerMonth"]["now"] for item in cost["items"])
    assert abs(total - cost["usdPerMonth"]["now"]) < 0.01 * len(cost["items"])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "prices.yaml cannot be read: No such file or directory; correct the path"),
        ("date: [", "1: "),
        ("date: 2026-11-01\nregions: {mars: {}}", "2: regions.mars: must be a region"),
    ],
)
def test_a_stack_with_a_wrong_price_file_registers_nothing(text: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    if text is not None:
        file.write_text(text)
    made: list[Any] = []
    with pytest.raises(pulumi.RunError, match="nothing was created") as caught:
        made.append(run("dev", prices=str(file)))
    assert message in str(caught.value)
