"""The page about plans names what the command has."""

import inspect
from pathlib import Path

from tests.commands.support import ROOT
from workbench.planning.command import plan
from workbench.planning.formats import SUFFIXES, ReviewFormat

PAGE = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")


def test_every_option_is_named() -> None:
    names = {name: f"--{name.replace('_', '-')}" for name in inspect.signature(plan).parameters}
    flags = {**names, "form": "--output", "paths": "PATH"}
    assert [flag for flag in flags.values() if f"`{flag}" not in PAGE] == []


def test_every_format_is_named() -> None:
    assert [form for form in ReviewFormat if f"`{form}`" not in PAGE] == []
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in PAGE] == []


def test_every_file_that_is_named_is_there() -> None:
    named = {word for word in PAGE.split("`")[1::2] if word.startswith("components/") and "." in word}
    assert named
    assert [word for word in named if not Path(ROOT / word).is_file()] == []
