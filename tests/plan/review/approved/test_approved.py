"""The reports about seven pull requests, as they were read and approved: byte for byte."""

import os
import re
from pathlib import Path

import pytest

from tests.plan.review.approved.changes import CHANGES, HERE, planned, pull_request, repository

APPROVE = os.environ.get("INFERENCE_PLATFORM_APPROVE", "")
"""Set it to write the reports anew; then read every line of what git shows as changed."""
SAVED = ("report.md", "report.txt")
_OLD = re.compile(r"(older than six months:) [^;\n]*;")
_OLD_WRAPPED = re.compile(r"(\[release-old\][^\n]*\n)(?:  [^\n]*\n)+")
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b(?=[),. ])")


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("shop") / "main")


@pytest.mark.parametrize("name", CHANGES)
def test_a_pull_request_is_reported_as_approved(name: str, main: Path, tmp_path: Path) -> None:
    clone = pull_request(main, tmp_path / "shop", name)
    saved = [word for each in SAVED for word in ("--save", str(tmp_path / each))]
    done = planned(clone, "--base", "origin/main", "--fail-on", "warning", *saved)
    assert done.returncode == (1 if name == "broken-flag" else 0), done.stderr
    for each in SAVED:
        # The commit of the base has all code in it, and so another id after every edit of the code.
        report = _COMMIT.sub("0123456", (tmp_path / each).read_text(encoding="utf-8"))
        # Which releases are older than six months depends on the day.
        report = _OLD_WRAPPED.sub(r"\1  ...\n", _OLD.sub(r"\1 ...;", report))
        if APPROVE:
            (HERE / name).mkdir(exist_ok=True)
            (HERE / name / each).write_text(report, encoding="utf-8")
        assert report == (HERE / name / each).read_text(encoding="utf-8"), f"{name}/{each}"


def test_a_report_is_the_same_in_every_process(main: Path) -> None:
    first, second = (planned(main, "--output", "json", seed=seed).stdout for seed in ("1", "2"))
    assert first == second
    assert "LeaderWorkerSet models/reason" in first


def test_a_comment_changes_nothing() -> None:
    report = (HERE / "edited-comment/report.md").read_text(encoding="utf-8").splitlines()
    assert report[0] == "**Plan of dev:** Nothing changes."
    assert len(report) < 10
