"""Estimated paces against measurements that no parameter was fitted to.

``unseen.yaml`` was chosen before an estimate was first compared with it, ``fresh.yaml`` before the second model;
``calibrated.yaml`` was fitted to neither.
"""

import statistics
from pathlib import Path

import pytest
import yaml

from livefleet.pace.estimates import estimated_pace
from tests.livefleet.pace.measured import FIGURES, Measured, figures, verdict_on

OLD = {"0.5.0", "0.6.1", "0.7.3"}
EVERY_SERVER = 2.2
"""The factor that holds all of them."""


def held_out(name: str) -> list[Measured]:
    """Return the figures of a table of measurements that calibrate nothing."""
    rows = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))["points"]
    return [Measured(row, figure) for row in rows for figure in FIGURES if figure in row]


SETS = {name: held_out(name) for name in ("unseen", "fresh")}


def is_held(measured: Measured) -> bool:
    """Tell whether a measurement of tokens is in the stated range of its estimate."""
    estimate = estimated_pace(verdict_on(measured.row), measured.row["instance"])
    return estimate is not None and 1 / estimate.slower <= measured.ratio <= estimate.faster


@pytest.mark.parametrize(("name", "least"), [("unseen", 30), ("fresh", 15)])
def test_the_range_holds_nine_of_ten(name: str, least: int) -> None:
    assert len(SETS[name]) >= least
    assert sum(map(is_held, SETS[name])) >= 0.9 * len(SETS[name])


@pytest.mark.parametrize("name", SETS)
def test_the_median_error_is_at_most_a_seventh(name: str) -> None:
    assert statistics.median(abs(each.ratio - 1) for each in SETS[name]) <= 0.15


@pytest.mark.parametrize("name", SETS)
def test_a_factor_holds_all(name: str) -> None:
    ratios = [each.ratio for each in SETS[name]]
    assert [ratio for ratio in ratios if not 1 / EVERY_SERVER <= ratio <= EVERY_SERVER] == []


def test_the_range_holds_the_benchmarks_since_2024() -> None:
    engines = ("vllm", "sglang", "tensorrt-llm")
    known = [each for each in figures() if each.row["engine"] in engines and each.row["version"] not in OLD]
    tokens = [each for each in known if each.figure != "ttft_ms" and _has_range(each)]
    assert len(tokens) >= 20
    assert [each.title for each in tokens if not is_held(each)] == []


def _has_range(measured: Measured) -> bool:
    return estimated_pace(verdict_on(measured.row), measured.row["instance"]) is not None


@pytest.mark.parametrize(
    ("engine", "instance_type", "is_known"),
    [
        ("vllm", "p5.48xlarge", True),
        ("vllm", "p4de.24xlarge", True),
        ("tensorrt-llm", "p6-b200.48xlarge", True),
        ("tensorrt-llm", "p4de.24xlarge", False),
        ("sglang", "g6.2xlarge", False),
        ("tgi", "p5.48xlarge", False),
    ],
)
def test_there_is_no_estimate_without_measurements(engine: str, instance_type: str, *, is_known: bool) -> None:
    row = {
        "engine": engine,
        "model": "Qwen/Qwen3-8B",
        "instance": instance_type,
        "at once": 1,
        "prompt": 9,
        "answer": 9,
    }
    assert (estimated_pace(verdict_on(row), instance_type) is not None) is is_known
