"""LLMKube's own examples at every release: each is accepted in its release, or refused for a reason of the table.

``data/llmkube.csv`` has every file below config/samples and examples of defilantech/LLMKube at the tags v0.8.7 to
v0.9.19: its path, the hash of its contents in git, the first and the last tag with it, and the verdict natively, in
these releases and beside other kinds. Minimal manifests of our own for each reason are in ``reasons.yaml``.
"""

import csv
import os
import subprocess
from pathlib import Path

import pytest

from components.contract.problems import errors
from components.families import load
from components.families.llmkube.family import RELEASES
from components.plan.plan import plan
from tests.upstream.checkouts import ACCEPTED, DATA, FOLDER
from tests.upstream.test_examples import REASONS, SKIPPING, tells

Row = dict[str, str]
ROWS: list[Row] = list(csv.DictReader((DATA / "llmkube.csv").read_text(encoding="utf-8").splitlines()))


def test_the_table_is_well_formed() -> None:
    order = RELEASES.names
    assert len({(row["path"], row["blob"]) for row in ROWS}) == len(ROWS) == 50
    for row in ROWS:
        assert order.index(row["since"]) <= order.index(row["until"])
        assert row["verdict"] == ACCEPTED or set(row["verdict"].split()) <= set(REASONS), row


@pytest.mark.parametrize("release", RELEASES.names)
def test_a_file_has_one_content_in_a_release(release: str) -> None:
    order = RELEASES.names
    place = order.index(release)
    paths = [row["path"] for row in ROWS if order.index(row["since"]) <= place <= order.index(row["until"])]
    assert len(set(paths)) == len(paths) >= 33


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['path']}-{row['since']}")
def test_the_verdict_in_its_releases(row: Row, tmp_path: Path) -> None:
    base = os.environ.get(FOLDER)
    repository = Path(base) / "llmkube.git" if base else None
    if repository is None or not repository.is_dir():
        pytest.skip(f"no repository of LLMKube with its tags: set {FOLDER} to a folder with one, named llmkube.git")
    command = ["git", "-C", str(repository), "cat-file", "blob", row["blob"]]
    file = tmp_path / Path(row["path"]).name
    file.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    for release in (row["since"], row["until"]):
        found = list(errors(plan(load([file], {"llmkube": release}), SKIPPING).problems))
        reasons = [] if row["verdict"] == ACCEPTED else row["verdict"].split()
        assert all(any(tells(problem, reason) for problem in found) for reason in reasons), found
        assert all(any(tells(problem, reason) for reason in reasons) for problem in found), found
