"""The HTML page of a review."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.checks.memory.cases import Fit
from components.contract.texts.printable import printable
from components.plan.review.review import ChangeKind, Review
from components.plan.review.snapshot import FindingState

from ...wording.figures import usd, usd_difference
from ...wording.findings import finding_groups, ignored, place, subject
from ...wording.fits import memory_lines, word
from ...wording.models import environment, is_paid, model_lines
from ...wording.picture import picture
from ...wording.resources import blast_lines, is_field, kind_lines
from ...wording.sentences import footnotes, remains, verdict
from ..escaping import is_rule
from ..links import NOWHERE, Links
from .drawings import columns, cost_plots, memory_plot

if TYPE_CHECKING:
    from jinja2 import Template

_HERE = Path(__file__).parent
_LOOKS = {Fit.FITS: "good", Fit.TIGHT: "tight", Fit.EXCEEDED: "bad", Fit.UNKNOWN: "open"}
_MOST_PICTURED = 200
"""Maximum number of boxes of the diagram; a page has more room than a comment."""


def html(review: Review, links: Links = NOWHERE) -> str:
    """Return the page."""
    from markupsafe import Markup

    style = (_HERE / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _template().render(
        _content(review, links),
        style=Markup(style),  # noqa: S704  a file of this package
        digest=digest,
        svg=Markup,
        usd=usd,
        usd_difference=usd_difference,
        word=word,
        is_field=is_field,
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        """Remove control and bidirectional characters from every value."""
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environ = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environ.get_template("report.html")


def _content(review: Review, links: Links) -> dict[str, Any]:
    lines, paid = [*model_lines(review)], is_paid(review)
    found = picture(review, _MOST_PICTURED)
    memory = [*memory_lines(review.head)]
    return {
        "stack": review.head.stack,
        "verdict": verdict(review),
        "remains": remains(review) if review.changes_nothing else "",
        "failures": review.failures,
        "compared": review.base is not None,
        "models": lines,
        "looks": _LOOKS,
        "paid": paid,
        "total": environment(review) if paid else (),
        "costs": cost_plots(lines, compared=review.base is not None) if paid else (),
        "memory": [plot for line in memory if (plot := memory_plot(line))],
        "unasked": [line for line in memory if not line.verdict.parts],
        "groups": [*finding_groups(review)],
        "ignored": ignored(review),
        "about": lambda finding: _about(finding, links),
        "kinds": kind_lines(review),
        "kind_names": [kind.value for kind in ChangeKind],
        "blasts": [*blast_lines(review)],
        "endpoints": review.endpoints,
        "changes": review.changes,
        "picture": "" if found.is_empty else columns(found),
        "left_out": found.left_out,
        "footnotes": [*footnotes(review)],
    }


def _about(finding: FindingState, links: Links) -> dict[str, str]:
    return {
        "place": place(finding),
        "source": links.source(finding.file, finding.line),
        "subject": subject(finding),
        # A saved page has no documentation next to it, so relative links would be broken.
        "rule": links.rule(finding.rule) if links.sources and is_rule(finding.rule) else "",
    }
