"""Manifest files that are edited without losing comments, order or formatting."""

import difflib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from yaml.nodes import CollectionNode, Node, SequenceNode

from components.contract.collection import paused_collection
from components.contract.documents.reader import YamlError, read_documents
from components.families.migration import MigratedDocument, plain

from ..errors import WorkbenchError

_STYLES = ((2, 0), (4, 2))
"""Indentation of lists below their key: of the items' content, and of the dashes."""
_EMPTY_DOCUMENT = re.compile(
    r"^---[ \t]*(?P<comment>#[^\n]*\n|\n)(?=(?:[ \t]*(?:#[^\n]*)?\n)*(?:---(?:\s|\Z)|[ \t]*(?:#[^\n]*)?\Z))",
    re.MULTILINE,
)
"""The start of a document without content, as chart templates leave them."""
_RULE = re.compile(r"^(---(?:[ \t]+#[^\n]*|[ \t]*)\n)", re.MULTILINE)
"""A line between two documents."""
_MARKER = re.compile(r"^(?:%|\.\.\.|---[ \t]+[^#\s]|---[ \t]*\Z)", re.MULTILINE)
"""A directive, the end of a document, or a document that begins beside its marker."""
_LONG_NUMBER = re.compile(r"\d{4301,}")
"""A number with more digits than Python converts."""
_START = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*---[ \t]*(?:#[^\n]*)?\n")
"""Comments before the first document, and its start."""


@dataclass(slots=True)
class _Place:
    """A document of a file, or a List with its items.

    Attributes:
        value: The parsed document; None if it is empty.
        documents: The manifests in it, as read.
    """

    value: Any
    documents: list[MigratedDocument] = field(default_factory=list)

    @classmethod
    def of(cls, value: Any, path: Path) -> "_Place":  # noqa: ANN401  a parsed document
        place = cls(value)
        items = value["items"] if place.is_list else [value]
        place.documents = [MigratedDocument(item, str(path)) for item in items if isinstance(item, MutableMapping)]
        return place

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, Mapping) and isinstance(self.value.get("items"), list)


class _Part:
    """A document of a file with its comments, or all documents of a file that lines do not tell apart.

    ruamel.yaml takes many times as long as libyaml. It reads only the parts that a conversion may edit, and those
    whose documents were replaced.

    Args:
        path: The path of the file.
        rule: The line between the part and its predecessor.
        text: The text of the part.
        values: Its documents.
    """

    def __init__(self, path: Path, rule: str, text: str, values: Iterable[Any]) -> None:
        self.rule = rule
        self.text = text
        self.places = [_Place.of(value, path) for value in values]
        self._path = path
        self._before = ""

    @property
    def documents(self) -> list[MigratedDocument]:
        """The manifests of the part, in order."""
        return [document for place in self.places for document in place.documents]

    def open(self) -> None:
        """Replace the values by those that keep comments and formatting."""
        values = _yaml(_STYLES[0]).load_all(self.text)
        for place, value in zip(self.places, values, strict=True):
            opened = _Place.of(value, self._path)
            place.value = value
            for document, twin in zip(place.documents, opened.documents, strict=True):
                document.value = twin.value
        self._before = self._state()

    def converted(self, by_place: Mapping[int, list[MigratedDocument]], style: tuple[int, int]) -> str:
        """Return the text with other documents in its places; empty if none is left.

        Args:
            by_place: The documents by the ``id`` of their place.
            style: How the file indents lists.
        """
        kept = [by_place.get(id(place), []) if place.documents else [] for place in self.places]
        same = all(
            len(documents) == len(place.documents)
            and all(one is other for one, other in zip(documents, place.documents, strict=True))
            for documents, place in zip(kept, self.places, strict=True)
        )
        if same and (not self._before or self._state() == self._before):
            return self.text
        if not any(kept) and all(place.documents and not place.is_list for place in self.places):
            return ""
        if not self._before:
            self.open()
        values: list[Any] = []
        for place, documents in zip(self.places, kept, strict=True):
            if place.is_list:
                place.value["items"][:] = [document.value for document in documents]
                values.append(place.value)
            else:
                values += [document.value for document in documents] if place.documents else [place.value]
        return _edited(self.text, values, style)

    def _state(self) -> str:
        """Return the values, with the order of their keys."""
        return repr([plain(place.value) for place in self.places])


