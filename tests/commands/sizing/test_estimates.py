"""Models without reference figures: estimates, with a range, for every model of the catalog."""

import json
from decimal import Decimal

import pytest

from components.checks.memory.catalog import names
from components.fleet.levels import Load
from livefleet.pace.estimates import ranges
from tests.commands.support import workbench
from workbench.sizing.estimates import estimated_candidates

LOAD = Load(Decimal(120), Decimal(300), Decimal(1000))
UNKNOWN = {
    "deepseek-ai/DeepSeek-V4-Flash",
    "moonshotai/Kimi-K3",
    "XiaomiMiMo/MiMo-V2-Flash",
    "stepfun-ai/Step-3.7-Flash",
    "stepfun-ai/Step-3.7-Flash-FP8",
}
"""Models of which neither the size nor the parameters are known."""
ENCODERS = {"BAAI/bge-m3", "BAAI/bge-reranker-v2-m3", "intfloat/multilingual-e5-large-instruct"}
"""Models that generate no tokens."""
GENERATIONS = {"H100": "hopper", "H200": "hopper", "B200": "blackwell", "B300": "blackwell"}
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
    expected = UNKNOWN | ENCODERS
    assert {name.rpartition("/")[2] for name in silent} == {name.rpartition("/")[2] for name in expected}


@pytest.mark.parametrize("name", ["Qwen/Qwen3-14B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-R1"])
def test_the_range_is_that_of_published_measurements(name: str) -> None:
    for candidate, _ in estimated_candidates(name, LOAD):
        assert candidate.ends
        fast, slow = candidate.ends
        accelerator = candidate.profile.accelerator
        known = ranges()["vllm"][GENERATIONS.get(accelerator, "older")]
        assert fast.alpha * known["faster"] == pytest.approx(candidate.profile.alpha, abs=1e-3)
        assert slow.alpha / known["slower"] == pytest.approx(candidate.profile.alpha, abs=1e-3)
        beside = 65 if accelerator not in GENERATIONS else 0
        assert slow.gamma == pytest.approx(candidate.profile.gamma * known["first"] + beside, abs=1e-3)
        assert fast.gamma == pytest.approx(candidate.profile.gamma / known["first"], abs=1e-3)
        assert candidate.profile.alpha >= 0
        assert candidate.profile.beta >= 0
        assert candidate.is_estimated


def test_names_without_an_estimate_are_refused_as_before() -> None:
    assert estimated_candidates("acme/nothing", LOAD) == ()
    done = workbench("size", "--model", "acme-nothing", *TARGETS)
    assert done.returncode == 2
    assert "no reference figures for 'acme-nothing'" in done.stderr


def test_a_repository_that_is_estimated_from_its_name_has_an_estimate() -> None:
    """DeepSeek-V3.1 has the layers and the data type of DeepSeek-V3."""
    known, named = (
        {
            (each.candidate.profile.accelerator, each.candidate.profile.count)
            for each in estimated_candidates(name, LOAD)
        }
        for name in ("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3.1")
    )
    assert known == named


def test_whole_instances_cost_what_fit_says() -> None:
    """Two H100 are a quarter of the smallest instance that has two."""
    model = "openai/gpt-oss-120b"
    sized = workbench("size", "--model", model, *TARGETS, "--accelerator", "H100")
    fitting = json.loads(workbench("fit", model, "--gpu", "p5.48xlarge", "--format", "json").stdout)
    (option,) = fitting["options"]
    assert option["usdPerHour"] == pytest.approx(55.04)
    assert sized.returncode == 0
    assert (
        "2 x H100: prices are the share of the accelerators in use; whole instances, 1 x p5.48xlarge, "
        f"cost ${option['usdPerHour'] * 730:,.0f} a month" in " ".join(sized.stdout.split())
    )


def test_instances_that_are_in_use_as_a_whole_are_not_repeated() -> None:
    done = workbench("size", "--model", "qwen3-8b", *TARGETS, "--accelerator", "L40S")
    assert done.returncode == 0
    assert "whole instances" not in done.stdout


def test_an_estimate_says_that_it_is_one() -> None:
    done = workbench("size", "--model", "qwen3-14b", *TARGETS)
    assert done.returncode == 0
    assert "Estimates with their uncertainty range; benchmark before relying on them." in " ".join(
        done.stdout.split()
    )
    assert (
        "note: these are estimates; benchmark before relying on them: Qwen/Qwen3-14B has no benchmark" in done.stderr
    )
    assert "only the queueing time is predicted" not in done.stderr
    assert " TTFT MS " in done.stdout


def test_a_profile_is_a_line_through_the_steps_that_count() -> None:
    """Of one request, and of as many as the target allows; with the prompts of the others between the tokens."""
    load = Load(Decimal(0), Decimal(301), Decimal(1000))
    for candidate, pace in estimated_candidates("openai/gpt-oss-120b", load, itl_ms=25):
        profile, prompt = candidate.profile, pace.prompt(1000) * 1000
        assert profile.gamma - prompt + profile.beta - prompt / 300 == pytest.approx(
            pace.step(1, 1150.5) * 1000, rel=1e-3
        )
        alone = max(profile.alpha + prompt / 300, 0) + profile.beta - prompt / 300
        assert alone == pytest.approx(pace.step(1, 1150.5) * 1000, rel=1e-3)
        allowed = int((25 - profile.alpha) / profile.beta)
        if 2 < allowed < profile.batch:
            exact = pace.step(allowed, allowed * 1150.5) * 1000 + (allowed - 1) * prompt / 300
            assert exact == pytest.approx(25, rel=0.05)


def test_a_measured_prefill_takes_the_place_of_the_estimate() -> None:
    (measured, *_), (estimated, *_) = (estimated_candidates("Qwen/Qwen3-14B", LOAD, ms) for ms in (900, None))
    assert measured.pace.prompt(1000) == pytest.approx(0.9)
    assert measured.candidate.profile.beta > estimated.candidate.profile.beta


def test_one_replica_fewer_does_not_carry_the_load() -> None:
    rows = json.loads(workbench("size", "--model", "qwen3-14b", *TARGETS, "--output", "json").stdout)["accelerators"]
    feasible = [row for row in rows if row["feasible"]]
    assert feasible
    for row in feasible:
        assert (row["replicas"] - 1) * row["mostPerMinute"] < 120 <= row["replicas"] * row["mostPerMinute"]


def test_reference_figures_come_first() -> None:
    done = workbench("size", "--model", "llama-3.1-8b", *TARGETS)
    assert "these are reference figures" in done.stderr
