"""The page about fits: its table gives what it shows, and it names every option and column."""

import re
import shlex
from pathlib import Path

from tests import preloaded
from tests.documentation.blocks import ROOT, blocks

PAGE = "docs/fit-profile.md"
_, RUNS = [block.text for block in blocks("") if block.page == PAGE and not block.language]


def test_what_is_shown_is_what_is_printed(tmp_path: Path) -> None:
    ((command, _, shown),) = [block.text.partition("\n") for block in blocks("console") if block.page == PAGE]
    (tmp_path / "runs.csv").write_text(RUNS)
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "workbench"
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = preloaded.run(*words, cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert done.stderr == "note: 1 of 7 measurements left out: concurrency too high\n"
    assert [line.rstrip() for line in done.stdout.splitlines()] == shown.splitlines()


def test_every_option_is_named() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    command = (ROOT / "workbench/fitting/command.py").read_text(encoding="utf-8")
    parameters = re.search(r"def fit_profile\(\n.*?\*,\n(.*?)\) -> None", command, re.DOTALL)
    assert parameters
    options = [f"--{name.replace('_', '-')}" for name in re.findall(r"^    (\w+):", parameters[1], re.MULTILINE)]
    assert len(options) == 8
    assert [option for option in options if option not in text] == []
