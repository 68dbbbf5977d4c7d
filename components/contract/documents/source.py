"""Where an object stands in the file that it was read from."""

from dataclasses import dataclass

from ..problems import path_parts
from .positions import DocumentSpan, LocatedDocument
from .reader import Document, locate


class Source:
    """A file whose fields can be located. The document that was last asked for is at hand."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._text = text
        self._held: tuple[DocumentSpan, LocatedDocument] | None = None

    def hold(self, document: Document) -> None:
        """Keep a document at hand while it is read."""
        self._held = (document.span, document.located)

    def release(self) -> None:
        """Let go of the document at hand: a node tree takes far more memory than its text."""
        self._held = None

    def line(self, span: DocumentSpan, parts: list[str | int]) -> int:
        """Return the line of a field of a document."""
        if self._held is None or self._held[0] != span:
            self._held = (span, locate(self._text, span))
        return self._held[1].line(parts)


@dataclass(frozen=True, slots=True)
class Location:
    """Where an object stands: a document of a source, or an item of a List in it."""

    source: Source
    span: DocumentSpan
    prefix: tuple[str | int, ...] = ()

    def line(self, path: str) -> int:
        """Return the line of a field, or of its nearest parent that is written."""
        return self.source.line(self.span, [*self.prefix, *path_parts(path)])
