"""Pages that one follows from top to bottom: their files, settings and commands, in the order of the page."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.documentation.blocks import ROOT, Block, body, file_name, is_setting, page_blocks

TODAY = "2026-11-24"
"""Support of versions, age of releases and reservations depend on the date, so the pages have a fixed one."""
CHECKOUT = ("Pulumi.yaml", "__main__.py", "components", "stacks", "workbench", "livefleet", "toolkit")
EXECUTED = ("validate", "plan", "explain", "size", "render", "simulate", "migrate", "crds")
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


def follow(page: Path, folder: Path) -> Iterator[Run]:
    """Write the page's files and settings, and run its commands that need no cluster and show their output."""
    _prepare(folder)
    for block in page_blocks(page):
        if block.language == "yaml" and (name := file_name(block)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(body(block))
        elif block.language == "yaml" and is_setting(block):
            _set(folder, yaml.load(block.text, yaml.BaseLoader))
        elif block.language == "console":
            for command, shown in _commands(block.text):
                if command.split()[:1] == ["workbench"] and command.split()[1] in EXECUTED and shown.strip():
                    yield Run(block, command, shown, _run(folder, command))


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


def _commands(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command.partition("  #")[0].strip(), shown


def _run(folder: Path, command: str) -> str:
    words = [sys.executable, "-m", *shlex.split(command)]
    env = {
        "PYTHONPATH": os.pathsep.join([str(folder / ".clock"), str(ROOT)]),
        "PATH": "/nowhere",
        "HOME": str(folder),
        "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False, timeout=300)
    return done.stdout + done.stderr
