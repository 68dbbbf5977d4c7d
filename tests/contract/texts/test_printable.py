"""Nothing in a text of others moves the cursor, hides, turns the writing direction or begins a line of its own."""

import pytest
import yaml

from components.contract.documents.writer import dump_all
from components.contract.problems import Problem
from components.contract.texts.printable import printable, printable_lines

ODD = {
    "\n": "\\x0a",
    "\r": "\\x0d",
    "\t": "\\x09",
    "\x00": "\\x00",
    "\x1b": "\\x1b",
    "\x7f": "\\x7f",
    "\x85": "\\x85",
    "\u00ad": "\\xad",
    "\u061c": "\\u061c",
    "\u200b": "\\u200b",
    "\u200d": "\\u200d",
    "\u202e": "\\u202e",
    "\u2028": "\\u2028",
    "\u2067": "\\u2067",
    "\ufeff": "\\ufeff",
    "\ud800": "\\ud800",
    "\U000e0041": "\\U000e0041",
}


@pytest.mark.parametrize(("letter", "escape"), ODD.items(), ids=ODD.values())
def test_what_is_not_seen_is_escaped(letter: str, escape: str) -> None:
    assert printable(f"a{letter}b") == f"a{escape}b"
    problem = Problem(
        file=f"f{letter}.yaml", line=1, kind=f"K{letter}", name=f"n{letter}", path=f"p{letter}", reason=f"r{letter}"
    )
    assert letter not in str(problem)
    assert not any(letter in str(value) for value in problem.as_dict().values())


@pytest.mark.parametrize("text", ["plain", "größe", "模型", "a b", "🙂", "\\n"])
def test_what_is_seen_stays(text: str) -> None:
    assert printable(text) == text


def test_lines_of_our_own_stay() -> None:
    assert printable_lines("a\x1b\nb\r") == "a\\x1b\nb\\x0d"


@pytest.mark.parametrize("letter", [letter for letter in ODD if letter not in "\n\t\ud800"])
@pytest.mark.parametrize("shape", ["a{}b", "{}", "a\n{}b\n", "{}\na"])
def test_yaml_shows_no_such_letter_and_means_it(letter: str, shape: str) -> None:
    value = {shape.format(letter): [shape.format(letter)]}
    text = dump_all([value])
    assert letter not in text
    assert yaml.safe_load(text) == value
