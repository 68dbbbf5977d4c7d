"""The help of every command: grouped, in whole sentences, with every character of its texts."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tests.layers.modules import ROOT
from workbench.cli import app
from workbench.helping import _GROUPS

GROUP = typer.main.get_command(app)
TAKING = ("explain", "defaults", "size", "simulate", "render")


def commands(group: Any = GROUP, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its name."""
    if not hasattr(group, "commands"):
        yield path, group
        return
    for name, command in group.commands.items():
        yield from commands(command, (*path, name))


ALL = dict(commands())


def shown(*words: str, columns: int = 100) -> str:
    """The help of a command, as people see it."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "workbench", *words, "--help"],
        cwd=ROOT,
        env={"COLUMNS": str(columns), "PATH": "", "PYTHONPATH": str(ROOT), "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def flowing(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in _GROUPS.values() for name in names]
    assert sorted(grouped) == sorted({path[0] for path in ALL})
    text = shown()
    assert "Commands:" not in text
    assert all(f"\n{panel}:\n" in text for panel in _GROUPS)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_paragraphs_are_whole(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert command.help
    assert command.callback
    documented = inspect.cleandoc(inspect.getdoc(command.callback) or "")
    assert command.help.split("\n\n") == [" ".join(each.split()) for each in documented.split("\n\n")]


def test_nothing_in_brackets_is_swallowed() -> None:
    assert "not as [secret]." in flowing(shown("render"))


@pytest.mark.parametrize("name", TAKING)
def test_options_that_override_settings_are_listed_once(name: str) -> None:
    text = shown(name)
    assert text.count("--realization") == 1
    assert "See `workbench validate --help`." in flowing(text)
    # size has twenty options of its own.
    assert len(shown(name, columns=80).splitlines()) < (110 if name == "size" else 90)


def test_validate_explains_them() -> None:
    text = flowing(shown("validate"))
    assert "--realization <native|operator> Render plain Kubernetes objects (native)" in text
    assert "Options that override settings" not in text
