"""Estimated paces against measurements that were chosen before they were compared.

``unseen.yaml`` was chosen before the estimate was first compared with it, ``fresh.yaml`` before the present model.
"""

import statistics
from pathlib import Path

import pytest
import yaml

from components.contract.tables import load_table
from livefleet.pace.estimates import spread
from tests.livefleet.pace.measured import FIGURES, Measured, figures

EFFICIENCY = load_table("livefleet.pace", "efficiency.yaml")
FASTER, SLOWER = float(EFFICIENCY["faster"]), float(EFFICIENCY["slower"])
OLD = {"0.5.0", "0.6.1", "0.7.3"}


def held_out(name: str) -> list[Measured]:
    """Return the figures of a table of measurements that calibrate nothing."""
    rows = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))["points"]
    return [Measured(row, figure) for row in rows for figure in FIGURES if figure in row]


SETS = {name: held_out(name) for name in ("unseen", "fresh")}
RATIOS = {name: [each.ratio for each in chosen] for name, chosen in SETS.items()}


def is_held(ratio: float) -> bool:
    """Tell whether a measurement is in the stated interval of its estimate."""
    return 1 / SLOWER <= ratio <= FASTER


@pytest.mark.parametrize(("name", "least"), [("unseen", 30), ("fresh", 15)])
def test_an_interval_of_a_factor_of_two_holds_nine_of_ten(name: str, least: int) -> None:
    assert FASTER * SLOWER <= 2
    assert len(RATIOS[name]) >= least
    assert sum(map(is_held, RATIOS[name])) >= 0.9 * len(RATIOS[name])


@pytest.mark.parametrize("name", SETS)
def test_the_median_error_is_at_most_a_quarter(name: str) -> None:
    assert statistics.median(abs(ratio - 1) for ratio in RATIOS[name]) <= 0.25


@pytest.mark.parametrize("name", SETS)
def test_the_factor_for_all_servers_holds_all(name: str) -> None:
    assert [ratio for ratio in RATIOS[name] if not 1 / spread() <= ratio <= spread()] == []


def test_the_interval_holds_what_calibrates_it() -> None:
    """The figures of tokens of engines on accelerators since 2024: no interval was chosen by the others."""
    engines = ("vllm", "sglang", "tensorrt-llm")
    known = [each for each in figures() if each.row["engine"] in engines and each.row["version"] not in OLD]
    assert all(is_held(each.ratio) for each in known if each.figure != "ttft_ms")


@pytest.mark.parametrize(("ratio", "held"), [(0.62, False), (0.63, True), (1.25, True), (1.26, False)])
def test_the_interval_has_ends(ratio: float, *, held: bool) -> None:
    assert is_held(ratio) is held
