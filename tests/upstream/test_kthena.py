"""The examples of every release of Kthena, read in that release: accepted, or refused for a reason worth knowing.

``INFERENCE_PLATFORM_UPSTREAM`` names a folder with the files of each release under ``kthena-RELEASE``: a checkout of
volcano-sh/kthena, or what ``git archive`` writes.
"""

import csv
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.problems import Problem, errors
from components.families import load
from components.families.kthena.kinds import RELEASES
from components.fleet.options import Options
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.upstream.checkouts import DATA, FOLDER, read

FOLDERS = ("docs/kthena/docs", "examples")
"""Where Kthena has its examples. Those of earlier versions of its documentation are the earlier releases' own."""
REASONS: dict[str, Any] = read("kthena_reasons.yaml")


@dataclass(frozen=True, slots=True)
class Example:
    """A file that some releases have, and why it is refused in each realization; empty where it is accepted."""

    path: str
    sha256: str
    releases: tuple[str, ...]
    native: tuple[str, ...]
    operator: tuple[str, ...]

    def reasons(self, realization: Realization) -> tuple[str, ...]:
        return self.native if realization.is_native else self.operator


def _examples() -> list[Example]:
    with (DATA / "kthena.csv").open(encoding="utf-8", newline="") as file:
        return [
            Example(
                row["path"],
                row["sha256"],
                tuple(row["releases"].split()),
                tuple(row["native"].split()),
                tuple(row["operator"].split()),
            )
            for row in csv.DictReader(file)
        ]


EXAMPLES = _examples()


def refusals(path: Path, release: str, realization: Realization) -> list[Problem]:
    releases = {"kthena": release}
    environment = Environment(
        options=Options(realization=realization, releases=releases), other_kinds=OtherKinds.ERROR
    )
    return list(errors(plan(load([path], releases), environment).problems))


def tells(problem: Problem, reason: str) -> bool:
    return all(word in problem.reason for word in REASONS[reason]["words"])


def checkout(release: str) -> Path:
    base = os.environ.get(FOLDER)
    here = Path(base) / f"kthena-{release}" if base else None
    if here is None or not here.is_dir():
        pytest.skip(f"no files of Kthena {release}: set {FOLDER} to a folder with kthena-{release}")
    return here


# -- the table


def test_the_table_is_well_formed() -> None:
    for example in EXAMPLES:
        assert example.path.startswith(tuple(f"{folder}/" for folder in FOLDERS)), example.path
        assert len(example.sha256) == 64
        assert set(example.releases) <= set(RELEASES.names)
        assert {*example.native, *example.operator} <= set(REASONS), example.path


def test_each_release_has_a_path_once() -> None:
    named = [(release, example.path) for example in EXAMPLES for release in example.releases]
    assert len(named) == len(set(named))
    assert {release for release, _ in named} == set(RELEASES.names)


def test_every_reason_is_that_of_an_example() -> None:
    assert {reason for example in EXAMPLES for reason in (*example.native, *example.operator)} == set(REASONS)


# -- cases of our own


def _written(reason: str, key: str, folder: Path) -> list[Problem]:
    row, path = REASONS[reason], folder / "case.yaml"
    path.write_text(yaml.safe_dump_all(row[key]), encoding="utf-8")
    return refusals(path, row.get("release", RELEASES.contract), Realization(row.get("realization", "native")))


@pytest.mark.parametrize("reason", REASONS)
def test_our_own_case_is_refused_with_these_words(reason: str, tmp_path: Path) -> None:
    found = _written(reason, "manifests", tmp_path)
    assert any(tells(problem, reason) for problem in found), found
    assert all(problem.line for problem in found)


@pytest.mark.parametrize("reason", REASONS)
def test_what_the_message_asks_for_is_accepted(reason: str, tmp_path: Path) -> None:
    assert _written(reason, "instead", tmp_path) == []


# -- the real ones


@pytest.mark.parametrize("release", RELEASES.names)
def test_no_example_is_left_out(release: str) -> None:
    base = checkout(release)
    files = [path for folder in FOLDERS for path in (base / folder).rglob("*.y*ml")]
    there = {str(path.relative_to(base)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert there == {example.path: example.sha256 for example in EXAMPLES if release in example.releases}


@pytest.mark.parametrize("realization", Realization)
@pytest.mark.parametrize("release", RELEASES.names)
def test_the_verdict_on_each_example(release: str, realization: Realization) -> None:
    base, wrong = checkout(release), []
    for example in (example for example in EXAMPLES if release in example.releases):
        found, why = refusals(base / example.path, release, realization), example.reasons(realization)
        wrong += [f"{example.path}: {reason}" for reason in why if not any(tells(p, reason) for p in found)]
        wrong += [f"{example.path}: {p}" for p in found if not any(tells(p, reason) for reason in why)]
    assert wrong == []
