"""A page of the site, and the helpers that all generated pages use."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Section = tuple[str, Sequence["Page | Section"]]
"""A title and its pages, in the order of the navigation."""


class Page(NamedTuple):
    """One page.

    Attributes:
        path: Its Markdown file, relative to the sources of the site.
        title: Its title in the navigation.
        text: Its Markdown.
        source: The file in the repository that an edit would change; empty for generated pages.
    """

    path: str
    title: str
    text: str
    source: str = ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; pipes and line breaks in cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def code(text: object) -> str:
    """Return text as inline code; empty text stays empty."""
    if text in ("", None):
        return ""
    fence = "``" if "`" in str(text) else "`"
    return f"{fence}{text}{fence}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
