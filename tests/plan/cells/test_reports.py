"""A plan against sixty published reports, which were written down before they were compared (``reports.yaml``)."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.plan.cells.cells import Cell, Judged, Outcome, judged

REPORTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("reports.yaml").read_text("utf-8"))["reports"]
CAUSES = {"architecture", "format", "memory", "context", "parallel", "blocks", "flag", "arguments", "backend"}
REFUSED_BUT_STARTED = {
    # 61.02 GiB of weights and the 10.00 of the cache of 40,960 tokens leave 0.3 of the 71.3 GiB of an H100, where
    # vLLM samples 1,024 requests at its start. The page has no log, and its requests have at most 32,100 tokens
    # (7.84 GiB): the server had arguments that the page does not show.
    "qwen3-32b-h100-vllm",
}
UNCHECKED = {
    "v32-h200-vllm-dcp8",  # its cache is divided by tokens, which is not computed
    "qwen25-vl-72b-awq-tp2",  # whether the repository pads its widths
}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Judged]:
    """What a plan says of each report, by its id."""
    found = judged([_cell(report) for report in REPORTS])
    return {report["id"]: verdict for report, verdict in zip(REPORTS, found, strict=True)}


def _cell(report: dict[str, Any]) -> Cell:
    engine, version = report["engine"].split()
    return Cell(
        model=report["model"],
        engine=engine,
        version=version,
        instance=report["instance"],
        gpus=report["gpus"],
        nodes=report.get("nodes", 1),
        args=report.get("args", ()),
        image_args=report.get("image_args", ()),
        env=report.get("env", {}),
    )


def test_there_are_thirty_of_both_outcomes_each_with_its_source() -> None:
    assert Counter(report["published"] for report in REPORTS) == {"starts": 30, "fails": 30}
    assert len({report["id"] for report in REPORTS}) == 60
    assert all(report["source"].startswith("https://") and len(report["said"]) > 10 for report in REPORTS)
    assert {report["cause"] for report in REPORTS if report["published"] == "fails"} == CAUSES


def test_no_server_that_failed_is_said_to_fit(verdicts: dict[str, Judged]) -> None:
    failed = {report["id"] for report in REPORTS if report["published"] == "fails"}
    assert not {name: verdicts[name].reasons for name in failed if verdicts[name].outcome is Outcome.FITS}


def test_at_most_one_server_that_started_is_refused(verdicts: dict[str, Judged]) -> None:
    started = {report["id"] for report in REPORTS if report["published"] == "starts"}
    assert {name for name in started if verdicts[name].outcome is Outcome.REFUSED} == REFUSED_BUT_STARTED


def test_what_is_not_checked_is_known(verdicts: dict[str, Judged]) -> None:
    assert {name for name, verdict in verdicts.items() if verdict.outcome is Outcome.UNCHECKED} == UNCHECKED
