"""Positions in YAML text: lines of marks, spans of documents, lines of fields."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_FURTHER_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Characters that are line breaks in YAML 1.1 but not in editors."""
_ENDS = ("", ".", "[", "]")
"""What may follow a key in a written path."""


class DocumentSpan(NamedTuple):
    """Position of a document in its text: character offsets, and line and column of the first character."""

    start: int
    end: int
    line: int
    column: int


class Lines:
    """Converts YAML marks to line numbers as editors count them.

    Args:
        text: The text that was parsed.
        before: Number of lines of the file before the text.
    """

    def __init__(self, text: str, before: int = 0) -> None:
        self._further = [] if text.isascii() else [match.start() for match in _FURTHER_BREAKS.finditer(text)]
        self._first = before + 1

    def of(self, mark: Any) -> int:  # noqa: ANN401  a mark of either composer
        return int(mark.line) + self._first - (bisect_left(self._further, mark.index) if self._further else 0)

    def span(self, node: Node) -> DocumentSpan:
        start = node.start_mark
        return DocumentSpan(start.index, node.end_mark.index, self.of(start), start.column)


class LocatedDocument:
    """A document whose fields can be located."""

    def __init__(self, node: Node, lines: Lines) -> None:
        self.node = node
        self._lines = lines
        self._steps: dict[int, dict[str | int, tuple[Node, Node]]] = {}
        self._texts: dict[int, tuple[dict[str, tuple[Node, Node]], list[int]]] = {}

    def line(self, parts: Iterable[str | int]) -> int:
        """Return the line of the field at a path, or of its nearest parent that is present."""
        node = start = self.node
        for part in parts:
            child = self._children(node).get(part if isinstance(node, SequenceNode) else str(part))
            if child is None:
                break
            start, node = child
        return self._lines.of(start.start_mark)

    def line_at(self, path: str) -> int:
        """Return the line of the field at a written path, such as ``types.p5.48xlarge.zones[0]``, or of its parent.

        Keys may contain dots: the longest key of a map that fits is the next step.
        """
        node = start = self.node
        rest = path
        while rest:
            children, lengths = self._written(node)
            fitting = (n for n in lengths if rest[n : n + 1] in _ENDS and rest[:n] in children)
            length = next(fitting, None)
            if length is None:
                break
            start, node = children[rest[:length]]
            rest = rest[length:].lstrip(".[]")
        return self._lines.of(start.start_mark)

    def _written(self, node: Node) -> tuple[dict[str, tuple[Node, Node]], list[int]]:
        """Return the children of a node by key or index as text, and the lengths of those texts, longest first.

        A map of thousands of keys with a fault in each has few lengths.
        """
        written = self._texts.get(id(node))
        if written is None:
            children = {str(key): child for key, child in self._children(node).items()}
            written = children, sorted({len(key) for key in children}, reverse=True)
            self._texts[id(node)] = written
        return written

    def _children(self, node: Node) -> dict[str | int, tuple[Node, Node]]:
        """Return the children of a node by key or index: the node at which each starts, and its value."""
        children = self._steps.get(id(node))
        if children is None:
            children = {}
            if isinstance(node, MappingNode):
                # Reversed, so that the first of duplicate keys wins.
                children = {k.value: (k, v) for k, v in reversed(node.value) if isinstance(k, ScalarNode)}
            elif isinstance(node, SequenceNode):
                children = {index: (item, item) for index, item in enumerate(node.value)}
            self._steps[id(node)] = children
        return children
