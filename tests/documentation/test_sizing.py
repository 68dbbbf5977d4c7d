"""The page about sizing: it shows what is printed, and it names every column and option."""

import os
import re
import shlex
from pathlib import Path

from tests import preloaded
from tests.commands.sizing.runs import PROFILES, SAMPLE, rows
from tests.documentation.blocks import ROOT, blocks

PAGE = "docs/sizing.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")


def test_what_is_shown_is_what_is_printed(tmp_path: Path) -> None:
    command, _, shown = next(block.text for block in blocks("console") if block.page == PAGE).partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "workbench"
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = preloaded.run(*words, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.splitlines()] == shown.splitlines()
    assert "▲" in shown
    assert "L40S: a token takes" in shown


def test_the_variant_that_is_shown_is_among_the_samples() -> None:
    commands = [block.text.strip() for block in blocks("console") if block.page == PAGE]
    (command,) = [each for each in commands if "--variant" in each]
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "workbench"
    done = preloaded.run(*words, env=os.environ)
    assert done.returncode == 0, done.stderr


def test_every_column_is_named() -> None:
    (row,) = rows("--rate", "40", *SAMPLE, *PROFILES[:4]).values()
    assert {*row, "model", "literal", "chosen"} <= set(re.findall(r"`([^`\n]+)`", TEXT))


def test_every_option_is_named() -> None:
    command = (ROOT / "workbench/sizing/command.py").read_text(encoding="utf-8")
    parameters = re.search(r"def size\(\n.*?\*,\n(.*?)\) -> None", command, re.DOTALL)
    assert parameters
    names = re.findall(r"^    (\w+):", parameters[1], re.MULTILINE)
    options = [f"--{name.replace('_', '-')}" for name in names if name != "paths"]
    assert len(options) == 19
    assert [option for option in options if option not in TEXT] == []
