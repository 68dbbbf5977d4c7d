"""Manifest files that are edited without losing comments, order or formatting."""

import difflib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from components.families.migration import MigratedDocument, plain

_STYLES = ((2, 0), (4, 2))
"""Indentation of lists below their key: of the items' content, and of the dashes."""
_EMPTY_DOCUMENT = re.compile(
    r"^---[ \t]*(?P<comment>#[^\n]*\n|\n)(?=(?:[ \t]*(?:#[^\n]*)?\n)*(?:---(?:\s|\Z)|[ \t]*(?:#[^\n]*)?\Z))",
    re.MULTILINE,
)
"""The start of a document without content, as chart templates leave them."""
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

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, Mapping) and isinstance(self.value.get("items"), list)


class ManifestFile:
    """A file with manifests to convert.

    Args:
        path: Its path.
        text: Its text, which is valid YAML.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        # ruamel.yaml writes an empty document as null, and loses its comments and those before the first document.
        filled = _EMPTY_DOCUMENT.sub(lambda match: match["comment"].lstrip("\n"), text)
        start = _START.match(filled)
        self._head = start[0] if start else ""
        self._filled = filled.removeprefix(self._head)
        self._style = _style_of(self._filled)
        self._places = []
        for value in _yaml(self._style).load_all(self._filled):
            place = _Place(value)
            items = value["items"] if place.is_list else [value]
            place.documents = [MigratedDocument(item, str(path)) for item in items if isinstance(item, CommentedMap)]
            self._places.append(place)

    @property
    def documents(self) -> list[MigratedDocument]:
        """The manifests of the file, in order."""
        return [document for place in self._places for document in place.documents]

    def converted(self, documents: list[MigratedDocument]) -> str:
        """Return the text with the documents of a batch in place of those that were read.

        Lines of the original text are kept where nothing changed.

        Args:
            documents: The documents of this file after the conversion: edited, without removed ones, and with
                added ones after their predecessors in the batch.
        """
        own = [document for document in documents if document.file == str(self.path)]
        origins = {id(document): place for place in self._places for document in place.documents}
        # An added document belongs to the place of the document before it, which may be a List.
        by_place: dict[int, list[Any]] = {}
        current = next((place for place in self._places if place.documents), None)
        for document in own:
            current = origins.get(id(document), current)
            by_place.setdefault(id(current), []).append(document.value)
        values: list[Any] = []
        for place in self._places:
            kept = by_place.get(id(place), [])
            if place.is_list:
                place.value["items"][:] = kept
                values.append(place.value)
            else:
                values += kept if place.documents else [place.value]
        edited = _edited(self._filled, values, self._style)
        return self.text if edited == self._filled else self._head + edited


def with_setting(text: str, key: str, values: Mapping[str, str]) -> str:
    """Return the text of a stack file with entries added to a setting that is a map, or changed in it."""
    style = _style_of(text)
    (content,) = _yaml(style).load_all(text)
    setting = content.setdefault("config", {}).setdefault(key, CommentedMap())
    setting.update(values)
    return _edited(text, [content], style)


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


def _style_of(text: str) -> tuple[int, int]:
    """Return the style in which the fewest lines of a text would change."""

    def distance(style: tuple[int, int]) -> int:
        dumped = _dump(_yaml(style).load_all(text), style).splitlines()
        return sum(first != second for first, second in zip(text.splitlines(), dumped, strict=False))

    return min(_STYLES, key=distance)


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
        return [plain(value) for value in YAML(typ="safe", pure=True).load_all(text)]
    except Exception:
        return []
