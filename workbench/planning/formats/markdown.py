"""The Markdown format of a review, for comments on pull requests on GitHub and GitLab."""

from collections.abc import Iterable, Iterator

from components.plan.review.review import Review
from components.plan.review.snapshot import FindingState

from ..wording.diagram import diagram
from ..wording.figures import pluralize
from ..wording.findings import finding_groups, ignored, location, subject
from ..wording.fits import fit_label, memory_lines
from ..wording.models import cost_lines, cost_title, environment_costs, has_costs, model_lines, total_title
from ..wording.resources import blast_lines, is_field, kind_lines
from ..wording.sentences import footnotes, unchanged_summary, verdict
from ..wording.starts import COLUMNS, start_lines
from ..wording.traffic import COLUMNS as TRAFFIC_COLUMNS
from ..wording.traffic import TITLE as TRAFFIC_TITLE
from ..wording.traffic import traffic_lines, traffic_notes, traffic_summary
from ..wording.upgrades import upgrade_lines
from .escaping import cells, code, fenced, is_rule, prose, sentence, shortened
from .links import NOWHERE, Links
from .mermaid import mermaid
from .truncation import LIMIT, Passage, Piece, limited

_MAX_LENGTH = 200
"""Maximum length of a value."""
_MAX_NOTES = 8
_MAX_FIELDS = 20


def markdown(review: Review, links: Links = NOWHERE, limit: int = LIMIT) -> str:
    """Return the comment, truncated to a limit, with links to manifests and to the documentation of rules."""
    return limited([*_passages(review, links)], limit)


def marker(stack: str) -> str:
    """Return the hidden line that identifies the comment of a stack."""
    letters = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in stack[:_MAX_LENGTH])
    return f"<!-- inference-platform plan: {letters.replace('--', '-_')} -->"


def _passages(review: Review, links: Links) -> Iterator[Passage]:
    """Yield passages in reading order; their ranks say what is left out first."""
    title = f"**Plan of {prose(review.head.stack)}:** {prose(verdict(review))}"
    failures = [f"> - {sentence(failure)}" for failure in review.failures[:_MAX_NOTES]]
    if failures:
        failures = ["> **This plan does not pass:**", ">", *failures, ""]
    yield Passage("lines", 0, (), (title, "", *failures))
    if review.changes_nothing:
        yield Passage("lines", 0, (), (sentence(unchanged_summary(review)), ""))
        yield from _traffic(review)
    elif not review.head.failed:
        yield from _models(review)
        yield from _traffic(review)
        for rank, group in enumerate(finding_groups(review), 3):
            pieces = _pieces(_finding(finding, links) for finding in group.findings)
            before, after = _heading(f"{group.title} ({len(pieces)})", folded=group.folded)
            yield Passage(
                name=group.title.lower(),
                rank=rank + (20 if group.folded else 0),
                pieces=pieces,
                before=before,
                after=after,
                share=15,
            )
        yield from _change_tables(review)
        yield from _changed_fields(review)
        yield from _details(review, links)
    notes = [f"<sub>{prose(note)}</sub><br>" for note in footnotes(review)][:_MAX_NOTES]
    yield Passage("lines", 1, (), (*notes, *([""] if notes else []), marker(review.head.stack)))


def _traffic(review: Review) -> Iterator[Passage]:
    lines = list(traffic_lines(review))
    notes = [f"- {prose(note)}" for note in traffic_notes(review)]
    if not lines and not notes:
        return
    before = [f"### {TRAFFIC_TITLE}", ""]
    if lines:
        before += [sentence(traffic_summary(review)), "", *_table_head(TRAFFIC_COLUMNS)]
    yield Passage(
        name="simulated requests",
        rank=2,
        pieces=_pieces(cells(code(line.name), *map(prose, line.cells)) for line in lines),
        before=tuple(before),
        after=("", *notes, ""),
        share=10,
    )


def _models(review: Review) -> Iterator[Passage]:
    lines = [*model_lines(review)]
    if not lines:
        return
    paid = has_costs(review)
    rows = []
    for line in lines:
        state = f"**{line.state}**" if line.state in ("new", "removed") else prose(line.state)
        name = "<br>".join(filter(None, (code(line.name), prose(line.model), state)))
        costs = ["<br>".join(map(prose, line.costs))] if paid else []
        fits = ": ".join(filter(None, (line.fits, line.margin)))
        gpus = "<br>".join(filter(None, map(prose, (line.accelerators, line.nodes, *line.speeds))))
        rows.append(cells(name, *costs, prose(fits), gpus))
    # Costs come second, because narrow screens show only two columns.
    titles = ("model", *([cost_title(review)] if paid else []), "fits", "GPUs")
    before = ["### Models", "", *_table_head(titles)]
    if paid:
        total = "<br>".join(map(prose, cost_lines(environment_costs(review))))
        before.append(cells(f"**{total_title(review)}**", total, "", ""))
    yield Passage(name="models", rank=2, pieces=_pieces(rows), before=tuple(before), after=("",), share=25)


def _finding(finding: FindingState, links: Links) -> str:
    place = code(location(finding))
    if address := links.source(finding.file, finding.line):
        place = f"[{place}]({address})"
    rule = code(finding.rule)
    if is_rule(finding.rule) and (address := links.rule(finding.rule)):
        rule = f"[{rule}]({address})"
    field = f" {code(subject(finding))}" if subject(finding) else ""
    reason = f" Ignored: {prose(finding.ignored)}" if finding.ignored else ""
    return f"- **{prose(finding.severity)}** {place}{field}: {prose(finding.reason)} ({rule}){reason}"


