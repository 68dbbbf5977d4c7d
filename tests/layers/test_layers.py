"""Folders import in one direction, and what belongs to one of them is named in no other.

Each rule of the layout is one test over the whole project, which lists every offender.
"""

import pytest

from tests.layers.order import missing_folders
from tests.layers.rules import RULES


@pytest.mark.parametrize("rule", RULES)
def test_the_project_keeps_the_rule(rule: str) -> None:
    RULES[rule].check()


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_finds_its_examples(rule: str) -> None:
    RULES[rule].check_examples()


def test_the_folders_of_the_lists_exist() -> None:
    assert list(missing_folders()) == []
