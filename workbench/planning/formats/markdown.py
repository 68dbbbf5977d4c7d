"""The Markdown format of a review, for comments on pull requests on GitHub and GitLab."""

from collections.abc import Iterator

from components.plan.review.review import ResourceChange, Review
from components.plan.review.snapshot import FindingState

from ..wording.figures import counted
from ..wording.findings import finding_groups, ignored, place, subject
from ..wording.fits import MemoryLine, memory_lines, word
from ..wording.models import ModelLine, cost_lines, environment, is_paid, model_lines
from ..wording.picture import picture
from ..wording.resources import blast_lines, is_field, kind_lines
from ..wording.sentences import footnotes, remains, verdict
from .escaping import cells, code, fenced, is_rule, prose, sentence, shortened
from .links import NOWHERE, Links
from .mermaid import mermaid
from .truncation import LIMIT, Passage, Piece, limited

_LONGEST = 200
"""Maximum length of a value."""


def markdown(review: Review, links: Links = NOWHERE, limit: int = LIMIT) -> str:
    """Return the comment, truncated to a limit, with links to manifests and to the documentation of rules."""
    return limited([*_parts(review, links)], limit)


def marker(stack: str) -> str:
    """Return the hidden line that identifies the comment of a stack."""
    letters = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in stack[:_LONGEST])
    return f"<!-- inference-platform plan: {letters.replace('--', '-_')} -->"


def _parts(review: Review, links: Links) -> Iterator[Passage]:
    title = f"**Plan of {prose(review.head.stack)}:** {prose(verdict(review))}"
    yield Passage("lines", 0, (), (title, "", *_failures(review)))
    if review.changes_nothing:
        yield Passage("lines", 0, (), (sentence(remains(review)), ""))
    elif not review.head.failed:
        yield from _body(review, links)
    yield Passage("lines", 1, (), (*_footer(review), marker(review.head.stack)))


def _failures(review: Review) -> list[str]:
    if not review.failures:
        return []
    shown = (f"> - {sentence(each)}" for each in review.failures[:_MOST_NOTES])
    return ["> **This plan does not pass:**", ">", *shown, ""]


def _body(review: Review, links: Links) -> Iterator[Passage]:
    yield from _models(review)
    yield from _findings(review, links)
    yield from _changes(review)
    yield from _blasts(review)
    yield from _endpoints(review)
    yield from _fields(review)
    yield from _memory(review)
    yield from _picture(review)
    yield from _ignored(review, links)


def _models(review: Review) -> Iterator[Passage]:
    lines = [*model_lines(review)]
    if not lines:
        return
    paid = is_paid(review)
    # Costs come second, because narrow screens show only two columns.
    titles = ("model", *(["cost a month"] if paid else []), "fits", "GPUs")
    sums = "<br>".join(map(prose, cost_lines(environment(review)))) if paid else ""
    total = cells("**environment, all in**", sums, "", "")
    before = ("### Models", "", cells(*titles), cells(*("---" for _ in titles)), *([total] if paid else []))
    yield Passage("models", 2, _pieces(_model(line, paid=paid) for line in lines), before, ("",), 25)


def _model(line: ModelLine, *, paid: bool) -> str:
    state = f"**{line.state}**" if line.state in ("new", "removed") else prose(line.state)
    name = "<br>".join(filter(None, (code(line.name), prose(line.model), state)))
    fits = ": ".join(filter(None, (line.fits, line.margin)))
    costs = ["<br>".join(map(prose, line.costs))] if paid else []
    gpus = "<br>".join(filter(None, map(prose, (line.accelerators, line.nodes, *line.speeds))))
    return cells(name, *costs, prose(fits), gpus)


def _findings(review: Review, links: Links) -> Iterator[Passage]:
    for rank, group in enumerate(finding_groups(review), 3):
        pieces = _pieces(_finding(each, links) for each in group.findings)
        heading, after = _headed(f"{group.title} ({len(pieces)})", folded=group.folded)
        yield Passage(group.title.lower(), rank + (20 if group.folded else 0), pieces, heading, after, 15)


def _finding(finding: FindingState, links: Links) -> str:
    reason = f" Ignored: {prose(finding.ignored)}" if finding.ignored else ""
    about = f" {code(subject(finding))}" if subject(finding) else ""
    return (
        f"- **{prose(finding.severity)}** {_place(finding, links)}{about}: {prose(finding.reason)} "
        f"({_rule(finding.rule, links)}){reason}"
    )


def _place(finding: FindingState, links: Links) -> str:
    shown = code(place(finding))
    address = links.source(finding.file, finding.line)
    return f"[{shown}]({address})" if address else shown


def _rule(rule: str, links: Links) -> str:
    address = links.rule(rule) if is_rule(rule) else ""
    return f"[{code(rule)}]({address})" if address else code(rule)


