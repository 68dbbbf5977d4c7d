"""YAML documents whose values know their place in the text, and the comments that belong to them.

A field has the comments above it and at the end of its line. A comment that is indented deeper than the field below
it belongs to the field above. Values keep their place when a conversion moves them, so that their text and comments
go with them.
"""

import copy
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode

from components.contract.documents.positions import Lines
from components.contract.documents.reader import DocumentReader, compose

_COMMENT = re.compile(r"(?:^|(?<=[ \t\n]))#[^\n]*")
_ALIAS = re.compile(r"(?<=[\s,\[{])\*[^\s,\[\]{}]+")
_DASH = re.compile(r"(?:\s|#[^\n]*\n)*(-)(?=\s|\Z)")
_MERGE = "<<"


@dataclass(slots=True, eq=False)
class SourceEntry:
    """A key with its value, or an item of a list, in a text.

    Attributes:
        source: The text.
        key: The key as it is read, and as it is written; both are empty for an item.
        scalar: The value, unless it is a map or a list.
        start: Where the key, or the dash of an item, starts.
        column: The column of ``start``.
        value_start: Where the value starts.
        value_end: Where the value ends, without comments behind it.
        is_scalar: Whether the value is neither a map nor a list.
        is_flow: Whether it is written within braces or brackets.
        is_block: Whether the value is a map or a list without braces and brackets.
        has_alias: Whether an alias or an anchor is in it.
        stop: The end of the last line that belongs to it.
        above: The lines above it: comments, and empty lines.
        beside: The comment at the end of its line, with the spaces before it.
        below: Comments below it that are indented deeper than the next entry.
    """

    source: "SourceDocuments"
    key: str = ""
    key_text: str = ""
    scalar: Any = None
    start: int = 0
    column: int = 0
    value_start: int = 0
    value_end: int = 0
    is_scalar: bool = False
    is_flow: bool = False
    is_block: bool = False
    has_alias: bool = False
    stop: int = 0
    parent: "SourceEntry | None" = None
    parent_end: int = 0
    above: list[str] = field(default_factory=list)
    beside: str = ""
    below: list[str] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The value as it is written."""
        return self.source.text[self.value_start : self.value_end]


class SourceText(str):
    """Text that knows its place."""

    __slots__ = ("entry",)
    entry: SourceEntry

    def __deepcopy__(self, _memo: object) -> "SourceText":
        return self


class SourceInt(int):
    """A number that knows its place."""

    entry: SourceEntry

    def __deepcopy__(self, _memo: object) -> "SourceInt":
        return self


class SourceFloat(float):
    """A number that knows its place."""

    entry: SourceEntry

    def __deepcopy__(self, _memo: object) -> "SourceFloat":
        return self


class SourceMap(dict[str, Any]):
    """A map that knows its place.

    Attributes:
        entry: Its place; None for a whole document, and for a map that a conversion creates.
        original: What it was read from, in order.
        entries: The entry of each key, from which its comments come. A renamed key keeps its entry.
        merged: The keys that come from a merge key (``<<``).
    """

    __slots__ = ("entries", "entry", "merged", "original")

    def __init__(self, *values: Any, **named: Any) -> None:  # noqa: ANN401  those of a dict
        super().__init__(*values, **named)
        self.entry: SourceEntry | None = None
        self.original: list[SourceEntry] = []
        self.entries: dict[str, SourceEntry] = {}
        self.merged: set[str] = set()

    def __deepcopy__(self, memo: dict[int, Any]) -> "SourceMap":
        copied = SourceMap({key: copy.deepcopy(value, memo) for key, value in self.items()})
        copied.entry, copied.original, copied.entries = self.entry, self.original, dict(self.entries)
        copied.merged = set(self.merged)
        return copied


class SourceList(list[Any]):
    """A list that knows its place."""

    __slots__ = ("entry", "original")

    def __init__(self, *values: Any) -> None:  # noqa: ANN401  those of a list
        super().__init__(*values)
        self.entry: SourceEntry | None = None
        self.original: list[SourceEntry] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> "SourceList":
        copied = SourceList(copy.deepcopy(value, memo) for value in self)
        copied.entry, copied.original = self.entry, self.original
        return copied


class SourceDocuments:
    """A text of YAML documents, with the values and the comments in it.

    Args:
        text: The text.

    Attributes:
        values: The documents.
        comments: Where each comment starts and ends, in order.
        written: Which comments the result has, by their number.
        starts: Where each document starts.
        entries: All entries.
        kept: The ends of block scalars to which the empty lines below them belong.
        scalars: Where each key and each scalar starts and ends; the entry of those that are values.

    Raises:
        YamlError: It is not valid YAML.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.comments: list[tuple[int, int]] = []
        self.written: set[int] = set()
        self.entries: list[SourceEntry] = []
        self.scalars: list[tuple[int, int, SourceEntry | None]] = []
        self.kept: set[int] = set()
        lines = Lines(text)
        for node in compose(text, lines):
            self.starts.append(int(node.start_mark.index))
            self.values.append(_Builder(self, lines).build(node, 0, None))
        self._find_comments()
        self._assign()

    def comments_in(self, start: int, end: int) -> range:
        """Return the numbers of the comments in a part of the text."""
        first, last = (bisect_left(self.comments, (offset,)) for offset in (start, end))
        return range(first, last)

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def _find_comments(self) -> None:
        at = 0
        for start, end, entry in (*sorted(self.scalars, key=lambda each: each[:2]), (len(self.text),) * 2 + (None,)):
            if start >= at:
                self.comments += [match.span() for match in _COMMENT.finditer(self.text, at, start)]
            if self.text[start : start + 1] in ("|", ">") and entry is not None:
                # The comment of a block scalar stands behind its indicator.
                header = self.line_end(start)
                comment = _COMMENT.search(self.text, start, min(header, end))
                if comment:
                    self.comments.append(comment.span())
            at = max(at, end)

    def _assign(self) -> None:
        """Assign each comment to an entry."""
        # Aliases lead to entries again whose place is before.
        entries = sorted(self.entries, key=lambda entry: entry.start)
        starts = [entry.start for entry in entries]
        lines: dict[int, list[tuple[int, int]]] = {}
        for number, (start, _) in enumerate(self.comments):
            following = bisect_left(starts, start)
            begin = self.line_start(start)
            if self.text[begin:start].strip(" \t"):
                if following:
                    self._beside(entries[following - 1], number)
            else:
                lines.setdefault(following, []).append((number, start - begin))
        for following, run in lines.items():
            last = entries[following - 1] if following else None
            after = entries[following] if following < len(entries) else None
            self._between(last, after, run)
        for entry in reversed(entries):
            if not self.text[self.line_start(entry.start) : entry.start].strip(" \t"):
                entry.above += [""] * self._empty_lines_before(entry.start)
            parent = entry.parent
            if parent is not None and entry.stop > parent.stop:
                parent.stop = entry.stop

    def _empty_lines_before(self, offset: int) -> int:
        count, begin = 0, self.line_start(offset)
        while begin and begin - 1 not in self.kept:
            previous = self.line_start(begin - 1)
            if self.text[previous : begin - 1].strip(" \t"):
                break
            count, begin = count + 1, previous
        return count

    def _beside(self, entry: SourceEntry, number: int) -> None:
        start, end = self.comments[number]
        while entry.is_flow and entry.parent is not None and start >= entry.parent_end:
            entry = entry.parent
        if entry.beside:
            entry.below.append(self.text[start:end])
        else:
            spaces = len(self.text[:start][-200:]) - len(self.text[max(0, start - 200) : start].rstrip(" \t"))
            entry.beside = self.text[start - spaces : end]
        entry.comments.append(number)

    def _between(self, last: SourceEntry | None, after: SourceEntry | None, run: list[tuple[int, int]]) -> None:
        """Assign the comments between two entries, each on a line of its own."""
        above = False
        for number, column in run:
            start, end = self.comments[number]
            text = self.text[start:end].rstrip()
            while last is not None and last.is_flow and start >= last.parent_end:
                last = last.parent
            inside = last is not None and last.is_flow and start < last.parent_end
            above = above or (
                after is not None
                and (last is None or after.parent is last or (after.is_flow if inside else column <= after.column))
            )
            if above and after is not None:
                after.above += [*[""] * self._empty_lines_before(start), text]
                after.comments.append(number)
            elif last is not None:
                owner = last
                while owner.parent is not None and (owner.is_flow or owner.column > column) and not inside:
                    owner = owner.parent
                owner.below += [*[""] * self._empty_lines_before(start), text]
                owner.comments.append(number)
                owner.stop = max(owner.stop, self.line_end(start))


