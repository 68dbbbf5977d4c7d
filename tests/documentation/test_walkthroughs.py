"""Every page with commands: they run, in the order of the page, and print what it shows."""

from pathlib import Path

import pytest

from tests.documentation.blocks import PAGES, ROOT, Block, blocks, page_blocks
from tests.documentation.elsewhere import COMMANDS, LISTINGS, Elsewhere, elsewhere
from tests.documentation.walkthroughs import Run, follow, typed

FOLLOWED = [page for page in PAGES if any(block.language == "console" for block in page_blocks(page))]
GENERATED = ("docs/installation-configuration.md",)
"""A page of Pulumi's registry, whose form has no prompts; tests/registry compares it."""
BLOCK = Block("docs/tasks/page.md", 1, "console", "")
TYPED = [(block, command) for block in blocks("console") for command, _ in typed(block.text)]


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    for run in follow(page, tmp_path):
        if run.shown.strip():
            assert run.matches(), f"{run.block}: {run.command}\n{run.printed}"
        else:
            assert run.code == 0, f"{run.block}: {run.command}\n{run.printed}"


def test_every_line_of_a_console_is_a_command_or_its_output() -> None:
    """A line before the first prompt would be dropped."""
    assert [str(block) for block in blocks("console") if not block.text.startswith("$ ")] == []


def test_commands_that_walkthroughs_do_not_run_have_a_reason() -> None:
    """Others run, or fail in the test above; a command in a block without a prompt would do neither."""
    for block in blocks(""):
        first = block.text.split()[0]
        assert block.page in GENERATED or first not in ("$", "workbench", "make", "pulumi", "kubectl"), (
            f"{block}: use a console"
        )
        assert block.page in LISTINGS, f"{block}: name what looks at it in elsewhere.py"


def test_no_reason_is_left_over() -> None:
    used = [entry for block, command in TYPED if (entry := elsewhere(block, command))]
    assert [entry for entry in COMMANDS if entry not in used] == []
    assert {block.page for block in blocks() if not block.language} >= set(LISTINGS)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: f"{entry.pages} {entry.commands}")
def test_what_runs_a_command_elsewhere_exists(entry: Elsewhere) -> None:
    assert entry.reason
    assert [test for test in entry.tests if not (ROOT / test).exists()] == []


def test_a_new_command_needs_no_cluster_or_a_reason() -> None:
    assert elsewhere(BLOCK, "workbench plan --stack dev") is None
    assert elsewhere(BLOCK, "helm install x") is None
    assert elsewhere(BLOCK, "pulumi up")


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
