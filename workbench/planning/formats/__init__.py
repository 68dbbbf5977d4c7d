"""How a review is written: one function for each format, from a review to text."""

import enum
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.review.review import Review


class ReviewFormat(enum.StrEnum):
    """How a review is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"


SUFFIXES = {
    ".txt": ReviewFormat.TEXT,
    ".md": ReviewFormat.MARKDOWN,
    ".html": ReviewFormat.HTML,
    ".json": ReviewFormat.JSON,
    ".sarif": ReviewFormat.SARIF,
}


def format_of(path: Path) -> ReviewFormat | None:
    """Return the format that the name of a file asks for."""
    return SUFFIXES.get(path.suffix.lower())


def write(review: "Review", form: ReviewFormat) -> str:
    """Return a review as text of some format."""
    return _writer(form)(review)


def _writer(form: ReviewFormat) -> Callable[["Review"], str]:
    from .text import text

    return {ReviewFormat.TEXT: text}.get(form, text)
