"""Usual mistakes: what the command line says about each, and that it says nothing without it."""

import shlex
from pathlib import Path

import pytest

from tests.mistakes.cases import Mistake, make, mistakes, outcome, text_of, write_project

LONGEST = 700
"""Maximum length of a message in characters."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.id)
def test_the_message_says_where_what_and_what_to_do(mistake: Mistake, project: Path) -> None:
    write_project(project, mistake.family)
    make(project, mistake)
    printed = outcome(mistake)
    text = text_of(printed)
    assert [part for part in mistake.says if part not in text] == [], text
    assert [part for part in mistake.lacks if part in text] == [], text
    assert printed.code == mistake.code, text
    assert "Traceback" not in text
    assert max(map(len, (printed.stdout + printed.stderr).splitlines()), default=0) <= LONGEST


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.id)
def test_nothing_is_said_without_the_mistake(mistake: Mistake, project: Path) -> None:
    write_project(project, mistake.family)
    words = shlex.split(mistake.correct) if mistake.correct else mistake.words
    if mistake.files and words[0] == "validate":
        words = ["validate", "models"]
    printed = outcome(mistake, words)
    text = text_of(printed)
    assert printed.code == 0, text
    assert [part for part in mistake.lacks if part in text and part != "no problems"] == []
    for hint in ("did you mean", "error[", "is no manifest"):
        assert hint not in text


def test_there_are_enough_of_them() -> None:
    assert len({mistake.id for mistake in mistakes()}) == len(mistakes()) >= 60
