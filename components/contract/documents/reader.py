"""Reads YAML as Kubernetes does and locates the line of any field afterwards.

libyaml builds the node tree; the constructor is reimplemented here, because manifests need only maps, lists, and
scalars, and PyYAML's constructor is slow. Only the nodes of one document are in memory at a time. A document is
composed a second time if a line of it is needed later, which happens only for documents with problems.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..base import Json
from ..texts.printable import printable
from .positions import DocumentSpan, Lines, LocatedDocument
from .scalars import TAGGED, Scalar, UnusableScalar, parse_plain

_BASE: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Without libyaml, PyYAML is slower but creates the same nodes."""

MAX_DEPTH = 100
MAX_NODES_PER_DOCUMENT = 1_000_000
"""Limits the memory of a document, including the expansion of its aliases ("billion laughs")."""

_TOO_MANY = f"has more than {MAX_NODES_PER_DOCUMENT} values; split it into several documents"
_TOO_DEEP = f"nested too deeply; at most {MAX_DEPTH} levels are allowed"
_PLAIN = "plain"
_TEXT = "text"
_BREAK = re.compile("\r\n?|\n")
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow."""
_COLLECTIONS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!"}


class YamlError(Exception):
    """Invalid YAML; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(slots=True)
class Document:
    """One document of a file, as plain values.

    Attributes:
        located: Its node tree. It takes far more memory than the value; release it before the next document.
        odd: Whether it contains a null or a float, so that it needs the API server's normalization of values.
        duplicates: Line and name of each duplicate key.
    """

    span: DocumentSpan
    value: Any
    located: LocatedDocument
    odd: bool
    duplicates: list[tuple[int, str]]


class _Composer(Protocol):
    def check_node(self) -> bool: ...
    def get_node(self) -> Node: ...


def _resolve(_self: object, kind: type[Node], _value: object, implicit: tuple[bool, bool]) -> str:
    """Tag quoted scalars as text and plain ones for :mod:`.scalars`, instead of by PyYAML's regular expressions."""
    if kind is ScalarNode:
        return _PLAIN if implicit[0] else _TEXT
    return "tag:yaml.org,2002:map" if kind is MappingNode else "tag:yaml.org,2002:seq"


def _composer(text: str, lines: Lines) -> _Composer:
    """Return a composer with limits on depth and size.

    libyaml recurses without a limit and would overflow the stack. It calls the resolver hooks for each node.
    """
    depth = count = 0

    def descend(_self: object, parent: Node | None, _index: object) -> None:
        nonlocal depth, count
        depth += 1
        count = count + 1 if parent is not None else 0
        if depth > MAX_DEPTH + 1 and parent is not None:
            raise YamlError(lines.of(parent.start_mark), _TOO_DEEP)
        if count > MAX_NODES_PER_DOCUMENT and parent is not None:
            raise YamlError(lines.of(parent.start_mark), _TOO_MANY)

    def ascend(_self: object) -> None:
        nonlocal depth
        depth -= 1

    hooks = {"resolve": _resolve, "descend_resolver": descend, "ascend_resolver": ascend}
    return cast("_Composer", type("Composer", (_BASE,), hooks)(text))


def compose(text: str, lines: Lines | None = None) -> Iterator[Node]:
    """Yield the node tree of every non-empty document.

    Raises:
        YamlError: The text is not YAML.
    """
    lines = lines or Lines(text)
    try:
        composer = _composer(text, lines)
        while composer.check_node():
            yield composer.get_node()
    except yaml.MarkedYAMLError as error:
        from .faults import fault_reason

        mark = error.problem_mark or error.context_mark
        # An error at the end of the text is marked after trailing blank lines; report the last line with content.
        last = len(_BREAK.findall(text.rstrip())) + 1
        line = min(lines.of(mark), last) if mark else 1
        problem = f"{error.problem or ''} {error.context or ''}".strip()
        opened = lines.of(error.context_mark) if error.context_mark else None
        reason = fault_reason(problem, _BREAK.split(text), line, mark.column if mark else 0, opened)
        raise YamlError(line, f"not valid YAML: {reason or printable(str(error.problem or error.context))}") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        # These errors have no mark: find the forbidden character ourselves.
        character = _UNREADABLE.search(text)
        if character is None:
            raise YamlError(1, f"not valid YAML: {printable(str(error))}") from None
        line = text.count("\n", 0, character.start()) + 1
        reason = f"not valid YAML: the character U+{ord(character[0]):04X} is not allowed; remove it"
        raise YamlError(line, reason) from None