def _changes(review: Review) -> Iterator[Passage]:
    lines = kind_lines(review)
    if lines:
        titles = ("resources", "created", "updated", "replaced", "deleted")
        before = ("### What changes", "", cells(*titles), cells("---", *("--:" for _ in titles[1:])))
        rows = (cells(code(line.kind), *(str(number) if number else "" for number in line.counts)) for line in lines)
        yield Passage("kinds", 8, _pieces(rows), before, ("",), 5)


def _blasts(review: Review) -> Iterator[Passage]:
    lines = [*blast_lines(review)]
    if not lines:
        return
    titles = ("workload", "what happens", "short of", "for how long", "GPUs on top", "because of")
    before = ("### Running replicas", "", cells(*titles), cells(*("---" for _ in titles)))
    rows = (
        cells(
            code(line.workload),
            prose(line.happens),
            line.short,
            line.lasts,
            line.extra,
            ", ".join(map(_cause, line.because)) or "-",
        )
        for line in lines
    )
    notes = [f"- {code(line.workload)}: {prose(text)}" for line in lines for text in line.notes]
    left = len(notes) - _MOST_NOTES
    more = ["", f"and {counted(left, 'more estimate')}; the report as HTML has them all"] if left > 0 else []
    after = ("", *notes[:_MOST_NOTES], *more, "")
    yield Passage("workloads", 7, _pieces(rows), before, after, 15)


_MOST_NOTES = 8


def _cause(text: str) -> str:
    return code(text) if is_field(text) else prose(text)


def _endpoints(review: Review) -> Iterator[Passage]:
    if review.endpoints:
        before = ("### Endpoints that change", "", cells("endpoint", "before", "after"), cells("---", "---", "---"))
        rows = (
            cells(code(each.name), *(code(text) if text else "-" for text in (each.before, each.after)))
            for each in review.endpoints
        )
        yield Passage("endpoints", 9, _pieces(rows), before, ("",), 10)


def _fields(review: Review) -> Iterator[Passage]:
    if review.changes:
        number = sum(len(change.fields) for change in review.changes)
        of = f"{counted(len(review.changes), 'resource')}, {counted(number, 'field')}"
        before, after = _headed(f"Resource by resource ({of})", folded=True)
        yield Passage("resources", 30, tuple(Piece(_change(change)) for change in review.changes), before, after, 20)


def _change(change: ResourceChange) -> tuple[str, ...]:
    lines = [line for field in change.fields[:_MOST_FIELDS] for line in _field(field.path, field.before, field.after)]
    left = len(change.fields) - _MOST_FIELDS
    more = [f"and {counted(left, 'more field')}", ""] if left > 0 else []
    note = f" ({prose(change.note)})" if change.note else ""
    title = f"{prose(change.kind.value)} {code(change.title)}{note}"
    return (f"- {title}",) if not lines else (f"- {title}", "", *_inside(fenced(lines, "diff")), "", *more)


def _inside(lines: list[str]) -> Iterator[str]:
    """Indent lines as part of a list item."""
    yield from (f"  {line}" for line in lines)


_MOST_FIELDS = 20


def _field(path: str, before: str | None, after: str | None) -> list[str]:
    signed = (("-", before), ("+", after))
    values = [f"{sign} {shortened(value, _LONGEST)}" for sign, value in signed if value is not None]
    return [f"  {shortened(path, _LONGEST)}", *values]


def _memory(review: Review) -> Iterator[Passage]:
    lines = [*memory_lines(review.head)]
    if not lines:
        return
    before, after = _headed("Memory of each GPU (estimated)", folded=True)
    yield Passage("workloads", 28, _pieces(_memory_line(line) for line in lines), before, after, 10)


def _memory_line(line: MemoryLine) -> str:
    texts = [line.verdict.reason, line.requests, line.types, *line.verdict.notes]
    sentences = (f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in texts if text)
    return f"- {code(line.name)} {word(line.verdict.fit)}. {prose(' '.join(sentences))}"


def _picture(review: Review) -> Iterator[Passage]:
    found = picture(review)
    if found.is_empty:
        return
    before, after = _headed("Models, workloads and nodes", folded=True)
    notes = (sentence(found.left_out), "") if found.left_out else ()
    yield Passage("pictures", 29, (Piece((*notes, *fenced(mermaid(found), "mermaid"), "")),), before, after, 20)


def _ignored(review: Review, links: Links) -> Iterator[Passage]:
    found = ignored(review)
    if found:
        before, after = _headed(f"Ignored findings ({len(found)})", folded=True)
        yield Passage("ignored findings", 27, _pieces(_finding(each, links) for each in found), before, after, 10)


def _footer(review: Review) -> Iterator[str]:
    notes = [*footnotes(review)]
    if notes:
        yield from (f"<sub>{prose(note)}</sub><br>" for note in notes[:_MOST_NOTES])
        yield ""


def _headed(title: str, *, folded: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines before and after a part. After HTML, Markdown needs a blank line."""
    if folded:
        return ("<details>", f"<summary>{title}</summary>", ""), ("", "</details>", "")
    return (f"### {title}", ""), ("",)


def _pieces(lines: Iterator[str]) -> tuple[Piece, ...]:
    return tuple(Piece((line,)) for line in lines)
