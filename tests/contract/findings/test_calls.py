"""Every warning and note names its rule, and every rule is named by somebody."""

import ast

import pytest

from components.contract.findings.ids import FINAL, RuleId
from tests.contract.findings.calls import named_rules, sayings
from tests.layers.modules import Module, modules

CHECKS = [
    each
    for each in modules("components", "stacks", "toolkit", "livefleet", "workbench")
    if each.path != "components/contract/findings/ids.py"
]


def module(text: str) -> Module:
    return Module("components/toy.py", text)


def test_every_warning_and_note_has_a_rule() -> None:
    found = [saying for each in CHECKS for saying in sayings(each)]
    assert len(found) > 100, "the walk finds what there is"
    assert [saying.place for saying in found if not saying.rule] == []


def test_every_rule_is_named_where_something_is_checked() -> None:
    named = {name for each in CHECKS for name in named_rules(each.tree)}
    assert named <= set(RuleId.__members__)
    assert sorted(set(RuleId.__members__) - named) == []


def test_what_ends_the_rendering_cannot_be_ignored() -> None:
    """``fail`` leaves nothing that could be made: such a rule must be final."""
    ends = [
        (f"{each.path}:{node.lineno}", [RuleId[name] for name in named_rules(node)])
        for each in CHECKS
        for node in ast.walk(each.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fail"
    ]
    assert len(ends) > 5
    assert [(place, rules) for place, rules in ends if not FINAL.issuperset(rules)] == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("findings.warn('spec', 'reason')", [""]),
        ("findings.warn('spec', 'reason', RuleId.FLAGS_UNKNOWN)", ["FLAGS_UNKNOWN"]),
        ("findings.note('spec', f'{reason}')", [""]),
        ("origin.problem(reason, Severity.WARNING)", [""]),
        ("origin.problem(reason, Severity.WARNING, rule=RuleId.FLAGS_UNKNOWN)", ["FLAGS_UNKNOWN"]),
        ("Problem(f, 0, '', '', '', r, Severity.ERROR if sure else Severity.WARNING)", [""]),
        ("findings.record(path, found.reason, found.severity)", [""]),
        ("findings.record(path, found.reason, found.severity, found.rule)", ["rule"]),
        ("findings.error(path, reason)", []),
        ("origin.problem(reason)", []),
        ("pulumi.log.warn('text')", []),
    ],
)
def test_the_walk_sees_what_it_should(text: str, rules: list[str]) -> None:
    assert [saying.rule for saying in sayings(module(text))] == rules
