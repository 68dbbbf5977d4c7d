"""What the kubelet makes of the words of a command, and that the text of a script is not changed by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.shell import script_words
from tests.kubelet import expanded


@given(
    st.text("$()ab \n\"'`\\", max_size=30),
    st.dictionaries(st.text("ab \n\"'`\\", max_size=3), st.just("!"), max_size=5),
)
def test_the_text_of_a_script_reaches_its_shell_whatever_the_variables(text: str, variables: dict[str, str]) -> None:
    words = [expanded(word, variables) for word in script_words(text, "name", "$(a)")]
    assert words == ["sh", "-c", text, "name", variables.get("a", "$(a)")]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$(A)", "one"),
        ("$(A)-$(A)", "one-one"),
        ("'$(A)'", "'one'"),
        ("$$(A)_$(A)", "$(A)_one"),
        ("f000-$$A", "f000-$A"),
        ("foo\\$(A)bar", "foo\\onebar"),
        ("$(A$(A))", "$(A$(A))"),
        ("$(REF)", "$(A)"),
        ("foo$(A", "foo$(A"),
        ("$?_boo_$!", "$?_boo_$!"),
        ("$A", "$A"),
        ("${A}", "${A}"),
        ("$(B)", "$(B)"),
        ("$$$$$$$(A)", "$$$one"),
        ("$(A)__$(", "one__$("),
        ("a$", "a$"),
    ],
)
def test_the_stand_in_expands_as_the_kubelet_does(text: str, result: str) -> None:
    """The cases of Kubernetes' own test."""
    assert expanded(text, {"A": "one", "REF": "$(A)"}) == result
