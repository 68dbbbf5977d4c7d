"""Parsing untrusted JSON and YAML files into plain values, with limits on size and depth."""

import json
from collections.abc import Iterator
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from components.contract.documents.reader import MAX_DEPTH, YamlError, compose

_MAX_VALUES = 2_000_000
_PER_REQUEST_KEYS = ("requests", "request_samples", "scheduler_state")
"""Keys with data for each request, which make up nearly all of a report and are skipped."""


class ParseError(Exception):
    """Malformed or too large JSON or YAML; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text; appended results are several values in a row.

    Raises:
        ParseError: the text is not valid JSON.
    """
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise ParseError(error.lineno, f"is not valid JSON: {error.msg}") from None
        except RecursionError:
            raise ParseError(text.count("\n", 0, place) + 1, "is nested too deeply") from None
        except ValueError as error:  # Python limits the number of digits of an integer
            raise ParseError(text.count("\n", 0, place) + 1, f"is not valid JSON: {error}") from None
        yield value


def yaml_values(text: str) -> Iterator[Any]:
    """Yield the documents of a YAML text. Scalars stay text, and tags, which can name Python classes, are ignored.

    Raises:
        ParseError: the text is not valid YAML.
    """
    remaining = _MAX_VALUES

    def to_values(node: Node, depth: int) -> Any:  # noqa: ANN401
        nonlocal remaining
        remaining -= 1  # aliases can expand a small file into a huge tree
        if remaining < 0 or depth > MAX_DEPTH:
            raise YamlError(node.start_mark.line + 1, "has too many values, or is nested too deeply")
        if isinstance(node, MappingNode):
            pairs = ((key.value, value) for key, value in node.value if isinstance(key, ScalarNode))
            return {key: to_values(value, depth + 1) for key, value in pairs if key not in _PER_REQUEST_KEYS}
        if isinstance(node, SequenceNode):
            return [to_values(value, depth + 1) for value in node.value]
        return node.value

    try:
        for node in compose(text):
            remaining = _MAX_VALUES
            yield to_values(node, 0)
    except YamlError as error:
        raise ParseError(error.line, f"{error.reason}; let the benchmark write JSON") from None
