"""Patterns are accepted as Go accepts them."""

import json

import pytest

from components.contract.go_patterns import pattern_error
from tests.contract.go_patterns import RECORDED


def test_verdicts_are_those_of_go() -> None:
    rows = json.loads(RECORDED.read_text())
    assert {accepted for _, accepted in rows} == {True, False}
    differences = [pattern for pattern, accepted in rows if (pattern_error(pattern) is None) != accepted]
    assert differences == []


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("([", "a '['"),
        ("(a", "a '('"),
        ("a)", "a ')'"),
        ("(?=a)b", "assertion '(?='"),
        ("(?!/admin)/v1/.*", "assertion '(?!'"),
        ("(?<=a)b", "assertion '(?<='"),
        (r"(a)\1", "earlier group"),
        ("a++", "repetition of a repetition"),
        ("(?>a)", "unknown group"),
        (r"a\Z", "escape"),
        ("*", "nothing before"),
        ("a{1001}", "at most 1000"),
        ("(?:a{100}){100}", "within each other"),
        ("[z-a]", "before its first"),
        ("[[:word:]][[:letters:]]", "unknown class"),
        ("(?P<a>x)(?P<a>y)", "same name"),
        ("a\\", "ends in a backslash"),
    ],
)
def test_the_message_says_what_is_wrong(pattern: str, word: str) -> None:
    assert word in (pattern_error(pattern) or "")


@pytest.mark.parametrize("pattern", ["", "a*?", r"\Q(\E", r"\pL+\z", "(?i:x)(?P<n>y)", "[]a-]", "x{,2}", "a{2,3}?"])
def test_what_go_accepts(pattern: str) -> None:
    assert pattern_error(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["(secret", "[secret", "(?P<se-cret>x)", "[[:secret:]]", "(?<s>a)(?<s>b)", r"\p{1}"]
)
def test_the_message_repeats_no_text(pattern: str) -> None:
    assert "secret" not in (pattern_error(pattern) or "secret")
