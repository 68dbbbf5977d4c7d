"""Models without reference figures: estimates, with a range, for every model of the catalog."""

import json
from decimal import Decimal

import pytest

from components.checks.memory.catalog import names
from components.fleet.levels import Load
from tests.commands.support import workbench
from workbench.sizing.estimates import estimated_candidates

LOAD = Load(Decimal(120), Decimal(300), Decimal(1000))
UNKNOWN = {
    "deepseek-ai/DeepSeek-V4-Flash",
    "moonshotai/Kimi-K3",
    "XiaomiMiMo/MiMo-V2-Flash",
    "MiniMaxAI/MiniMax-M3",
    "stepfun-ai/Step-3.7-Flash",
    "stepfun-ai/Step-3.7-Flash-FP8",
}
"""Models of which neither the size nor the parameters are known."""
TARGETS = (
    "--rate",
    "120",
    "--input-tokens",
    "1000",
    "--output-tokens",
    "300",
    "--slo-itl",
    "60",
    "--slo-ttft",
    "2000",
)


def test_every_model_of_the_catalog_has_an_estimate() -> None:
    silent = {name for name in names() if not estimated_candidates(name, LOAD)}
    assert {name.rpartition("/")[2] for name in silent} == {name.rpartition("/")[2] for name in UNKNOWN}


@pytest.mark.parametrize("name", ["Qwen/Qwen3-14B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-R1"])
def test_the_range_is_that_of_published_measurements(name: str) -> None:
    for candidate in estimated_candidates(name, LOAD):
        assert candidate.ends
        fast, slow = candidate.ends
        assert fast.alpha * 2.2 == pytest.approx(candidate.profile.alpha, abs=1e-3)
        assert slow.alpha / 2.2 == pytest.approx(candidate.profile.alpha, abs=1e-3)
        assert candidate.profile.alpha >= 0
        assert candidate.profile.beta >= 0
        assert candidate.is_estimated


def test_names_without_an_estimate_are_refused_as_before() -> None:
    assert estimated_candidates("acme/nothing", LOAD) == ()
    done = workbench("size", "--model", "acme-nothing", *TARGETS)
    assert done.returncode == 2
    assert "no reference figures for 'acme-nothing'" in done.stderr


def test_an_estimate_says_that_it_is_one() -> None:
    done = workbench("size", "--model", "qwen3-14b", *TARGETS)
    assert done.returncode == 0
    assert "Estimates with their uncertainty range; benchmark before relying on them." in done.stdout
    assert (
        "note: these are estimates; benchmark before relying on them: Qwen/Qwen3-14B has no benchmark" in done.stderr
    )
    assert "the time for prompts is left out" in done.stderr


def test_one_replica_fewer_does_not_carry_the_load() -> None:
    rows = json.loads(workbench("size", "--model", "qwen3-14b", *TARGETS, "--output", "json").stdout)["accelerators"]
    feasible = [row for row in rows if row["feasible"]]
    assert feasible
    for row in feasible:
        assert (row["replicas"] - 1) * row["mostPerMinute"] < 120 <= row["replicas"] * row["mostPerMinute"]


def test_reference_figures_come_first() -> None:
    done = workbench("size", "--model", "llama-3.1-8b", *TARGETS)
    assert "these are reference figures" in done.stderr
