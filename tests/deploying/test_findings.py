"""Findings in manifests: printed with the answer of ``preview``, not logged one by one."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.deploying.screens.projects import project
from workbench.cli import app


def preview(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["preview", "--offline", "--engine", "local", "--cwd", str(folder), *words])


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A project whose model asks for two GPUs of an instance that has one."""
    folder = project(tmp_path / "own", 1)
    file = folder / "models/chat.yaml"
    lines = file.read_text().replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 2").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "TP:" not in line))
    return folder


def test_an_error_is_printed_as_validate_prints_it(refused: Path) -> None:
    done = preview(refused)
    assert done.exit_code == 1
    headline, title, *_, closing = done.stdout.splitlines()
    assert headline == "local: 1 error, nothing was changed"
    assert title.startswith("error[nodes-too-small] models/chat.yaml:")
    assert "  help: " in done.stdout
    assert closing.startswith("1 error")
    assert done.stderr == ""


def test_json_keeps_the_message_of_the_program(refused: Path) -> None:
    done = preview(refused, "-o", "json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert str(done.exception).startswith("1 problem found; nothing was created\n")


def test_without_findings_nothing_is_counted(tmp_path: Path) -> None:
    folder = project(tmp_path / "own", 1)
    assert "error" not in preview(folder).stdout
    assert json.loads(preview(folder, "-o", "json").stdout)["counts"]["create"] > 0
