"""Writes converted documents: what is unchanged is copied from the text that it was read from, with its comments."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.contract.documents.writer import inline_text, quoted_text

from .source import SourceDocuments, SourceEntry, SourceList, SourceMap

_FLOW_SIGNS = frozenset(",[]{}")
_LONGEST_LINE = 120
"""Columns of a list or map that a conversion writes within braces; a longer one gets a line for each entry."""


@dataclass(slots=True)
class Head:
    """The place above an object, for comments that have no other.

    Attributes:
        indent: The spaces before each line.
        comments: The comments.
    """

    indent: str
    comments: list[str] = field(default_factory=list)


class SourceWriter:
    """Writes documents in block style.

    Args:
        list_offset: How far lists are indented below their key: 0 or 2.
        heads: The objects above which comments can be added, by their ``id``; filled in.
        expanding: Whether aliases are replaced by what they refer to.

    Attributes:
        written: The numbers of the comments that are written, by their text.
    """

    def __init__(self, list_offset: int, heads: dict[int, Head], *, expanding: bool = False) -> None:
        self._offset = list_offset
        self._heads = heads
        self._expanding = expanding
        self._unchanged: dict[int, bool] = {}
        self._inline: dict[int, str | None] = {}
        self._out: list[str | Head] = []
        self.written: dict[SourceDocuments, set[int]] = {}

    def document(self, value: Any) -> list[str | Head]:  # noqa: ANN401  any YAML value
        """Return the lines of a document, and the places for comments among them."""
        self._out = []
        self.head(value, self._out)
        if isinstance(value, Mapping | list) and value:
            self._collection(value, "", "")
        else:
            self._out.append(inline_text(value, ""))
        return [f"{line}\n" if isinstance(line, str) else line for line in self._out]

    def head(self, value: Any, lines: list[str | Head], indent: str = "") -> None:  # noqa: ANN401  any YAML value
        """Add the place for the comments of an object to lines."""
        if id(value) in self._heads:
            head = self._heads[id(value)]
            head.indent = indent
            lines.append(head)

    def _collection(self, value: Any, lead: str, indent: str) -> None:  # noqa: ANN401  any YAML value
        """Write a map or list that is not empty.

        Args:
            value: It.
            lead: What stands before the first entry: spaces, or the dashes of lists around it.
            indent: The spaces before all others.
        """
        if isinstance(value, Mapping):
            entries = value.entries if isinstance(value, SourceMap) else {}
            for key, child in value.items():
                self._entry(key, child, entries.get(key), lead, indent)
                lead = indent
            return
        for child in value:
            self._entry(None, child, None, lead, indent)
            lead = indent

    def _entry(self, key: str | None, child: Any, keyed: SourceEntry | None, lead: str, indent: str) -> None:  # noqa: ANN401
        own = getattr(child, "entry", None)
        origins = [entry for entry in (keyed, own) if entry is not None]
        if own is keyed:
            origins = origins[:1]
        copied = self._copied(child, keyed, own)
        if copied is not None and (copied.is_flow or (copied.key == "") != (key is None)):
            copied = None
        above, beside, below = self._comments(origins, copied)
        outer = " " * lead.index("-") if "-" in lead else indent
        if copied is None and beside and key is None and self._inline_of(child) is None:
            # A comment behind a dash whose item starts on the next line.
            above.append(beside.strip())
            beside = ""
        self._out += [f"{outer}{line}" if line else "" for line in above]
        if key is None:
            self.head(child, self._out, outer)
        start = "- " if key is None else f"{self._key(key, keyed, own)}:"
        if copied is not None:
            self._copy(copied, key, lead, indent)
        else:
            self._write(start, child, own, keyed, beside, lead, indent)
        self._out += [f"{indent}{line}" if line else "" for line in below]

    def _key(self, key: str, *entries: SourceEntry | None) -> str:
        return next((entry.key_text for entry in entries if entry is not None and entry.key == key), quoted_text(key))

    def _write(
        self,
        start: str,
        child: Any,  # noqa: ANN401  any YAML value
        own: SourceEntry | None,
        keyed: SourceEntry | None,
        beside: str,
        lead: str,
        indent: str,
    ) -> None:
        """Write an entry whose text cannot be copied with all of its lines."""
        text = self._inline_of(child)
        is_long = text is not None and len(indent) + len(start) + len(text) > _LONGEST_LINE
        if is_long and own is None and isinstance(child, Mapping | list) and child:
            text = None
        if text is not None:
            if isinstance(child, str) and "\n" in text:
                text = inline_text(child, indent)
                first, _, rest = text.partition("\n")
                text = f"{first}{beside}\n{rest}"
                beside = ""
            self._out.append(f"{lead}{start if start == '- ' else start + ' '}{text}{beside}")
            return
        if start == "- ":
            step = self._step(own, 2) if own is not None and own.key == "" else 2
            self._collection(child, f"{lead}-{' ' * (step - 1)}", f"{indent}{' ' * step}")
            return
        self._out.append(f"{lead}{start}{beside}")
        usual = self._offset if isinstance(child, list) else 2
        step = self._step(own, usual) if own is not None and own is keyed else usual
        inner = f"{indent}{' ' * step}"
        self._collection(child, inner, inner)

    def _step(self, entry: SourceEntry, usual: int) -> int:
        """Return how far the value of an entry is indented in its text."""
        if not entry.is_block:
            return usual
        source = entry.source
        step = entry.value_start - source.line_start(entry.value_start) - entry.column
        return step if 0 <= step <= 8 else usual

    def _comments(
        self, origins: Iterable[SourceEntry], copied: SourceEntry | None
    ) -> tuple[list[str], str, list[str]]:
        """Return the comments above, beside and below an entry, without those of the text that is copied."""
        above: list[str] = []
        below: list[str] = []
        beside = ""
        for entry in origins:
            # An entry that took the place of another has one set of empty lines.
            above += entry.above if not above else [line for line in entry.above if line]
            if entry is not copied:
                if entry.beside and (beside or copied is not None):
                    above.append(entry.beside.strip())
                else:
                    beside = beside or entry.beside
                below += entry.below
            self.written.setdefault(entry.source, set()).update(entry.comments)
        return above, beside, below

    def _copied(self, child: Any, keyed: SourceEntry | None, own: SourceEntry | None) -> SourceEntry | None:  # noqa: ANN401
        """Return the entry whose text the value still has."""
        if own is not None:
            return own if self._is_unchanged(child) else None
        if keyed is None or isinstance(child, Mapping | list):
            return None
        if self._expanding and keyed.has_alias:
            return None
        return keyed if _is_same(child, keyed) else None

    def _is_unchanged(self, value: Any) -> bool:  # noqa: ANN401  any YAML value
        if not isinstance(value, SourceMap | SourceList):
            entry = getattr(value, "entry", None)
            return entry is not None and not (self._expanding and entry.has_alias)
        known = self._unchanged.get(id(value))
        if known is None:
            known = self._unchanged[id(value)] = self._compare(value)
        return known

    def is_unchanged(self, value: Any) -> bool:  # noqa: ANN401  any YAML value
        """Return whether a document is as it was read."""
        return self._compare(value) if isinstance(value, SourceMap | SourceList) else True

    def _compare(self, value: SourceMap | SourceList) -> bool:
        if value.entry is not None and self._expanding and value.entry.has_alias:
            return False
        children: list[Any]
        if isinstance(value, SourceMap):
            own = [(key, child) for key, child in value.items() if key not in value.merged]
            original = [entry for entry in value.original if entry.key != "<<"]
            if [key for key, _ in own] != [entry.key for entry in original]:
                return False
            children = [child for _, child in own]
            if not all(self._is_unchanged(value[key]) for key in value.merged if key in value):
                return False
            if value.merged - value.keys():
                return False
        else:
            children, original = list(value), value.original
            if len(children) != len(original):
                return False
        for child, entry in zip(children, original, strict=True):
            if isinstance(child, Mapping | list):
                if getattr(child, "entry", None) is not entry or not self._is_unchanged(child):
                    return False
            elif not _is_same(child, entry):
                return False
        return True

    def _copy(self, entry: SourceEntry, key: str | None, lead: str, indent: str) -> None:
        """Copy the lines of an entry."""
        source = entry.source
        body = source.text[entry.start : entry.stop]
        self.written.setdefault(source, set()).update(source.comments_in(entry.start, entry.stop))
        if key is not None and key != entry.key:
            body = quoted_text(key) + body[len(entry.key_text) :]
        first, *lines = body.split("\n")
        shift = len(indent) - entry.column
        self._out.append(lead + first)
        for line in lines:
            if shift >= 0:
                self._out.append(" " * shift + line if line.strip(" ") else line)
            else:
                spaces = len(line) - len(line.lstrip(" "))
                self._out.append(line[min(-shift, spaces) :])

    def _inline_of(self, value: Any) -> str | None:  # noqa: ANN401  any YAML value
        """Return a value on one line; None if it belongs on lines of its own."""
        if not isinstance(value, Mapping | list):
            return self._scalar(value)
        return self._within(value) if self._is_flow(value) else None

    def _is_flow(self, value: Any) -> bool:  # noqa: ANN401  a map or list
        entry = getattr(value, "entry", None)
        return not value or (entry is not None and not entry.is_block)

    def _scalar(self, value: Any) -> str:  # noqa: ANN401  a scalar
        entry = getattr(value, "entry", None)
        if entry is not None and self._is_unchanged(value) and "\n" not in entry.text and entry.text[:1] not in "|>":
            return str(entry.text)
        return inline_text(value, "")

    def _within(self, value: Any) -> str | None:  # noqa: ANN401  a map or list
        """Return a map or list within braces or brackets, on one line; None if it does not fit there."""
        if id(value) not in self._inline:
            self._inline[id(value)] = self._braced(value)
        return self._inline[id(value)]

    def _braced(self, value: Any) -> str | None:  # noqa: ANN401  a map or list
        place = getattr(value, "entry", None)
        if place is not None and not place.is_block and "\n" not in place.text and self._is_unchanged(value):
            return str(place.text)
        parts = []
        named = value.items() if isinstance(value, Mapping) else [(None, item) for item in value]
        keyed = value.entries if isinstance(value, SourceMap) else {}
        origins: list[SourceEntry] = []
        for key, child in named:
            own = getattr(child, "entry", None)
            for entry in (keyed.get(key) if key is not None else None, own):
                if entry is not None and (entry.above or entry.beside or entry.below):
                    return None
                origins += [entry] if entry is not None else []
            text: str | None
            if isinstance(child, Mapping | list):
                text = self._within(child) if self._is_flow(child) or own is None else None
            else:
                text = self._scalar(child)
                if text and text[0] not in "\"'" and _FLOW_SIGNS & set(text):
                    text = json.dumps(str(child), ensure_ascii=False)
            if text is None or "\n" in text:
                return None
            if key is None:
                parts.append(text)
            else:
                name = self._key(key, keyed.get(key), own)
                if name[:1] not in "\"'" and _FLOW_SIGNS & set(name):
                    name = json.dumps(key, ensure_ascii=False)
                parts.append(f"{name}: {text}")
        joined = ", ".join(parts)
        return f"{{{joined}}}" if isinstance(value, Mapping) else f"[{joined}]"


def _is_same(child: Any, entry: SourceEntry) -> bool:  # noqa: ANN401  a scalar
    """Return whether a scalar is the one that was read at an entry."""
    # True is 1 in Python, and 1.0 is 1.
    is_same_type = isinstance(child, bool) is isinstance(entry.scalar, bool) and (
        type(child) is type(entry.scalar) or isinstance(entry.scalar, type(child))
    )
    return entry.is_scalar and is_same_type and bool(child == entry.scalar)
