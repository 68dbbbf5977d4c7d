"""Locations of objects in the files that they were read from."""

from typing import NamedTuple

from ..problems import path_parts
from .positions import DocumentSpan, LocatedDocument
from .reader import Document, locate


class Source:
    """A file whose fields can be located; caches the node tree of the last document used."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._text = text
        self._held: tuple[DocumentSpan, LocatedDocument] | None = None

    def hold(self, document: Document) -> None:
        """Cache the node tree of a document while it is checked."""
        self._held = (document.span, document.located)

    def release(self) -> None:
        """Drop the cached node tree, which takes far more memory than the text."""
        self._held = None

    def line(self, span: DocumentSpan, parts: list[str | int]) -> int:
        if self._held is None or self._held[0] != span:
            self._held = (span, locate(self._text, span))
        return self._held[1].line(parts)


class Location(NamedTuple):
    """The location of an object: a document of a source, or an item of a List in it."""

    source: Source
    span: DocumentSpan
    prefix: tuple[str | int, ...] = ()

    def line(self, path: str) -> int:
        """Return the line of a field, or of its nearest parent that is present."""
        return self.source.line(self.span, [*self.prefix, *path_parts(path)])
