"""How a review is written: one function for each format, from a review to text."""

import enum
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .links import NOWHERE, Links

if TYPE_CHECKING:
    from components.plan.review.review import Review


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


def write(review: "Review", form: ReviewFormat, links: Links = NOWHERE) -> str:
    """Return a review as text of some format, with links to manifests and to what is said of rules."""
    return _writer(form, links)(review)


def show(review: "Review", form: ReviewFormat, links: Links = NOWHERE) -> str:
    """Return what goes to stdout: text as wide as the terminal, in colours if it has them."""
    from .text import for_terminal

    return for_terminal(review) if form is ReviewFormat.TEXT else write(review, form, links)


def _writer(form: ReviewFormat, links: Links) -> Callable[["Review"], str]:
    """Return the function that writes a format; each is imported only where it is asked for."""
    from .text import text

    if form is ReviewFormat.MARKDOWN:
        from .markdown import markdown

        return lambda review: markdown(review, links)
    if form is ReviewFormat.HTML:
        from .html.page import html

        return lambda review: html(review, links)
    if form is ReviewFormat.JSON:
        from .data import as_json

        return as_json
    if form is ReviewFormat.SARIF:
        return lambda review: _sarif(review, links)
    return text


def _sarif(review: "Review", links: Links) -> str:
    """Return every finding of the proposed revision, and which are new where there is something to compare with.

    What is fixed is left out: code hosts would show it as an alert, since they know ``baselineState`` as little as
    ``absent``.
    """
    import json

    from components.contract.findings.sarif import sarif
    from components.plan.review.compare import baseline_states
    from components.version import __version__

    documentation = f"{links.sources}/" if links.sources and links.rules else ""
    states = baseline_states(review) if review.base else {}
    log = sarif(review.head.findings, __version__, folder=links.folder, documentation=documentation, states=states)
    return json.dumps(log, indent=2) + "\n"
