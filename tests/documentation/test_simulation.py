"""The page about simulations: its manifest and trace give what it shows, and it names every column and defect."""

import json
import re
import shlex
from pathlib import Path

import pytest

from components.families import simulators
from components.performance.simulation.trace_reader import RESERVED, read_trace
from tests import preloaded
from tests.documentation.blocks import ROOT, blocks

PAGE = "docs/simulate.md"
MANIFESTS, *_ = [block.text for block in blocks("yaml") if block.page == PAGE]
TRACE, LINES = [block.text for block in blocks("") if block.page == PAGE and not block.language]
RUNS = [block.text.partition("\n") for block in blocks("console") if block.page == PAGE]


@pytest.mark.parametrize(("command", "shown"), [(command, shown) for command, _, shown in RUNS])
def test_what_is_shown_is_what_is_printed(command: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "chat.yaml").write_text(MANIFESTS)
    (tmp_path / "evening.csv").write_text(TRACE)
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "workbench"
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = preloaded.run(*words, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rstrip() for line in done.stdout.splitlines()] == shown.splitlines()


def test_there_are_two_of_them() -> None:
    assert len(RUNS) == 2


def test_the_histograms_are_read() -> None:
    trace, problems = read_trace(LINES, "page", ["chat"], ["load"])
    assert problems == []
    assert len(trace.targets["chat"]) == len([json.loads(line) for line in LINES.splitlines()]) == 2


def test_every_column_and_every_defect_is_named() -> None:
    named = set(re.findall(r"`([^`\n]+)`", (ROOT / PAGE).read_text(encoding="utf-8")))
    assert {*RESERVED, *(defect for each in simulators() for defect in each.defects)} <= named
