"""Manifest files that are edited without losing comments, order or formatting."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yaml.nodes import CollectionNode, Node, SequenceNode

from components.contract.collection import paused_collection
from components.contract.documents.reader import YamlError, read_documents
from components.contract.texts.printable import printable
from components.families.migration import MigratedDocument, plain

from ..errors import WorkbenchError
from .source import SourceDocuments, SourceEntry, SourceMap
from .writing import Head, SourceWriter

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

    Only the parts that a conversion may edit, and those whose documents were replaced, are read with their places.

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
        self._source: SourceDocuments | None = None

    @property
    def documents(self) -> list[MigratedDocument]:
        """The manifests of the part, in order."""
        return [document for place in self.places for document in place.documents]

    def open(self) -> None:
        """Replace the values by those that know their place."""
        self._source = SourceDocuments(self.text)
        for place, value in zip(self.places, self._source.values, strict=True):
            opened = _Place.of(value, self._path)
            place.value = value
            for document, twin in zip(place.documents, opened.documents, strict=True):
                document.value = twin.value

    def converted(
        self, by_place: Mapping[int, list[MigratedDocument]], list_offset: int, heads: dict[int, Head]
    ) -> list[str | Head]:
        """Return the lines with other documents in its places; none if no document is left.

        Args:
            by_place: The documents by the ``id`` of their place.
            list_offset: How far the file indents lists.
            heads: The places for comments above each document, by the ``id`` of its value; filled in.
        """
        kept = [by_place.get(id(place), []) if place.documents else [] for place in self.places]
        same = all(
            len(documents) == len(place.documents)
            and all(one is other for one, other in zip(documents, place.documents, strict=True))
            for documents, place in zip(kept, self.places, strict=True)
        )
        unedited = self._source is None or all(SourceWriter(0, {}).is_unchanged(place.value) for place in self.places)
        if same and unedited:
            if self._source is not None:
                self._source.written.update(range(len(self._source.comments)))
            return [self.text]
        if self._source is None:
            self.open()
        if not any(kept) and all(place.documents and not place.is_list for place in self.places):
            return []
        values: list[Any] = []
        for place, documents in zip(self.places, kept, strict=True):
            if place.is_list:
                place.value["items"][:] = [document.value for document in documents]
                values.append(place.value)
            else:
                values += [document.value for document in documents] if place.documents else [place.value]
        heads.update({id(document.value): Head("") for documents in kept for document in documents})
        lines = _written(values, list_offset, heads)
        end = len(self.text) - len(self.text.rstrip("\n"))
        return [*lines, "\n" * (end - 1)] if end > 1 and self._source and not self._source.kept else lines

    def comments_without_place(self) -> Iterator[tuple[MigratedDocument, str]]:
        """Yield the comments that are not written yet, each with the document that it belonged to."""
        source, documents = self._source, self.documents
        if source is None or not documents:
            return
        starts = list(self._starts(source))
        for number, (start, end) in enumerate(source.comments):
            if number not in source.written:
                yield documents[max(0, bisect_right(starts, start) - 1)], source.text[start:end].rstrip()

    def _starts(self, source: SourceDocuments) -> Iterator[int]:
        for place, value, start in zip(self.places, source.values, source.starts, strict=True):
            if isinstance(value, SourceMap) and "items" in value.entries and place.is_list:
                items = next(entry for entry in value.original if entry.key == "items")
                yield from self._item_starts(source, items, len(place.documents))
            else:
                yield from [start] * len(place.documents)

    @staticmethod
    def _item_starts(source: SourceDocuments, items: SourceEntry, count: int) -> Iterator[int]:
        found = [entry.start for entry in source.entries if entry.parent is items]
        yield from (found + [items.start] * count)[:count]


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
        # Comments before the first document, and those of documents without content, belong to no object.
        filled = _EMPTY_DOCUMENT.sub(lambda match: match["comment"].lstrip("\n"), text)
        start = _START.match(filled)
        self._head = start[0] if start else ""
        filled = filled.removeprefix(self._head)
        self._parts, self._list_offset = _parts(path, filled)
        with paused_collection():
            for part in self._parts:
                if any(editable(document.value) for document in part.documents):
                    part.open()

    @property
    def documents(self) -> list[MigratedDocument]:
        """The manifests of the file, in order."""
        return [document for part in self._parts for document in part.documents]

    def converted(self, own: list[MigratedDocument], heads: dict[int, Head]) -> list[tuple[str, list[str | Head]]]:
        """Return the lines of each part, below the rule before it.

        Lines of the original text are kept where nothing changed.

        Args:
            own: The documents of this file after the conversion: edited, without removed ones, and with added ones
                after their predecessors in the batch.
            heads: The places for comments above each document, by the ``id`` of its value; filled in.
        """
        places = [place for part in self._parts for place in part.places]
        origins = {id(document): place for place in places for document in place.documents}
        # An added document belongs to the place of the document before it, which may be a List.
        by_place: dict[int, list[MigratedDocument]] = {}
        current = next((place for place in places if place.documents), None)
        for document in own:
            current = origins.get(id(document), current)
            by_place.setdefault(id(current), []).append(document)
        with paused_collection():
            return [(part.rule, part.converted(by_place, self._list_offset, heads)) for part in self._parts]

    def comments_without_place(self) -> Iterator[tuple[MigratedDocument, str]]:
        for part in self._parts:
            yield from part.comments_without_place()

    def joined(self, parts: Iterable[tuple[str, list[str | Head]]]) -> str:
        """Return the text of the file."""
        text = ""
        for rule, lines in parts:
            written = _joined(lines)
            if text and written:
                text += "" if text.endswith("\n") else "\n"
                text += rule
            text += written
        return self.text if text == "".join(part.rule + part.text for part in self._parts) else self._head + text


def convert_files(files: Iterable[ManifestFile], documents: Iterable[MigratedDocument]) -> dict[Path, str]:
    """Return the texts of files with converted documents.

    Args:
        files: The files.
        documents: Their documents after the conversion, in the order of the files.
    """
    files = list(files)
    by_file: dict[str, list[MigratedDocument]] = {}
    for document in documents:
        by_file.setdefault(document.file, []).append(document)
    heads: dict[int, Head] = {}
    parts = [file.converted(by_file.get(str(file.path), []), heads) for file in files]
    for file in files:
        for document, comment in file.comments_without_place():
            owner: MigratedDocument | None = document
            while owner is not None and id(owner.value) not in heads:
                owner = owner.into
            if owner is not None:
                heads[id(owner.value)].comments.append(comment)
    return {file.path: file.joined(lines) for file, lines in zip(files, parts, strict=True)}


def _written(values: list[Any], list_offset: int, heads: dict[int, Head]) -> list[str | Head]:
    """Return the lines of documents, which have these values when they are read again."""
    expected = repr([plain(value) for value in values])
    for expanding in (False, True):
        writer = SourceWriter(list_offset, heads, expanding=expanding)
        lines = _documents(writer, values)
        if repr(_values(_joined(lines))) == expected:
            for source, numbers in writer.written.items():
                source.written |= numbers
            return lines
    # A form that the writer does not know, such as explicit keys: its comments go above the object.
    return _documents(SourceWriter(list_offset, heads), [plain(value) for value in values], values)


def _documents(writer: SourceWriter, values: list[Any], owners: list[Any] | None = None) -> list[str | Head]:
    lines: list[str | Head] = []
    for value, owner in zip(values, owners or values, strict=True):
        if lines:
            lines.append("---\n")
        if owner is not value:
            writer.head(owner, lines)
        lines += writer.document(value)
    return lines


def _joined(lines: Iterable[str | Head]) -> str:
    texts: list[str] = []
    for line in lines:
        texts += [line] if isinstance(line, str) else [f"{line.indent}{comment}\n" for comment in line.comments]
    return "".join(texts)


def with_setting(path: Path, text: str, key: str, values: Mapping[str, str]) -> str:
    """Return the text of a stack file with entries added to a setting that is a map, or changed in it.

    Raises:
        WorkbenchError: It is not valid YAML, or nested deeper than any setting, though Pulumi may read it.
    """
    try:
        (content,) = SourceDocuments(text).values or [{}]
    except YamlError as error:
        raise WorkbenchError(printable(f"{path}:{error.line}: {error.reason}")) from None
    content = {} if content is None else content
    if content.get("config") is None:
        content["config"] = {}
    if content["config"].get(key) is None:
        content["config"][key] = {}
    content["config"][key].update(values)
    _, list_offset = _parts(Path(), text)
    return _joined(_written([content], list_offset, {}))


def _parts(path: Path, text: str) -> tuple[list[_Part], int]:
    """Return the parts of a text, and how far it indents lists below their key."""
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
        return [_Part(path, "", text, values)], style[1]
    rules = ["", *_RULE.findall(text)]
    parts = [_Part(path, rule, part, [value]) for rule, part, value in zip(rules, texts, values, strict=True)]
    return parts, style[1]


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


def _values(text: str) -> list[Any]:
    try:
        return [document.value for document in read_documents(text)]
    except YamlError:
        return []