def locate(text: str, span: DocumentSpan) -> LocatedDocument:
    """Compose one document of a text again, to locate its fields."""
    # Indent the first line as in the file: in block style, columns are part of the syntax.
    part = " " * span.column + text[span.start : span.end]
    lines = Lines(part, span.line - 1)
    return LocatedDocument(_ComposerAgain(part).get_single_node(), lines)


def _unbounded(_self: object, *_: object) -> None:
    """Skip the limits, which the first pass has checked."""


_ComposerAgain = type(
    "_ComposerAgain",
    (_BASE,),
    {"resolve": _resolve, "descend_resolver": _unbounded, "ascend_resolver": _unbounded},
)
"""A single class, rather than one per document, because only the garbage collector frees classes."""


def read_documents(text: str) -> Iterator[Document]:
    """Yield every document, with one node tree in memory at a time.

    Raises:
        YamlError: The text is not YAML, or has values that JSON cannot represent; earlier documents were yielded.
    """
    lines = Lines(text)
    for node in compose(text, lines):
        reader = DocumentReader(lines)
        value = reader.read(node, 0)
        yield Document(lines.span(node), value, LocatedDocument(node, lines), reader.odd, reader.duplicates)


class DocumentReader:
    """Turns the nodes of one document into plain values."""

    def __init__(self, lines: Lines) -> None:
        self.line_of = lines.of
        self.odd = False
        self.duplicates: list[tuple[int, str]] = []
        self.budget = MAX_NODES_PER_DOCUMENT

    def read(self, node: Node, depth: int) -> Json:
        kind = type(node)
        if kind is ScalarNode:
            if node.tag == _TEXT:
                return node.value
            return self._scalar(node)
        self.spend(node, depth)
        if node.tag not in _COLLECTIONS:
            raise YamlError(self.line_of(node.start_mark), f"tag {node.tag!r} is not allowed; remove it")
        if kind is MappingNode:
            return self._mapping(node, depth + 1)
        read = self.read
        return [read(item, depth + 1) for item in node.value]

    def spend(self, node: Node, depth: int) -> None:
        self.budget -= 1 + len(node.value)
        if self.budget < 0:
            raise YamlError(
                self.line_of(node.start_mark),
                f"its aliases expand to more than {MAX_NODES_PER_DOCUMENT} values; use fewer aliases",
            )
        if depth > MAX_DEPTH:
            raise YamlError(self.line_of(node.start_mark), _TOO_DEEP)

    def _scalar(self, node: Node) -> Scalar:
        try:
            value = _plain(node.value) if node.tag == _PLAIN else TAGGED[node.tag](node.value)
        except UnusableScalar as error:
            raise YamlError(self.line_of(node.start_mark), f"{error}; use a value that JSON can represent") from None
        except KeyError:
            if node.tag == "!":
                return str(node.value)
            raise YamlError(self.line_of(node.start_mark), f"tag {node.tag!r} is not allowed; remove it") from None
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
            key = self.key(key_node)
            if key in result:
                self.duplicates.append((self.line_of(key_node.start_mark), key))
            result[key] = read(value_node, depth)
        for source in merged:
            for key, value in source.items():
                result.setdefault(key, value)
        return result

    def key(self, node: Node) -> str:
        if type(node) is not ScalarNode:
            raise YamlError(self.line_of(node.start_mark), "a key must be a string, found a map or a list")
        try:
            key = _plain(node.value) if node.tag == _PLAIN else node.value
        except UnusableScalar as error:
            raise YamlError(self.line_of(node.start_mark), f"{error}; put the key in quotes") from None
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return str(key).lower()
        if key is None:
            raise YamlError(self.line_of(node.start_mark), "a key must be a string, found null; put it in quotes")
        return f"{key:g}" if isinstance(key, float) else str(key)

    def _merged(self, node: Node, depth: int) -> list[dict[str, Any]]:
        """Return the maps of a merge key (``<<``)."""
        sources = node.value if isinstance(node, SequenceNode) else [node]
        if not all(isinstance(source, MappingNode) for source in sources):
            raise YamlError(
                self.line_of(node.start_mark), "<< can merge only a map or a list of maps, found something else"
            )
        return [self.read(source, depth) for source in sources]


@functools.lru_cache(maxsize=65536)  # the same keys and words occur in every manifest
def _plain(text: str) -> Scalar:
    return parse_plain(text)
