"""llmaz's own examples at every release: each is accepted in its release, or refused for a reason of the table.

``data/llmaz.csv`` has every file below config/samples, docs/examples and test/config/backends of InftyAI/llmaz at the
tags v0.1.0 to v0.1.4 and the commits 79d833c and 3c13ff3: its path, the hash of its contents in git, the first and
the last release with it, and the verdict in these releases, beside other kinds. The files of a folder with a
model.yaml belong together. ``INFERENCE_PLATFORM_UPSTREAM`` names a folder with the repository as ``llmaz.git``.
"""

import csv
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.problems import Problem, errors
from components.families import load
from components.families.llmaz.kinds import RELEASES
from components.plan.plan import plan
from tests.upstream.checkouts import ACCEPTED, DATA, FOLDER, read
from tests.upstream.test_examples import SKIPPING

Row = dict[str, str]
ROWS: list[Row] = list(csv.DictReader((DATA / "llmaz.csv").read_text(encoding="utf-8").splitlines()))
REASONS: dict[str, dict[str, Any]] = read("llmaz_reasons.yaml")
ORDER = RELEASES.names
GENERAL = {
    "field-of-another-release": ["unknown field of llmaz"],
    "field-of-no-release": ["unknown field"],
    "model-in-another-file": ["no OpenModel named", "add its manifest"],
}
"""Words of a reason without the names and releases of our own case."""


def refusals(path: Path, release: str) -> list[Problem]:
    return list(errors(plan(load([path], {"llmaz": release}), SKIPPING).problems))


def rows_of(release: str) -> list[Row]:
    place = ORDER.index(release)
    return [row for row in ROWS if ORDER.index(row["since"]) <= place <= ORDER.index(row["until"])]


def reasons_of(row: Row) -> list[str]:
    return [] if row["verdict"] == ACCEPTED else row["verdict"].split()


def is_for(problem: Problem, reason: str) -> bool:
    words = GENERAL.get(reason, REASONS[reason]["words"])
    return all(word in problem.reason for word in words)


def test_the_table_is_well_formed() -> None:
    assert len(ROWS) == 89
    assert {reason for row in ROWS for reason in reasons_of(row)} == set(REASONS)
    for release in ORDER:
        paths = [row["path"] for row in rows_of(release)]
        assert len(set(paths)) == len(paths) >= 29


@pytest.mark.parametrize(
    ("release", "files", "accepted"),
    [
        ("v0.1.0", 34, 26),
        ("v0.1.1", 34, 26),
        ("79d833c", 35, 28),
        ("v0.1.2", 35, 28),
        ("v0.1.3", 36, 29),
        ("v0.1.4", 29, 24),
        ("3c13ff3", 29, 25),
    ],
)
def test_most_examples_of_a_release_are_accepted(release: str, files: int, accepted: int) -> None:
    verdicts = [row["verdict"] for row in rows_of(release)]
    assert (len(verdicts), verdicts.count(ACCEPTED)) == (files, accepted)


def written(reason: str, key: str, folder: Path) -> Path:
    row = REASONS[reason]
    path = folder / (row.get("file", "case.yaml") if key == "manifests" else "case.yaml")
    path.write_text(yaml.safe_dump_all(row[key]), encoding="utf-8")
    return path


@pytest.mark.parametrize("reason", REASONS)
def test_our_own_case_is_refused_with_these_words(reason: str, tmp_path: Path) -> None:
    row = REASONS[reason]
    found = refusals(written(reason, "manifests", tmp_path), row["release"])
    assert [all(word in problem.reason for word in row["words"]) for problem in found] == [True], found


@pytest.mark.parametrize("reason", REASONS)
def test_what_the_message_asks_for_is_accepted(reason: str, tmp_path: Path) -> None:
    assert refusals(written(reason, "instead", tmp_path), REASONS[reason]["release"]) == []


@pytest.mark.parametrize("release", ORDER)
def test_the_verdicts_of_a_release(release: str, tmp_path: Path) -> None:
    base = os.environ.get(FOLDER)
    repository = Path(base) / "llmaz.git" if base else None
    if repository is None or not repository.is_dir():
        pytest.skip(f"no repository of llmaz with its tags: set {FOLDER} to a folder with one, named llmaz.git")
    rows = rows_of(release)
    for row in rows:
        path = tmp_path / row["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        command = ["git", "-C", str(repository), "cat-file", "blob", row["blob"]]
        path.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    for row in rows:
        path = tmp_path / row["path"]
        found = refusals(path.parent if (path.parent / "model.yaml").exists() else path, release)
        reasons = reasons_of(row)
        assert all(any(is_for(problem, reason) for problem in found) for reason in reasons), (row, found)
        # One field that no release has brings others with it: what it held is missing.
        if "field-of-no-release" not in reasons:
            assert all(any(is_for(problem, reason) for reason in reasons) for problem in found), (row, found)
