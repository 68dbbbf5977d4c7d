"""Pages that one follows from top to bottom: their files, settings, commands and edits, in the order of the page."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.documentation.blocks import ROOT, Block, body, file_name, is_setting, page_blocks

TODAY = "2026-11-24"
"""Support of versions, age of releases and reservations depend on the date, so the pages have a fixed one."""
CHECKOUT = ("Pulumi.yaml", "__main__.py", "components", "stacks", "workbench", "livefleet", "toolkit")
EXECUTED = ("init", "validate", "plan", "explain", "size", "render", "simulate", "migrate", "crds")
"""Commands that need neither a cluster nor an account."""
_CLOCK = f"""\
import datetime
from components.contract import clock
clock.now = lambda: datetime.datetime.fromisoformat("{TODAY}T12:00:00+00:00")
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A command, the output on the page, and what it printed."""

    block: Block
    command: str
    shown: str
    printed: str

    def matches(self) -> bool:
        """Compare word by word, because pages have narrower lines; three dots stand for any number of words."""
        first, *others = [part.split() for part in re.split(r"(?<!\S)\.\.\.(?!\S)", self.shown)]
        rest = self.printed.split()
        if not others:
            return rest == first
        if rest[: len(first)] != first:
            return False
        rest = rest[len(first) :]
        for words in others[:-1]:
            found = next((at for at in range(len(rest)) if rest[at : at + len(words)] == words), None)
            if found is None:
                return False
            rest = rest[found + len(words) :]
        return len(rest) >= len(others[-1]) and rest[len(rest) - len(others[-1]) :] == others[-1]


class Edit(NamedTuple):
    """An edit that a sentence tells the reader to make: in a file, change a text to another."""

    file: str
    old: str
    new: str

    def make(self, folder: Path) -> None:
        path = folder / self.file
        assert not path.resolve().is_relative_to(ROOT), f"{self.file} is in the checkout"
        text = path.read_text()
        assert text.count(self.old) == 1, f"{self.file} does not have {self.old!r} once"
        path.write_text(text.replace(self.old, self.new))


def steps(page: Path) -> list[Block | Edit]:
    """The blocks and edits of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    edits: list[tuple[int, Block | Edit]] = [
        (text.count("\n", 0, match.start()) + 1, Edit(*match.groups()))
        for match in re.finditer(r"[Ii]n `([^`]+)`, change `([^`]+)`\s+to\s+`([^`]+)`", text)
    ]
    placed = [*edits, *((block.line, block) for block in page_blocks(page))]
    return [step for _, step in sorted(placed, key=lambda item: item[0])]


def follow(page: Path, folder: Path) -> Iterator[Run]:
    """Write the page's files and settings, make its edits, and run its commands that need no cluster.

    Yields the commands whose output is shown.
    """
    _prepare(folder)
    clock = folder / ".clock"
    for step in steps(page):
        if isinstance(step, Edit):
            step.make(folder)
        elif step.language == "yaml" and (name := file_name(step)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(body(step))
        elif step.language == "yaml" and is_setting(step):
            _set(folder, yaml.load(step.text, yaml.BaseLoader))
        elif step.language == "console":
            for command, shown in typed(step.text):
                program, *words = command.split()
                if program == "cd":
                    folder /= words[0]
                elif program == "workbench" and words[0] in EXECUTED and (shown.strip() or words[0] == "init"):
                    printed = _run(folder, command, clock)
                    if shown.strip():
                        yield Run(step, command, shown, printed)


def _prepare(folder: Path) -> None:
    for name in CHECKOUT:
        (folder / name).symlink_to(ROOT / name)
    for stack in ROOT.glob("Pulumi.*.yaml"):
        (folder / stack.name).write_text(stack.read_text(encoding="utf-8"))
    clock = folder / ".clock"
    clock.mkdir()
    (clock / "sitecustomize.py").write_text(_CLOCK)


def _set(folder: Path, settings: dict[str, Any]) -> None:
    """Put settings into the stack dev, which the task pages change; values stay as written, dates included."""
    path = folder / "Pulumi.dev.yaml"
    stack = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    stack["config"] |= settings
    path.write_text(yaml.dump(_plain(stack), sort_keys=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    number = isinstance(value, str) and re.fullmatch(r"true|false|\d{1,9}", value)
    return yaml.safe_load(value) if number else value


def typed(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console, with the output that is shown."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command.partition("  #")[0].strip(), shown


def _run(folder: Path, command: str, clock: Path) -> str:
    words = [sys.executable, "-m", *shlex.split(command)]
    env = {
        "PYTHONPATH": os.pathsep.join([str(clock), str(ROOT)]),
        "PATH": "/nowhere",
        "HOME": str(folder),
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False, timeout=300)
    return done.stdout + done.stderr
