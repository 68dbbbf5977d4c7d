"""The page about fit: it shows what is printed, and names every column, and the outcomes it was tried on."""

import re
import shlex

import pytest

from components.checks.memory.cases import Fit
from tests.commands.support import workbench
from tests.documentation.blocks import ROOT, blocks
from tests.documentation.walkthroughs import typed
from tests.plan.fitting.cases import published

PAGE = "docs/fit.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
SHOWN = [
    (command, shown)
    for block in blocks("console")
    if block.page == PAGE
    for command, shown in typed(block.text)
    if shown.strip()
]


@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_what_is_shown_is_what_is_printed(command: str, shown: str) -> None:
    done = workbench(*shlex.split(command.removeprefix("workbench ")), columns=80)
    assert done.stderr == "stack: local\n"  # the checkout's default
    assert done.stdout.splitlines() == shown.splitlines()


def test_every_column_is_named() -> None:
    shown = (line for _, text in SHOWN for line in text.splitlines())
    titles = [re.split(r"  +", line) for line in shown if line.startswith(("GPU ", "INSTANCE "))]
    named = set(re.findall(r"`([^`\n]+)`", TEXT))
    assert len(titles) == 4
    assert {title for row in titles for title in row} <= named


def test_the_numbers_of_outcomes_are_those_of_the_tests() -> None:
    fits = {starts: [case.verdict.fit for case in published() if case.starts is starts] for starts in (True, False)}
    text = " ".join(TEXT.split())
    assert "of the ten servers that failed, it calls six *exceeded* and four *tight*" in text
    assert [fits[False].count(fit) for fit in (Fit.EXCEEDED, Fit.TIGHT)] == [6, 4]
    assert "of the twenty that started, nineteen *fit* and one is *tight*" in text
    assert [fits[True].count(fit) for fit in (Fit.FITS, Fit.TIGHT)] == [19, 1]
