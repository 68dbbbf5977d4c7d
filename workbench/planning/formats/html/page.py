"""The HTML page of a review."""

from components.checks.memory.cases import Fit
from components.plan.review.review import ChangeKind, Review
from components.plan.review.snapshot import FindingState

from ...wording.diagram import diagram
from ...wording.figures import usd, usd_difference
from ...wording.findings import finding_groups, ignored, location, subject
from ...wording.fits import fit_label, memory_lines
from ...wording.models import cost_title, environment_costs, has_costs, model_lines, total_title
from ...wording.resources import blast_lines, is_field, kind_lines
from ...wording.sentences import footnotes, unchanged_summary, verdict
from ...wording.starts import COLUMNS, start_lines
from ...wording.traffic import COLUMNS as TRAFFIC_COLUMNS
from ...wording.traffic import TITLE as TRAFFIC_TITLE
from ...wording.traffic import traffic_lines, traffic_notes, traffic_summary
from ...wording.upgrades import upgrade_lines
from ..escaping import is_rule
from ..links import NOWHERE, Links
from .drawings import cost_plots, flowchart, memory_plot
from .template import FOLDER, load_template, stylesheet

_FIT_BADGES = {Fit.FITS: "good", Fit.TIGHT: "tight", Fit.EXCEEDED: "bad", Fit.UNKNOWN: "open"}
_MAX_BOXES = 200
"""Maximum number of boxes of the diagram; a page has more room than a comment."""


def html(review: Review, links: Links = NOWHERE) -> str:
    """Return the page."""
    from markupsafe import Markup

    style = stylesheet()
    models, paid = [*model_lines(review)], has_costs(review)
    memory = [*memory_lines(review.head)]
    chart = diagram(review, _MAX_BOXES)

    def references(finding: FindingState) -> dict[str, str]:
        return {
            "place": location(finding),
            "source": links.source(finding.file, finding.line),
            "subject": subject(finding),
            # A saved page has no documentation next to it, so relative links would be broken.
            "rule": links.rule(finding.rule) if links.sources and is_rule(finding.rule) else "",
        }

    return load_template(FOLDER, "report.html").render(
        style=style.text,
        digest=style.digest,
        svg=Markup,
        usd=usd,
        usd_difference=usd_difference,
        fit_label=fit_label,
        fit_badges=_FIT_BADGES,
        is_field=is_field,
        references=references,
        stack=review.head.stack,
        verdict=verdict(review),
        summary=unchanged_summary(review) if review.changes_nothing else "",
        failures=review.failures,
        compared=review.base is not None,
        models=models,
        paid=paid,
        cost_title=cost_title(review),
        total_title=total_title(review),
        total=environment_costs(review) if paid else (),
        costs=cost_plots(models, compared=review.base is not None) if paid else (),
        memory=[plot for line in memory if (plot := memory_plot(line))],
        memory_unknown=[line for line in memory if not line.verdict.parts],
        groups=[*finding_groups(review)],
        ignored=ignored(review),
        kinds=kind_lines(review),
        kind_names=[kind.value for kind in ChangeKind],
        blasts=[*blast_lines(review)],
        starts=[*start_lines(review)],
        start_columns=COLUMNS,
        traffic=[*traffic_lines(review)],
        traffic_title=TRAFFIC_TITLE,
        traffic_columns=TRAFFIC_COLUMNS,
        traffic_summary=traffic_summary(review),
        traffic_notes=[*traffic_notes(review)],
        upgrades=[*upgrade_lines(review)],
        endpoints=review.endpoints,
        changes=review.changes,
        diagram="" if chart.is_empty else flowchart(chart),
        omitted=chart.omitted,
        footnotes=[*footnotes(review)],
    )
