"""The example of an ignored finding: what the page shows is what is printed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.documentation.blocks import blocks
from workbench.cli import app

PAGE = "docs/findings.md"


def test_what_is_ignored_is_printed_as_the_page_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifests = next(block for block in blocks("yaml") if block.page == PAGE)
    (console,) = (block for block in blocks("console") if block.page == PAGE)
    command, _, shown = console.text.partition("\n")
    monkeypatch.chdir(tmp_path)
    Path("chat.yaml").write_text(manifests.text)
    done = CliRunner().invoke(app, command.removeprefix("$ workbench ").split())
    assert done.exit_code == 0
    assert (done.stdout + done.stderr).split() == shown.split()
