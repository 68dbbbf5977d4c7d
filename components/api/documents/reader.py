"""Reads YAML as Kubernetes does, fast, and finds the line of any field afterwards.

libyaml builds the node tree; the constructor here is a tenth of PyYAML's, because manifests need only maps,
lists and scalars. Lines are not kept while reading: a source is composed a second time when a line is asked
for, which happens only for files with problems.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..base import Json
from .scalars import TAGGED, Scalar, UnusableScalar, plain

_BASE: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML built without libyaml is slower and makes the same nodes."""

MAX_DEPTH = 100
MAX_NODES_PER_DOCUMENT = 1_000_000
"""Bounds what aliases can blow up to (a "billion laughs" document)."""

_TOO_DEEP = f"nested too deeply; at most {MAX_DEPTH} levels are allowed"
_PLAIN = "plain"
_TEXT = "text"
_COLLECTIONS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!"}


class YamlError(Exception):
    """Text that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(slots=True)
class Document:
    """One document of a file, as plain values."""

    index: int
    line: int
    value: Any
    odd: bool
    """Whether a null or a float occurs: then the API server's clean-up of values has something to do."""
    duplicates: list[tuple[int, str]]
    """Keys that occur twice in one map: line and key."""


class _Composer(Protocol):
    def check_node(self) -> bool: ...
    def get_node(self) -> Node: ...


def _resolve(_self: object, kind: type[Node], _value: object, implicit: tuple[bool, bool]) -> str:
    """Replace PyYAML's regular expressions: quoted is text, plain is read by :mod:`.scalars`."""
    if kind is ScalarNode:
        return _PLAIN if implicit[0] else _TEXT
    return "tag:yaml.org,2002:map" if kind is MappingNode else "tag:yaml.org,2002:seq"


def _composer(text: str) -> _Composer:
    """Return a composer that stops at the deepest nesting: libyaml itself recurses until the stack ends."""
    depth = 0

    def descend(_self: object, parent: Node | None, _index: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH + 1 and parent is not None:
            raise YamlError(parent.start_mark.line + 1, _TOO_DEEP)

    def ascend(_self: object) -> None:
        nonlocal depth
        depth -= 1

    hooks = {"resolve": _resolve, "descend_resolver": descend, "ascend_resolver": ascend}
    return cast("_Composer", type("Composer", (_BASE,), hooks)(text))


def nodes(text: str) -> Iterator[Node]:
    """Yield the node tree of every document that is not empty.

    Raises:
        YamlError: Where the text is not YAML.
    """
    try:
        composer = _composer(text)
        while composer.check_node():
            yield composer.get_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, f"not valid YAML: {error.problem or error}") from None
    except yaml.YAMLError as error:
        raise YamlError(1, f"not valid YAML: {error}") from None


def documents(text: str) -> Iterator[Document]:
    """Yield every document, one node tree in memory at a time.

    Raises:
        YamlError: Where the text is not YAML or uses what JSON cannot say; documents before it were yielded.
    """
    for index, node in enumerate(nodes(text)):
        reader = _DocumentReader()
        value = reader.read(node, 0)
        yield Document(index, node.start_mark.line + 1, value, reader.odd, reader.duplicates)


class _DocumentReader:
    """Turns the nodes of one document into plain values."""

    def __init__(self) -> None:
        self.odd = False
        self.duplicates: list[tuple[int, str]] = []
        self.budget = MAX_NODES_PER_DOCUMENT

    def read(self, node: Node, depth: int) -> Json:
        kind = type(node)
        if kind is ScalarNode:
            if node.tag == _TEXT:
                return node.value
            return self._scalar(node)
        self._spend(node, depth)
        if node.tag not in _COLLECTIONS:
            raise YamlError(node.start_mark.line + 1, f"tag {node.tag!r} is not allowed; remove it")
        if kind is MappingNode:
            return self._mapping(node, depth + 1)
        read = self.read
        return [read(item, depth + 1) for item in node.value]

    def _spend(self, node: Node, depth: int) -> None:
        self.budget -= 1 + len(node.value)
        if self.budget < 0:
            raise YamlError(
                node.start_mark.line + 1,
                f"its aliases expand to more than {MAX_NODES_PER_DOCUMENT} values; use fewer aliases",
            )
        if depth > MAX_DEPTH:
            raise YamlError(node.start_mark.line + 1, _TOO_DEEP)

    def _scalar(self, node: Node) -> Scalar:
        try:
            value = _plain(node.value) if node.tag == _PLAIN else TAGGED[node.tag](node.value)
        except UnusableScalar as error:
            raise YamlError(node.start_mark.line + 1, f"{error}; use a value that JSON can represent") from None
        except KeyError:
            if node.tag == "!":
                return str(node.value)
            raise YamlError(node.start_mark.line + 1, f"tag {node.tag!r} is not allowed; remove it") from None
        if value is None or type(value) is float:
            self.odd = True
        return value

    def _mapping(self, node: Node, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        read = self.read
        for key_node, value_node in node.value:
            if key_node.tag == _PLAIN and key_node.value == "<<":
                merged += self._merged(value_node, depth)
                continue
            key = self._key(key_node)
            if key in result:
                self.duplicates.append((key_node.start_mark.line + 1, key))
            result[key] = read(value_node, depth)
        for source in merged:
            for key, value in source.items():
                result.setdefault(key, value)
        return result

    def _key(self, node: Node) -> str:
        if type(node) is not ScalarNode:
            raise YamlError(node.start_mark.line + 1, "a key must be a string, found a map or a list")
        key = _plain_key(node) if node.tag == _PLAIN else node.value
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return str(key).lower()
        if key is None:
            raise YamlError(node.start_mark.line + 1, "a key must be a string, found null; put it in quotes")
        return f"{key:g}" if isinstance(key, float) else str(key)

    def _merged(self, node: Node, depth: int) -> list[dict[str, Any]]:
        sources = node.value if isinstance(node, SequenceNode) else [node]
        if not all(isinstance(source, MappingNode) for source in sources):
            raise YamlError(
                node.start_mark.line + 1, "<< can merge only a map or a list of maps, found something else"
            )
        return [self.read(source, depth) for source in sources]


def _plain_key(node: Node) -> Scalar:
    try:
        return _plain(node.value)
    except UnusableScalar as error:
        raise YamlError(node.start_mark.line + 1, f"{error}; put the key in quotes") from None


@functools.lru_cache(maxsize=65536)
def _plain(text: str) -> Scalar:
    return plain(text)


def line_of(node: Node, parts: list[str | int]) -> int:
    """Return the line of the field at a path, or of its nearest parent that is written."""
    line = node.start_mark.line + 1
    for part in parts:
        step = _step(node, part)
        if step is None:
            break
        line, node = step
    return line


def _step(node: Node, part: str | int) -> tuple[int, Node] | None:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if isinstance(key, ScalarNode) and key.value == str(part):
                return key.start_mark.line + 1, value
    elif isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark.line + 1, item
    return None
