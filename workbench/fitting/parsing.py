"""JSON and YAML of benchmarks as plain values, whoever wrote the file: bounded, and nothing of it is run."""

import json
from collections.abc import Iterator
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from components.contract.documents.reader import MAX_DEPTH, YamlError, compose

_MOST_VALUES = 2_000_000
_HEAVY = ("requests", "request_samples", "scheduler_state")
"""What reports have for each request: nothing of it is needed, and it is nearly all of the file."""


class TreeError(Exception):
    """Text that is no JSON or YAML, or too much of it; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text, which may have several one after the other, as appended results have.

    Raises:
        TreeError: it is no JSON.
    """
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise TreeError(error.lineno, f"is no JSON: {error.msg}") from None
        except RecursionError:
            raise TreeError(text.count("\n", 0, place) + 1, "is nested too deeply") from None
        except ValueError as error:  # a number with thousands of digits
            raise TreeError(text.count("\n", 0, place) + 1, f"is no JSON: {error}") from None
        yield value


def yaml_values(text: str) -> Iterator[Any]:
    """Yield the documents of a YAML text: every scalar is text, and tags, which name classes of Python, are not read.

    Raises:
        TreeError: it is no YAML.
    """
    try:
        for node in compose(text):
            yield _Plain().of(node, 0)
    except YamlError as error:
        raise TreeError(error.line, f"{error.reason}; let the benchmark write JSON") from None


class _Plain:
    """Turns nodes into plain values; aliases can make much of little, so that it counts."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def of(self, node: Node, depth: int) -> Any:  # noqa: ANN401  whatever the file holds
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise YamlError(node.start_mark.line + 1, "has too many values, or is nested too deeply")
        if isinstance(node, MappingNode):
            pairs = ((key.value, value) for key, value in node.value if isinstance(key, ScalarNode))
            return {key: self.of(value, depth + 1) for key, value in pairs if key not in _HEAVY}
        if isinstance(node, SequenceNode):
            return [self.of(value, depth + 1) for value in node.value]
        return node.value
