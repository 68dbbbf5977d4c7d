"""Pages that one follows from top to bottom: their files, settings, commands and edits, in the order of the page."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests import preloaded
from tests.documentation.blocks import ROOT, Block, file_name, is_setting, page_blocks
from tests.documentation.elsewhere import elsewhere

TODAY = "2026-11-24"
"""Support of versions, age of releases and reservations depend on the date, so the pages have a fixed one."""
CHECKOUT = ("Pulumi.yaml", "__main__.py", "stacks")
"""What a project has; everything else is imported from the checkout."""
INPUTS = Path(__file__).with_name("inputs")
"""Files that pages assume and do not show, in a folder for each page. Its stacks replace those of the checkout."""
REVISIONS = ("docs/plan.md", "docs/virtual-time.md", "docs/tasks/upgrade-a-cluster.md")
"""Pages that compare with the branch ``main`` of a remote."""
_CLOCK = f"""\
import datetime
from components.contract import clock
clock.now = lambda: datetime.datetime.fromisoformat("{TODAY}T12:00:00+00:00")
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A command, the output on the page, what it printed, and its exit code."""

    block: Block
    command: str
    shown: str
    printed: str
    code: int = 0

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
    """Write the page's files and settings, make its edits, and run its commands, except those that run elsewhere."""
    clock = _prepare(page, folder)
    for step in steps(page):
        if isinstance(step, Edit):
            step.make(folder)
        elif name := file_name(step):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            # As a reader pastes it, with the name: messages name the lines of that file.
            (folder / name).write_text(step.text, encoding="utf-8")
        elif step.language == "yaml" and is_setting(step):
            _set(folder, yaml.load(step.text, yaml.BaseLoader))
        elif step.language == "console":
            for command, shown in typed(step.text):
                if elsewhere(step, command):
                    continue
                program, *words = command.split()
                if program == "cd":
                    folder /= words[0]
                    continue
                assert program == "workbench", f"{step}: {command}: no test runs this program"
                done = _run(folder, command, clock)
                yield Run(step, command, shown, done.stdout + done.stderr, done.returncode)


def _prepare(page: Path, folder: Path) -> Path:
    """Fill the folder with a project like the checkout, and return the folder of the fixed clock."""
    inputs = INPUTS / page.stem
    stacks = () if [*inputs.glob("Pulumi.*.yaml")] else ROOT.glob("Pulumi.*.yaml")
    for file in (*map(ROOT.joinpath, CHECKOUT), *stacks):
        if file.is_dir():
            shutil.copytree(file, folder / file.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(file, folder)
    name = page.relative_to(ROOT).as_posix()
    if inputs.is_dir():
        shutil.copytree(inputs, folder, dirs_exist_ok=True)
    clock = folder / ".clock"
    clock.mkdir()
    (clock / "sitecustomize.py").write_text(_CLOCK)
    programs = clock / "bin"
    programs.mkdir()
    git = shutil.which("git")
    if git:
        (programs / "git").symlink_to(git)
    if name in REVISIONS:
        assert git
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        for words in (
            ("init", "--quiet", "--initial-branch=main"),
            ("add", "--force", "."),
            (*identity, "commit", "--quiet", "--message=first"),
            ("update-ref", "refs/remotes/origin/main", "HEAD"),
        ):
            subprocess.run([git, *words], cwd=folder, check=True)
    return clock


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


def _run(folder: Path, command: str, clock: Path) -> "subprocess.CompletedProcess[str]":
    env = {
        "PYTHONPATH": os.pathsep.join([str(clock), str(ROOT)]),
        "PATH": str(clock / "bin"),
        "HOME": str(folder),
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }
    program, *words = shlex.split(command)
    assert program == "workbench"
    # Some pages redirect the output, always at the end of the line.
    file = words[-1] if words[-2:-1] == [">"] else ""
    done = preloaded.run(*(words[:-2] if file else words), cwd=folder, env=env)
    if file:
        (folder / file).write_text(done.stdout, encoding="utf-8")
        done.stdout = ""
    return done