class ManifestFile:
    """A file with manifests to convert.

    Args:
        path: Its path.
        text: Its text, which is valid YAML.
        editable: Whether the conversion may edit a manifest. All others may be replaced and removed.
    """

    def __init__(self, path: Path, text: str, editable: Callable[[Mapping[str, Any]], bool]) -> None:
        self.path = path
        self.text = text
        # ruamel.yaml writes an empty document as null, and loses its comments and those before the first document.
        filled = _EMPTY_DOCUMENT.sub(lambda match: match["comment"].lstrip("\n"), text)
        start = _START.match(filled)
        self._head = start[0] if start else ""
        filled = filled.removeprefix(self._head)
        self._parts, self._style = _parts(path, filled)
        for part in self._parts:
            if any(editable(document.value) for document in part.documents):
                with self._editing():
                    part.open()

    @property
    def documents(self) -> list[MigratedDocument]:
        """The manifests of the file, in order."""
        return [document for part in self._parts for document in part.documents]

    def converted(self, documents: list[MigratedDocument]) -> str:
        """Return the text with the documents of a batch in place of those that were read.

        Lines of the original text are kept where nothing changed.

        Args:
            documents: The documents of this file after the conversion: edited, without removed ones, and with
                added ones after their predecessors in the batch.
        """
        own = [document for document in documents if document.file == str(self.path)]
        places = [place for part in self._parts for place in part.places]
        origins = {id(document): place for place in places for document in place.documents}
        # An added document belongs to the place of the document before it, which may be a List.
        by_place: dict[int, list[MigratedDocument]] = {}
        current = next((place for place in places if place.documents), None)
        for document in own:
            current = origins.get(id(document), current)
            by_place.setdefault(id(current), []).append(document)
        text = ""
        for part in self._parts:
            with self._editing():
                converted = part.converted(by_place, self._style)
            if text and converted:
                text += "" if text.endswith("\n") else "\n"
                text += part.rule
            text += converted
        return self.text if text == "".join(part.rule + part.text for part in self._parts) else self._head + text

    @contextmanager
    def _editing(self) -> Iterator[None]:
        """Raise an error with a place if ruamel.yaml cannot read what libyaml does."""
        try:
            with paused_collection():
                yield
        except (ValueError, YAMLError, RecursionError) as error:
            number = _LONG_NUMBER.search(self.text)
            if number:
                line, digits = self.text.count("\n", 0, number.start()) + 1, len(number[0])
                reason = f"the number has {digits} digits; put it in quotes"
                raise WorkbenchError(f"{self.path}:{line}: {reason}") from None
            reason = str(error).partition("\n")[0]
            raise WorkbenchError(f"{self.path}: cannot be edited: {reason}; correct it") from None


def with_setting(text: str, key: str, values: Mapping[str, str]) -> str:
    """Return the text of a stack file with entries added to a setting that is a map, or changed in it."""
    _, style = _parts(Path(), text)
    (content,) = _yaml(style).load_all(text)
    setting = content.setdefault("config", {}).setdefault(key, CommentedMap())
    setting.update(values)
    return _edited(text, [content], style)


def _parts(path: Path, text: str) -> tuple[list[_Part], tuple[int, int]]:
    """Return the parts of a text, and its style."""
    values: list[Any] = []
    lines = dict.fromkeys(_STYLES, 0)
    try:
        for document in read_documents(text):
            values.append(document.value)
            _count_lists(document.located.node, frozenset(), lines, set())
    except YamlError as error:
        raise WorkbenchError(f"{path}: cannot be edited: {error}; correct it") from None
    style = max(_STYLES, key=lambda style: lines[style])
    texts = _RULE.split(text)[::2]
    if _MARKER.search(text) or len(texts) != len(values):
        return [_Part(path, "", text, values)], style
    rules = ["", *_RULE.findall(text)]
    parts = [_Part(path, rule, part, [value]) for rule, part, value in zip(rules, texts, values, strict=True)]
    return parts, style


def _yaml(style: tuple[int, int]) -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 2**16  # ruamel.yaml folds scalars in longer lines
    yaml.indent(mapping=2, sequence=style[0], offset=style[1])
    return yaml


def _dump(values: Any, style: tuple[int, int]) -> str:  # noqa: ANN401  parsed documents
    stream = io.StringIO()
    yaml = _yaml(style)
    yaml.explicit_start = False
    yaml.dump_all(list(values), stream)
    return stream.getvalue()


def _count_lists(
    node: Node, within: frozenset[tuple[int, int]], lines: dict[tuple[int, int], int], seen: set[int]
) -> None:
    """Count the lines of lists in block style below a node, by the style in which they are indented.

    Args:
        node: The node.
        within: The styles of the lists around it, whose lines are counted.
        lines: The numbers of lines.
        seen: The ``id`` of every node before; aliases lead to nodes again.
    """
    if not isinstance(node, CollectionNode) or node.flow_style or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, SequenceNode):
        for item in node.value:
            _count_lists(item, within, lines, seen)
        return
    for key, value in node.value:
        inside = within
        if isinstance(value, SequenceNode) and not value.flow_style:
            style = _STYLES[value.start_mark.column > key.start_mark.column]
            if style not in within:
                lines[style] += value.end_mark.line - value.start_mark.line
                inside = within | {style}
        _count_lists(value, inside, lines, seen)


def _edited(text: str, values: list[Any], style: tuple[int, int]) -> str:
    """Return a text with changed documents, in which the lines of what did not change are kept."""
    before, after = _dump(_yaml(style).load_all(text), style), _dump(values, style)
    if before == after:
        return text
    merged = _merged(text, before, after)
    return merged if _values(merged) == _values(after) else after


def _merged(original: str, before: str, after: str) -> str:
    """Apply the difference between two dumps to the original text, whose lines differ in formatting only."""
    texts = [text.splitlines(keepends=True) for text in (original, before, after)]
    lines, old, new = texts
    if len(lines) != len(old):
        return after
    merged = []
    for tag, start, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        merged += lines[start:end] if tag == "equal" else new[first:last]
    return "".join(merged)


def _values(text: str) -> list[Any]:
    try:
        return [document.value for document in read_documents(text)]
    except YamlError:
        return []
