"""The arithmetic against published outcomes: servers that started, and servers that stopped for want of memory."""

import re
from collections import Counter

import pytest

from tests.checks.memory.pairs.pairs import ENGINES, Pair, pairs

PAIRS = pairs()
NAMES = [pair.name for pair in PAIRS]
AGREED = [pair for pair in PAIRS if not pair.disagrees]
COUNTED = [pair for pair in PAIRS if pair.tokens and not pair.tokens_differ]
SPREAD = {
    "vllm": (-0.05, 0.27),
    # What it took beside weights and cache, no log of that time explains.
    "vllm before 0.6": (0.08, 5.7),
    "sglang": (-0.12, 0.11),
    "tgi": (0.32, 0.57),
}
"""By which part of the reported cache the predicted one was found to differ."""


def test_there_are_enough_of_both_outcomes_and_of_all_engines() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len(AGREED) >= 40
    assert min(Counter(pair.exceeded for pair in AGREED).values()) >= 18
    assert {pair.engine for pair in AGREED} == set(ENGINES)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_the_verdict_is_what_was_published(pair: Pair) -> None:
    assert pair.agrees is not bool(pair.disagrees), (pair.verdict.fit, pair.verdict.reason)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_every_pair_tells_its_source_and_what_it_says(pair: Pair) -> None:
    assert re.search(r"\b20\d\d\b", pair.source), "no date"
    assert len(pair.said) > 10


@pytest.mark.parametrize("pair", COUNTED, ids=[pair.name for pair in COUNTED])
def test_the_cache_is_about_as_large_as_was_reported(pair: Pair) -> None:
    least, most = SPREAD[pair.group]
    assert least <= _error(pair) <= most


def test_most_caches_of_vllm_are_about_right() -> None:
    errors = [abs(_error(pair)) for pair in COUNTED if pair.group == "vllm"]
    assert len(errors) == 16
    assert sum(error <= 0.1 for error in errors) == 11
    assert sum(error <= 0.15 for error in errors) == 14


def _error(pair: Pair) -> float:
    return pair.predicted_tokens / (pair.tokens or 1) - 1
