"""The registry and the ids are of one mind, and so is the page about them."""

import re

import pytest

from components.contract.findings.ids import RuleId
from components.contract.findings.registry import rule, rules
from components.contract.problems import Severity
from tests.contract.findings.page import PAGE, START, page

RULES = list(RuleId)
LONGEST_TITLE = 60


def test_the_registry_has_each_id_once_and_in_their_order() -> None:
    assert list(rules()) == RULES


@pytest.mark.parametrize("name", RULES)
def test_each_rule_can_be_read(name: RuleId) -> None:
    info = rule(name)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name), "ids are written in annotations and anchors"
    assert len(name) <= 63 - len("/"), "ids are the name part of an annotation's key"
    assert info.title == info.title.strip()
    assert 0 < len(info.title) <= LONGEST_TITLE
    assert not info.title.endswith("."), "sentences are put together from it"
    assert info.help.endswith(".")
    assert "\n" not in info.help
    assert info.help != info.title


def test_the_id_in_code_is_the_id_in_annotations() -> None:
    assert [name for name in RULES if name.name != name.value.upper().replace("-", "_")] == []


def test_what_must_not_be_ignored_is_what_cannot_be_made() -> None:
    fixed = {RuleId.CONTRACT, RuleId.SETTINGS, RuleId.IGNORE_WRONG, RuleId.REFERENCE_MISSING}
    assert not any(rule(each).may_be_ignored for each in fixed)
    assert rule(RuleId.MEMORY_EXCEEDED).may_be_ignored
    assert rule(RuleId.NODES_UNSERVED).severity is Severity.ERROR


def test_the_page_has_a_section_for_each_rule() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert START in text
    assert text == page(), "run make findings-page"
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert headings == [str(name) for name in RULES]


def test_the_anchor_leads_to_the_section() -> None:
    """GitHub and GitLab make the anchor of a heading of lower-case letters and dashes as it is."""
    text = PAGE.read_text(encoding="utf-8")
    anchors = {name: rule(name).anchor.partition("#") for name in RULES}
    document = str(PAGE.relative_to(PAGE.parents[1]))
    assert {name: found for name, (found, _, _) in anchors.items() if found != document} == {}
    assert [name for name, (_, _, anchor) in anchors.items() if f"\n### {anchor}\n" not in text] == []
