"""Where things stand in a YAML text: lines of marks, spans of documents, lines of fields."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_FURTHER_BREAKS = re.compile("[\x85\u2028\u2029]")
"""What ends a line for YAML, and for no editor."""


class DocumentSpan(NamedTuple):
    """Where a document stands in its text: characters, and line and column of the first."""

    start: int
    end: int
    line: int
    column: int


class Lines:
    """Counts lines as editors do."""

    def __init__(self, text: str, before: int = 0) -> None:
        """Take a text, and how many lines come before it."""
        self._further = [] if text.isascii() else [found.start() for found in _FURTHER_BREAKS.finditer(text)]
        self._first = before + 1

    def of(self, mark: Any) -> int:  # noqa: ANN401  a mark of either composer
        """Return the line of a mark of YAML."""
        return int(mark.line) + self._first - (bisect_left(self._further, mark.index) if self._further else 0)

    def span(self, node: Node) -> DocumentSpan:
        """Return where a node stands."""
        start = node.start_mark
        return DocumentSpan(start.index, node.end_mark.index, self.of(start), start.column)


class LocatedDocument:
    """A document whose fields can be located."""

    def __init__(self, node: Node, lines: Lines) -> None:
        self._node = node
        self._lines = lines
        self._steps: dict[int, dict[str | int, tuple[Node, Node]]] = {}

    def line(self, parts: Iterable[str | int]) -> int:
        """Return the line of the field at a path, or of its nearest parent that is written."""
        node = written = self._node
        for part in parts:
            step = self._below(node).get(part if isinstance(node, SequenceNode) else str(part))
            if step is None:
                break
            written, node = step
        return self._lines.of(written.start_mark)

    def _below(self, node: Node) -> dict[str | int, tuple[Node, Node]]:
        """Return what stands in a collection: by key or index, where it begins and what it is."""
        found = self._steps.get(id(node))
        if found is None:
            found = self._steps[id(node)] = dict(_entries(node))
        return found


def _entries(node: Node) -> Iterator[tuple[str | int, tuple[Node, Node]]]:
    if isinstance(node, MappingNode):
        # Of equal keys the first counts.
        yield from ((k.value, (k, v)) for k, v in reversed(node.value) if isinstance(k, ScalarNode))
    elif isinstance(node, SequenceNode):
        yield from ((index, (item, item)) for index, item in enumerate(node.value))
