"""The pages of docs/start and docs/tasks: their commands print what the pages show."""

from pathlib import Path

import pytest

from tests.documentation.blocks import ROOT, Block
from tests.documentation.walkthroughs import Run, follow

PAGES = sorted([*(ROOT / "docs/start").glob("*.md"), *(ROOT / "docs/tasks").glob("*.md")])
BLOCK = Block("docs/tasks/page.md", 1, "console", "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    for run in follow(page, tmp_path):
        assert run.matches(), f"{run.block}: {run.command}\n{run.printed}"


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        ("one two\nthree\n", True),
        ("one two\n...\n", True),
        ("...\nthree\n", True),
        ("one  ...  three", True),
        ("... two ...", True),
        ("...", True),
        ("one two\n", False),
        ("one\n...\ntwo\n", False),
        ("one 2\n...\n", False),
        ("... three two ...", False),
        ("one ... two three four", False),
    ],
)
def test_output_is_compared_word_by_word(shown: str, same: bool) -> None:
    assert Run(BLOCK, "workbench validate", shown, "one two\nthree\n").matches() is same
