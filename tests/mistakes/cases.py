"""Runs the mistakes of mistakes.yaml, each in a project of its own."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.hostile.runs import Printed, run
from workbench.creating.answers import Answers, CiChoice, ClusterChoice, FamilyChoice
from workbench.creating.repository import repository

_FILE = Path(__file__).with_name("mistakes.yaml")


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A mistake, and what the message about it has to say; the fields are described in mistakes.yaml."""

    id: str
    run: str | list[str]
    family: str = "llmaz"
    edit: Mapping[str, list[list[str]]] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    code: int = 0
    says: list[str]
    lacks: list[str] = field(default_factory=list)
    correct: str = ""

    @property
    def words(self) -> list[str]:
        return shlex.split(self.run) if isinstance(self.run, str) else self.run


def mistakes() -> list[Mistake]:
    return [Mistake(**entry) for entry in yaml.safe_load(_FILE.read_text(encoding="utf-8"))]


def write_project(folder: Path, family: str) -> None:
    """Write the project of `workbench init`."""
    answers = Answers(ClusterChoice.EXISTING, "us-east-1", FamilyChoice(family), gateway=False, ci=CiChoice.NONE)
    for path, text in repository(answers, "chat").items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def make(folder: Path, mistake: Mistake) -> None:
    """Make a mistake in a project."""
    for path, edits in mistake.edit.items():
        text = (folder / path).read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old), f"{mistake.id}: {path} has no {old!r}"
            text = text.replace(old, new)
        (folder / path).write_text(text, encoding="utf-8")
    for path, content in mistake.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            (folder / path).unlink()
        elif content == "utf-16":
            (folder / path).write_bytes((folder / path).read_text(encoding="utf-8").encode("utf-16"))
        else:
            (folder / path).write_bytes(content.encode("latin-1" if "\0" in content else "utf-8"))


def text_of(printed: Printed) -> str:
    """Return everything that a command printed, on one line: where it wraps depends on the width."""
    return " ".join((printed.stdout + printed.stderr).replace("│", " ").split())


def outcome(mistake: Mistake, words: list[str] | None = None) -> Printed:
    """Run the command of a mistake in the current folder."""
    return run(*(words or mistake.words))
