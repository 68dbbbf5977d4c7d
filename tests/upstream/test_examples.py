"""Upstream's own examples: each is accepted, or refused for a reason that its user needs."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from components.contract.problems import Problem, errors
from components.families import load, members
from components.fleet.words import OtherKinds
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.upstream.checkouts import DATA, Repository, read, repositories

REPOSITORIES = repositories()
REASONS: dict[str, Any] = read("reasons.yaml")
SKIPPING = Environment(other_kinds=OtherKinds.SKIP)


def refusals(path: Path, environment: Environment = Environment()) -> list[Problem]:  # noqa: B008  frozen
    return list(errors(plan(load([path]), environment).problems))


def tells(problem: Problem, reason: str) -> bool:
    """Tell whether a problem of an example is one for a reason; names and values are not those of our own case."""
    return all(_general(word) in problem.reason for word in REASONS[reason]["words"])


def _general(word: str) -> str:
    """Leave out of a word what is of our own case alone."""
    for own in ("v1/Secret ", " 'm'", "org/name", "no Model named"):
        word = word.replace(own, "")
    return word


# -- the table


def test_the_table_is_well_formed() -> None:
    assert len({each.name for each in REPOSITORIES}) == len(REPOSITORIES) == 4
    for each in REPOSITORIES:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", each.repository)
        assert re.fullmatch(r"[0-9a-f]{40}", each.commit)
        assert len(each.examples) >= 20
        for path, why in each.examples.items():
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in path
            assert any(path.startswith(f"{folder}/") for folder in each.folders), path
            assert set(why) <= set(REASONS), path


def test_no_example_is_named_twice() -> None:
    rows = re.findall(
        r"^    \S+: (?:accepted|\[)", (DATA / "examples.yaml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) == sum(len(each.examples) for each in REPOSITORIES)


def test_every_reason_is_that_of_an_example() -> None:
    assert {reason for each in REPOSITORIES for why in each.examples.values() for reason in why} == set(REASONS)


def test_most_examples_are_accepted_as_they_are_or_beside_others() -> None:
    """What is refused of the supported releases beside other kinds is broken, for a Mac or one half of a pair."""
    for each in REPOSITORIES:
        fine = [path for path, why in each.examples.items() if set(why) <= {"other-kind"}]
        assert len(fine) >= len(each.examples) * 2 // 3, each.name


# -- cases of our own


def written(reason: str, key: str, folder: Path) -> Path:
    row = REASONS[reason]
    path = folder / (row.get("file", "case.yaml") if key == "manifests" else "case.yaml")
    path.write_text(yaml.safe_dump_all(row[key]), encoding="utf-8")
    return path


@pytest.mark.parametrize("reason", REASONS)
def test_our_own_case_is_refused_with_these_words(reason: str, tmp_path: Path) -> None:
    found = refusals(written(reason, "manifests", tmp_path))
    assert any(all(word in problem.reason for word in REASONS[reason]["words"]) for problem in found), found
    assert all(problem.line for problem in found)


@pytest.mark.parametrize("reason", REASONS)
def test_what_the_message_asks_for_is_accepted(reason: str, tmp_path: Path) -> None:
    assert refusals(written(reason, "instead", tmp_path)) == []


# -- the real ones


@pytest.mark.parametrize("each", REPOSITORIES, ids=lambda each: each.name)
def test_no_example_is_left_out(each: Repository) -> None:
    base = each.checkout()
    files = (path for folder in each.folders for path in (base / folder).rglob("*.y*ml"))
    there = {str(path.relative_to(base)) for path in files}
    assert there == {path for path in each.examples if path.endswith((".yaml", ".yml"))}


@pytest.mark.parametrize("each", REPOSITORIES, ids=lambda each: each.name)
def test_the_verdict_on_each_example(each: Repository) -> None:
    base = each.checkout()
    wrong = [fault for path, why in each.examples.items() for fault in _faults(path, refusals(base / path), why)]
    assert wrong == []


def _faults(path: str, found: list[Problem], why: tuple[str, ...]) -> Iterator[str]:
    """Yield where the problems of an example are not for the reasons of the table."""
    if not why:
        yield from (f"{path}: {problem}" for problem in found)
    for reason in why:
        if not any(tells(problem, reason) for problem in found):
            yield f"{path}: is not refused for {reason}"
    # One field of an older release brings others with it: what it held is missing, what is beside it unknown.
    for problem in found if "field-of-an-older-release" not in why else ():
        if why and not any(tells(problem, reason) for reason in why):
            yield f"{path}: {problem}"


@pytest.mark.parametrize("each", REPOSITORIES, ids=lambda each: each.name)
def test_what_stands_beside_other_kinds_is_accepted_without_them(each: Repository) -> None:
    base = each.checkout()
    beside = [path for path, why in each.examples.items() if why == ("other-kind",)]
    assert beside
    assert {path: refusals(base / path, SKIPPING) for path in beside} == {path: [] for path in beside}


@pytest.mark.parametrize("each", REPOSITORIES, ids=lambda each: each.name)
def test_what_is_accepted_becomes_objects(each: Repository) -> None:
    """All but declarations, which serve nothing by themselves."""
    base = each.checkout()
    for path in (path for path, why in each.examples.items() if not why):
        planned = plan(load([base / path]))
        serving = [source for source in load([base / path]).resources if members()[source.kind.title][1].serves]
        assert len([item for item in planned.fleet.rendered if item.workloads]) == len(serving), path