def _change_tables(review: Review) -> Iterator[Passage]:
    if kinds := kind_lines(review):
        titles = ("resources", "created", "updated", "replaced", "deleted")
        before = ("### Resource changes", "", cells(*titles), cells("---", *("--:" for _ in titles[1:])))
        rows = [cells(code(line.kind), *(str(count) if count else "" for count in line.counts)) for line in kinds]
        yield Passage(name="kinds", rank=8, pieces=_pieces(rows), before=before, after=("",), share=5)

    if blasts := [*blast_lines(review)]:
        columns = ("workload", "effect", "unavailable", "duration", "extra GPUs", "cause")
        rows = [
            cells(
                code(line.workload),
                prose(line.effect),
                line.unavailable,
                line.duration,
                line.extra,
                ", ".join(code(cause) if is_field(cause) else prose(cause) for cause in line.causes) or "-",
            )
            for line in blasts
        ]
        notes = [f"- {code(line.workload)}: {prose(note)}" for line in blasts for note in line.notes]
        left = len(notes) - _MAX_NOTES
        more = ["", f"and {pluralize(left, 'more estimate')}; the HTML report lists all of them"] if left > 0 else []
        after = ("", *notes[:_MAX_NOTES], *more, "")
        yield Passage(
            name="workloads",
            rank=7,
            pieces=_pieces(rows),
            before=("### Running replicas", "", *_table_head(columns)),
            after=after,
            share=15,
        )

    for upgrade in upgrade_lines(review):
        lines = [
            *(f"{number}. {prose(step)}" for number, step in enumerate(upgrade.steps, 1)),
            "",
            *(f"- {prose(note)}" for note in upgrade.notes),
        ]
        title = f"### Upgrade of the operator: {prose(upgrade.title)}"
        yield Passage(name="upgrades", rank=6, pieces=_pieces(lines), before=(title, ""), after=("",), share=10)

    if review.endpoints:
        before = ("### Endpoint changes", "", *_table_head(("endpoint", "before", "after")))
        rows = [
            cells(code(change.name), *(code(url) if url else "-" for url in (change.before, change.after)))
            for change in review.endpoints
        ]
        yield Passage(name="endpoints", rank=9, pieces=_pieces(rows), before=before, after=("",), share=10)


def _changed_fields(review: Review) -> Iterator[Passage]:
    """Yield the differences of each resource, as diffs within a list."""
    if not review.changes:
        return
    pieces = []
    for change in review.changes:
        note = f" ({prose(change.note)})" if change.note else ""
        lines = [f"- {prose(change.kind.value)} {code(change.title)}{note}"]
        if change.fields:
            diff = []
            for field in change.fields[:_MAX_FIELDS]:
                diff.append(f"  {shortened(field.path, _MAX_LENGTH)}")
                for sign, value in (("-", field.before), ("+", field.after)):
                    if value is not None:
                        diff.append(f"{sign} {shortened(value, _MAX_LENGTH)}")
            lines += ["", *(f"  {line}" for line in fenced(diff, "diff")), ""]
        left = len(change.fields) - _MAX_FIELDS
        if left > 0:
            lines += [f"and {pluralize(left, 'more field')}", ""]
        pieces.append(Piece(tuple(lines)))
    number = sum(len(change.fields) for change in review.changes)
    counts = f"{pluralize(len(review.changes), 'resource')}, {pluralize(number, 'field')}"
    before, after = _heading(f"Changes by resource ({counts})", folded=True)
    yield Passage(name="resources", rank=30, pieces=tuple(pieces), before=before, after=after, share=20)


def _details(review: Review, links: Links) -> Iterator[Passage]:
    """Yield the collapsed parts at the end: memory, the diagram, and ignored findings."""
    rows = []
    for line in memory_lines(review.head):
        texts = [line.verdict.reason, line.requests, line.types, *line.verdict.notes]
        sentences = (f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in texts if text)
        rows.append(f"- {code(line.name)} {fit_label(line.verdict.fit)}. {prose(' '.join(sentences))}")
    if rows:
        before, after = _heading("Memory of each GPU (estimated)", folded=True)
        yield Passage(name="workloads", rank=28, pieces=_pieces(rows), before=before, after=after, share=10)

    if starts := [*start_lines(review)]:
        rows = [cells(code(line.workload), *line.cells) for line in starts]
        before, after = _heading("Cold starts (estimated)", folded=True)
        notes = [f"- {code(line.workload)}: {prose(line.saving)}" for line in starts if line.saving]
        yield Passage(
            name="cold starts",
            rank=26,
            pieces=_pieces(rows),
            before=(*before, *_table_head(COLUMNS)),
            after=("", *notes, *after),
            share=10,
        )

    chart = diagram(review)
    if not chart.is_empty:
        before, after = _heading("Models, workloads and nodes", folded=True)
        omitted = (sentence(chart.omitted), "") if chart.omitted else ()
        piece = Piece((*omitted, *fenced(mermaid(chart), "mermaid"), ""))
        yield Passage(name="pictures", rank=29, pieces=(piece,), before=before, after=after, share=20)

    if findings := ignored(review):
        before, after = _heading(f"Ignored findings ({len(findings)})", folded=True)
        pieces = _pieces(_finding(finding, links) for finding in findings)
        yield Passage(name="ignored findings", rank=27, pieces=pieces, before=before, after=after, share=10)


def _heading(title: str, *, folded: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines before and after a part. After HTML, Markdown needs a blank line."""
    if folded:
        return ("<details>", f"<summary>{title}</summary>", ""), ("", "</details>", "")
    return (f"### {title}", ""), ("",)


def _table_head(titles: tuple[str, ...]) -> tuple[str, str]:
    return cells(*titles), cells(*("---" for _ in titles))


def _pieces(lines: Iterable[str]) -> tuple[Piece, ...]:
    return tuple(Piece((line,)) for line in lines)
