"""What is wrong, and what to do about it, in one message."""

import pytest

from components.contract.findings.advice import advice, split_message
from components.contract.findings.ids import RuleId


@pytest.mark.parametrize(
    ("reason", "cause", "step"),
    [
        ("must be at most 8, found 16; lower it", "must be at most 8, found 16", "lower it"),
        ("no such key; did you mean 'model'?", "no such key", "did you mean 'model'?"),
        ("it has no memory. Choose another type.", "it has no memory", "Choose another type"),
        ("a; b; use c; or d", "a; b", "use c; or d"),
        ("taken; rename one of the two", "taken", "rename one of the two"),
        (
            "the pods go first; if that is not intended, remove it",
            "the pods go first",
            "if that is not intended, remove it",
        ),
        (
            "is one of kustomize; `workbench adopt` takes it over",
            "is one of kustomize",
            "`workbench adopt` takes it over",
        ),
        ("found 90; write 0.9: it is a share", "found 90", "write 0.9: it is a share"),
    ],
)
def test_the_next_step_is_separated(reason: str, cause: str, step: str) -> None:
    assert split_message(reason) == (cause, step)


@pytest.mark.parametrize(
    "reason",
    [
        "must be at most 8, found 16",
        "conflicts with b; name is required with cert-manager",
        "has no effect (the engine reads it; set by the operator; use is rare)",
        "the image has one already; set-up is done by its entry point",
    ],
)
def test_what_is_no_step_stays(reason: str) -> None:
    assert split_message(reason) == (reason, "")


def test_the_description_of_the_rule_helps_where_the_message_does_not() -> None:
    assert advice("it has no effect", RuleId.FIELD_NO_EFFECT) == (
        "it has no effect",
        "Remove the field, or set the field that it depends on",
    )
    assert advice("it has no effect; remove it", RuleId.FIELD_NO_EFFECT).help == "remove it"


@pytest.mark.parametrize("rule", [RuleId.CONTRACT, RuleId.SETTINGS, "of-another-version"])
def test_rules_that_only_refer_to_the_message_add_nothing(rule: str) -> None:
    assert advice("must be at most 8", rule) == ("must be at most 8", "")
