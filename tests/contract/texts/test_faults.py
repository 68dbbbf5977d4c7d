"""What is said about texts that are not YAML."""

import time

import pytest

from components.contract.documents.reader import YamlError, read_documents


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a:\n\tb: 1\n", 2, "is indented with a tab, but YAML allows only spaces there"),
        ("a:\tb\n\tc: d\n", 2, "is indented with a tab"),
        ("spec:\n  a: 1\n   b: 2\n", 3, "is indented to column 4, but the key above it starts at column 3"),
        ("spec:\n  a:\n    b: 1\n   c: 2\n", 4, "is indented to column 4, but the key above it starts at column 5"),
        ("items:\n- a: 1\n b: 2\n", 3, "is indented to column 2, but the key above it starts at column 3"),
        ("env:\n- name: x\n  value: 1\n   foo: 3\n", 4, "column 4, but the key above it starts at column 3"),
        ("a: b: c\n", 1, "a value with ': ' in it must be in quotes"),
        ("a: @x\n", 1, "a value cannot start with '@'; put it in quotes"),
        ("a: `x`\n", 1, "a value cannot start with '`'"),
        ("a: %x\n", 1, "a value cannot start with '%'"),
        ("a: *x\n", 1, "a value that starts with * refers to an anchor, and there is none; put it in quotes"),
        ("a: [1, 2\nb: 3\n", 2, "the bracket opened in line 1 is not closed; add ']'"),
        ("a: {x: 1\nb: 3\n", 2, "the bracket opened in line 1 is not closed; add '}'"),
        ('a: "x\nb: 3\n', 2, "the quote opened in line 1 is not closed"),
        ("a: 1\nfoo\nb: 2\n", 3, "line 2 is neither 'key: value' nor an item '- value'"),
        ("args:\n  - --x\n  -y\n  - z\n", 4, "line 3 is neither 'key: value' nor an item"),
        ("a: 'it's'\n", 1, "a quote ends the value before its end; double the quote inside of it"),
        (" a: 1\nb: 2\n", 2, "starts at column 1, left of the first line"),
    ],
)
def test_faults_are_named_as_an_author_sees_them(text: str, line: int, reason: str) -> None:
    with pytest.raises(YamlError) as caught:
        list(read_documents(text))
    assert (caught.value.line, reason in caught.value.reason) == (line, True), caught.value.reason


@pytest.mark.parametrize(
    "text", ["a:\n  - b: 1\n    c: 2\n", "a:\n- b: '@'\n  c: 'x: y'\n", "a: [1,\n  2]\n", "a: it's\n", "a:\t1\n"]
)
def test_texts_that_look_alike_are_yaml(text: str) -> None:
    assert list(read_documents(text))


def test_the_search_for_a_fault_is_bounded() -> None:
    text = "".join(f"{' ' * (depth % 90)}k{depth}: 1\n" for depth in range(100_000))
    start = time.process_time()
    with pytest.raises(YamlError):
        list(read_documents(text))
    assert time.process_time() - start < 5
