"""Output formats of a review."""

import enum
from pathlib import Path
from typing import TYPE_CHECKING

from .links import NOWHERE, Links

if TYPE_CHECKING:
    from components.plan.review.review import Review


class ReviewFormat(enum.StrEnum):
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
    """Return the format for the suffix of a file; None without one."""
    return SUFFIXES.get(path.suffix.lower())


def write(review: "Review", form: ReviewFormat, links: Links = NOWHERE) -> str:
    """Return a review in a format for a file, with links to manifests and to the documentation of rules."""
    if form is ReviewFormat.MARKDOWN:
        from .markdown import markdown

        return markdown(review, links)
    if form is ReviewFormat.HTML:
        from .html.page import html

        return html(review, links)
    if form is ReviewFormat.JSON:
        from .data import as_json

        return as_json(review)
    if form is ReviewFormat.SARIF:
        return _sarif(review, links)
    from .text import text

    return text(review, details=True)


def show(review: "Review", form: ReviewFormat, links: Links = NOWHERE, *, details: bool = False) -> str:
    """Return a review for stdout; without `details`, the text fits one screen."""
    from toolkit.screen import Screen

    from .text import text

    return text(review, Screen.of(), details=details) if form is ReviewFormat.TEXT else write(review, form, links)


def _sarif(review: "Review", links: Links) -> str:
    """Return all findings of the proposed revision; with a base, new ones are marked.

    Fixed findings are left out: code hosts ignore ``baselineState: absent`` and would show them as alerts.
    """
    import json

    from components.contract.findings.sarif import sarif
    from components.plan.review.compare import baseline_states
    from components.version import __version__

    documentation = f"{links.sources}/" if links.sources and links.rules else ""
    states = baseline_states(review) if review.base else {}
    log = sarif(review.head.findings, __version__, folder=links.folder, documentation=documentation, states=states)
    return json.dumps(log, indent=2) + "\n"
