"""Models, GPUs and releases at random: a plan against a second reading of the engines' packages (``reader.py``)."""

import ast
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.contract.findings.ids import RuleId
from tests.plan.cells.cells import Judged, Outcome, judged
from tests.plan.cells.matrix import cells
from tests.plan.cells.reader import GPUS, RELEASES, Facts, has_architecture, refusals, starts

COUNT = int(os.environ.get("INFERENCE_PLATFORM_CELLS", "500"))
RULES = {
    "gpus": RuleId.GPUS_MISMATCH,
    "architecture": RuleId.ARCHITECTURE_UNSUPPORTED,
    "format": RuleId.FORMAT_UNSUPPORTED,
    "heads": RuleId.MEMORY_EXCEEDED,
    "blocks": RuleId.MEMORY_EXCEEDED,
    "memory": RuleId.MEMORY_EXCEEDED,
}
NEEDS_GPUS = ("heads", "blocks", "memory")
"""Reasons that a plan does not look for where a replica has too few GPUs."""


def differences(facts: Facts, verdict: Judged) -> Iterator[str]:
    """Yield what only one of the two says of a cell."""
    reasons = set(refusals(facts))
    for reason in reasons:
        if RULES[reason] not in verdict.rules and not (reason in NEEDS_GPUS and "gpus" in reasons):
            yield f"{reason} is missing"
    if RuleId.FORMAT_UNSUPPORTED in verdict.rules and "format" not in reasons:
        yield "the format is computed"
    if RuleId.ARCHITECTURE_UNSUPPORTED in verdict.rules and has_architecture(facts):
        yield "the architecture is registered"
    if verdict.outcome is Outcome.REFUSED and starts(facts):
        yield "it starts"


@pytest.fixture(scope="module")
def matrix() -> list[tuple[Facts, Judged]]:
    """All cells, with what a plan says of them."""
    pairs = list(cells(COUNT))
    return [(facts, verdict) for (facts, _), verdict in zip(pairs, judged([cell for _, cell in pairs]), strict=True)]


def test_a_plan_says_of_each_cell_what_a_second_reader_says(matrix: list[tuple[Facts, Judged]]) -> None:
    found = [(difference, facts, verdict) for facts, verdict in matrix for difference in differences(facts, verdict)]
    assert not found, "\n".join(map(str, found))


def test_the_reader_is_certain_of_most_cells_and_has_every_reason(matrix: list[tuple[Facts, Judged]]) -> None:
    reasons = Counter(reason for facts, _ in matrix for reason in refusals(facts))
    assert all(reasons[reason] >= COUNT // 100 for reason in RULES), reasons
    assert sum(starts(facts) for facts, _ in matrix) >= COUNT // 6
    assert {facts.instance for facts, _ in matrix} == set(GPUS)
    assert {(facts.engine, facts.version) for facts, _ in matrix} >= {
        (engine, version) for engine, versions in RELEASES.items() for version in versions
    }


def test_cells_are_the_same_in_each_run() -> None:
    assert [facts for facts, _ in cells(20)] == [facts for facts, _ in cells(20)]
    assert next(cells(1))[1].manifest("c")["metadata"] == {"name": "c"}


def test_the_reader_shares_nothing_with_the_project() -> None:
    tree = ast.parse(Path(__file__).with_name("reader.py").read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert set(imported) == {"re", "collections.abc", "dataclasses"}
