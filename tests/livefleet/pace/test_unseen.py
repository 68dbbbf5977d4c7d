"""Estimated paces against measurements that were chosen before they were compared (``unseen.yaml``)."""

import statistics
from pathlib import Path

import pytest
import yaml

from livefleet.pace.estimates import spread
from tests.livefleet.pace.measured import FIGURES, Measured, pace_on

ROWS = yaml.safe_load(Path(__file__).with_name("unseen.yaml").read_text(encoding="utf-8"))["points"]
ALL = [Measured(row, figure) for row in ROWS for figure in FIGURES if figure in row]
_QUICK = 10_000
"""Tokens of one round that are simulated step by step within a second."""
QUICK = [each for each in ALL if each.row["at once"] * each.row["answer"] <= _QUICK]


@pytest.mark.parametrize("measured", QUICK, ids=lambda measured: measured.title)
def test_a_simulated_replica_is_within_the_spread(measured: Measured) -> None:
    assert 1 / spread() <= measured.ratio <= spread()


def of_a_step(measured: Measured) -> float:
    """Return how much slower a step in the middle of the responses is than the mean time of a token."""
    row = measured.row
    requests, tokens = row["at once"], row["prompt"] + row["answer"] / 2
    step = pace_on(row).step(requests, cached=requests * tokens) * 1000
    published = row.get("itl_ms") or requests * 1000 / row["tokens_per_s"]
    return float(step / published)


STEPS = {measured: of_a_step(measured) for measured in ALL if "itl_ms" in measured.row}


@pytest.mark.parametrize("measured", list(STEPS), ids=lambda measured: measured.title)
def test_a_step_is_within_the_spread(measured: Measured) -> None:
    assert 1 / spread() <= STEPS[measured] <= spread()


def test_how_large_the_errors_are() -> None:
    """An interval of a factor of two holds fewer than nine of ten: the range that is stated is wider."""
    errors = [abs(ratio - 1) for ratio in STEPS.values()]
    assert statistics.median(errors) <= 0.25
    assert sum(1 / 1.6 <= ratio <= 1.6 for ratio in STEPS.values()) >= 0.9 * len(STEPS)