class _Builder:
    """Builds the values of one document."""

    def __init__(self, source: SourceDocuments, lines: Lines) -> None:
        self._source = source
        self._reader = DocumentReader(lines)
        self._cursor = 0
        self._built: dict[int, Any] = {}

    def build(self, node: Node, depth: int, entry: SourceEntry | None) -> Any:  # noqa: ANN401  any value
        if id(node) in self._built:
            return self._alias(node, entry)
        start, end = int(node.start_mark.index), int(node.end_mark.index)
        if entry is not None:
            entry.value_start = start
            entry.has_alias = self._source.text[start : start + 1] == "&"
        value: Any
        if isinstance(node, CollectionNode):
            self._reader.spend(node, depth)
            if isinstance(node, MappingNode):
                value = self._map(node, depth + 1, entry)
            else:
                value = self._list(node, depth + 1, entry)
            value.entry = entry
            # libyaml ends a block at the next token.
            end = end if node.flow_style else max(self._cursor, start)
        else:
            value = _placed(self._reader.read(node, depth), entry)
            if isinstance(node, ScalarNode) and node.style in ("|", ">"):
                end = self._block_end(start, end)
            self._source.scalars.append((start, end, entry))
        self._built[id(node)] = value
        self._cursor = max(self._cursor, end)
        if entry is not None:
            entry.value_end = end
            entry.is_block = isinstance(node, CollectionNode) and not node.flow_style
            entry.stop = self._source.line_end(end)
            if not isinstance(node, CollectionNode):
                entry.scalar, entry.is_scalar = value, True
        return value

    def _block_end(self, start: int, end: int) -> int:
        """Return the end of a block scalar, which libyaml takes for that of the empty lines below it."""
        text = self._source.text
        if "+" in text[start : start + 3].partition("\n")[0]:
            end -= text[end - 1] == "\n"
            self._source.kept.add(end)
            return end
        while end > start and text[end - 1] in " \n":
            end -= 1
        return end

    def _alias(self, node: Node, entry: SourceEntry | None) -> Any:  # noqa: ANN401  any value
        """Return a copy of a value that an alias refers to; its mark is that of the anchor."""
        if isinstance(node, CollectionNode):
            self._reader.spend(node, 0)
        value = copy.deepcopy(self._built[id(node)])
        found = _ALIAS.search(self._source.text, self._cursor)
        if isinstance(value, SourceMap | SourceList):
            value.entry = entry
        else:
            value = _placed(plain_scalar(value), entry)
        if entry is not None and found:
            entry.value_start, entry.value_end = found.span()
            entry.stop = self._source.line_end(found.end())
            entry.has_alias = True
            if not isinstance(value, SourceMap | SourceList):
                entry.scalar, entry.is_scalar = value, True
            self._source.scalars.append((*found.span(), None))
            self._cursor = found.end()
        return value

    def _map(self, node: MappingNode, depth: int, parent: SourceEntry | None) -> SourceMap:
        result = SourceMap()
        merged: list[dict[str, Any]] = []
        for key_node, value_node in node.value:
            start, end = int(key_node.start_mark.index), int(key_node.end_mark.index)
            entry = self._entry(node, parent, start)
            self._source.scalars.append((start, end, None))
            self._cursor = max(self._cursor, end)
            entry.key_text = self._source.text[start:end]
            if entry.key_text == _MERGE:
                value = self.build(value_node, depth, entry)
                merged += value if isinstance(value, list) else [value]
                entry.key = _MERGE
                entry.has_alias = True
            else:
                entry.key = self._reader.key(key_node)
                result[entry.key] = self.build(value_node, depth, entry)
                result.entries[entry.key] = entry
            result.original.append(entry)
            if parent is not None:
                parent.has_alias |= entry.has_alias
        for source in merged:
            for key, value in source.items():
                if key not in result:
                    result[key] = copy.deepcopy(value)
                    result.merged.add(key)
        return result

    def _list(self, node: CollectionNode, depth: int, parent: SourceEntry | None) -> SourceList:
        result = SourceList()
        for item in node.value:
            start = int(item.start_mark.index)
            if not node.flow_style:
                start = self._dash(start if id(item) not in self._built else None)
            elif id(item) in self._built:
                start = self._cursor
            entry = self._entry(node, parent, start)
            self._cursor = max(self._cursor, start)
            result.append(self.build(item, depth, entry))
            result.original.append(entry)
            if parent is not None:
                parent.has_alias |= entry.has_alias
        return result

    def _dash(self, before: int | None) -> int:
        """Return where the dash of an item is: the last one before its value, or the next one without a value."""
        if before is None:
            dash = _DASH.search(self._source.text, self._cursor)
            return dash.start(1) if dash else self._cursor
        gap = _COMMENT.sub(lambda match: " " * len(match[0]), self._source.text[self._cursor : before])
        return self._cursor + max(0, gap.rfind("-"))

    def _entry(self, owner: CollectionNode, parent: SourceEntry | None, start: int) -> SourceEntry:
        source = self._source
        entry = SourceEntry(
            source=source,
            start=start,
            column=start - source.line_start(start),
            is_flow=bool(owner.flow_style),
            parent=parent,
            parent_end=int(owner.end_mark.index),
        )
        source.entries.append(entry)
        return entry


def plain_scalar(value: Any) -> Any:  # noqa: ANN401  any value
    """Return a scalar without its place."""
    for own, type_ in ((SourceText, str), (SourceInt, int), (SourceFloat, float)):
        if isinstance(value, own):
            return type_(value)
    return value


def _placed(value: Any, entry: SourceEntry | None) -> Any:  # noqa: ANN401  any value
    """Return a scalar that knows its place, if its type can."""
    if entry is None or isinstance(value, bool):
        return value
    for own, type_ in ((SourceText, str), (SourceInt, int), (SourceFloat, float)):
        if isinstance(value, type_):
            placed: Any = own(value)
            placed.entry = entry
            return placed
    return value
