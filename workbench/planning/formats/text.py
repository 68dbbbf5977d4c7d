"""The text format of a review, for terminals and logs."""

from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING

from components.checks.memory.cases import Fit
from components.contract.texts.printable import printable
from components.plan.review.review import ChangeKind, Review

from ..wording.figures import pluralize
from ..wording.findings import finding_groups, ignored, location, subject
from ..wording.models import cost_title, environment_costs, has_costs, model_lines, total_title
from ..wording.resources import blast_lines, kind_lines
from ..wording.sentences import footnotes, unchanged_summary, verdict
from ..wording.starts import COLUMNS, start_lines
from ..wording.traffic import COLUMNS as TRAFFIC_COLUMNS
from ..wording.traffic import TITLE as TRAFFIC_TITLE
from ..wording.traffic import traffic_lines, traffic_notes, traffic_summary
from ..wording.upgrades import upgrade_lines

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

LOG_WIDTH = 240
"""Width for logs, so that names are not truncated."""
_COLORS = {"error": "bold red", "warning": "yellow", "note": "dim"}
_FIT_COLORS = {Fit.EXCEEDED: "bold red", Fit.TIGHT: "yellow", Fit.FITS: "green", Fit.UNKNOWN: "dim"}
_SIGNS = {ChangeKind.CREATED: "+", ChangeKind.UPDATED: "~", ChangeKind.REPLACED: "±", ChangeKind.DELETED: "-"}
_MAX_ITEMS = 20
"""Maximum number of findings, changes and fields; the other formats contain all."""


def text(review: Review, width: int = LOG_WIDTH, *, colors: bool = False) -> str:
    """Return a review as text of a given width."""
    from rich.console import Console

    output = StringIO()
    console = Console(file=output, width=width, force_terminal=colors, highlight=False, no_color=not colors)
    for part in _parts(review):
        console.print(part)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def for_terminal(review: Review) -> str:
    """Return a review as text for stdout: colored and as wide as the terminal, if it is one."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        return text(review)
    return text(review, console.width, colors=console.color_system is not None and not console.no_color)


def _parts(review: Review) -> "Iterator[RenderableType]":
    yield _text(f"Plan of {review.head.stack}: {verdict(review)}", "bold")
    yield from (_text(f"does not pass: {failure}", "bold red") for failure in review.failures)
    if review.changes_nothing:
        yield _text(unchanged_summary(review))
        yield from _traffic(review)
    elif not review.head.failed:
        yield from _models(review)
        yield from _traffic(review)
        yield from _starts(review)
        yield from _findings(review)
        yield from _change_tables(review)
        yield from _changed_fields(review)
        if findings := ignored(review):
            yield from _heading(f"Ignored findings ({len(findings)})")
            yield from _lines(
                f"{location(finding)}: [{finding.rule}] {finding.ignored}" for finding in findings[:_MAX_ITEMS]
            )
            yield from _rest(len(findings), "finding")
    if notes := [*footnotes(review)]:
        yield ""
        yield from (_text(note, "dim") for note in notes)


def _models(review: Review) -> "Iterator[RenderableType]":
    lines, paid = [*model_lines(review)], has_costs(review)
    if not lines:
        return
    costs = (f"{cost_title(review)}, now", "at least", "at most") if paid else ()
    table = _table("Models", "name", "model", "fits", "GPUs", *costs)
    for line in lines:
        name = f"{line.name} ({line.state})" if line.state else line.name
        fits = _text(": ".join(filter(None, (line.fits, line.margin))), _FIT_COLORS[line.fit] if line.fit else "")
        gpus = ", ".join(filter(None, (line.accelerators, line.nodes)))
        amounts = map(str, line.monthly if paid else ())
        table.add_row(_text(name), _text(line.model), fits, _text(gpus), *amounts)
    if paid:
        table.add_row(_text(total_title(review), "bold"), "", "", "", *map(str, environment_costs(review)))
    yield from ("", table)
    yield from _lines(f"{line.name}: {speed}" for line in lines for speed in line.speeds)


def _traffic(review: Review) -> "Iterator[RenderableType]":
    lines = [*traffic_lines(review)]
    if lines:
        table = _table(TRAFFIC_TITLE, *TRAFFIC_COLUMNS)
        for line in lines:
            table.add_row(*map(_text, (line.name, *line.cells)))
        yield from ("", table)
        yield from _lines([traffic_summary(review)])
    yield from (_text(note, "dim") for note in traffic_notes(review))


def _starts(review: Review) -> "Iterator[RenderableType]":
    lines = [*start_lines(review)]
    if not lines:
        return
    table = _table("Cold starts", *COLUMNS)
    for line in lines:
        table.add_row(*map(_text, (line.workload, *line.cells)))
    yield from ("", table)
    yield from _lines(f"{line.workload}: {line.saving}" for line in lines if line.saving)


def _findings(review: Review) -> "Iterator[RenderableType]":
    for group in finding_groups(review):
        elsewhere = ", listed by --output markdown" if group.folded else ""
        yield from _heading(f"{group.title} ({len(group.findings)}){elsewhere}")
        if group.folded:
            continue
        for finding in group.findings[:_MAX_ITEMS]:
            place = ": ".join(filter(None, (location(finding), subject(finding))))
            yield _text(f"{place}: {finding.reason} [{finding.rule}]", _COLORS.get(finding.severity, ""))
        yield from _rest(len(group.findings), "finding")


def _change_tables(review: Review) -> "Iterator[RenderableType]":
    if kinds := kind_lines(review):
        table = _table("Resource changes", "resources", *(kind.value for kind in ChangeKind))
        for kind in kinds:
            table.add_row(_text(kind.kind), *(str(count) if count else "" for count in kind.counts))
        yield from ("", table)

    if blasts := [*blast_lines(review)]:
        titles = ("workload", "effect", "unavailable", "duration", "extra GPUs", "cause")
        table = _table("Running replicas", *titles)
        for line in blasts:
            causes = ", ".join(line.causes) or "-"
            cells = (line.workload, line.effect, line.unavailable, line.duration, line.extra, causes)
            table.add_row(*map(_text, cells))
        yield from ("", table)
        yield from _lines(f"{line.workload}: {note}" for line in blasts for note in line.notes)

    for upgrade in upgrade_lines(review):
        yield from _heading(f"Upgrade of the operator: {upgrade.title}")
        yield from _lines(f"{number}. {step}" for number, step in enumerate(upgrade.steps, 1))
        yield from _lines(upgrade.notes)

    if review.endpoints:
        table = _table("Endpoint changes", "endpoint", "before", "after")
        for change in review.endpoints:
            table.add_row(*map(_text, (change.name, change.before or "-", change.after or "-")))
        yield from ("", table)


def _changed_fields(review: Review) -> "Iterator[RenderableType]":
    if review.changes:
        yield from _heading("Changes by resource")
    for change in review.changes[:_MAX_ITEMS]:
        yield _text(f"{_SIGNS[change.kind]} {change.title}", "bold")
        if change.note:
            yield _text(f"    {change.note}")
        for field in change.fields[:_MAX_ITEMS]:
            before, after = ("(none)" if value is None else value for value in (field.before, field.after))
            yield _text(f"    {field.path}: {before} → {after}")
        yield from _rest(len(change.fields), "field")
    yield from _rest(len(review.changes), "resource")


def _heading(title: str) -> "Iterator[RenderableType]":
    yield from ("", _text(title, "bold"))


def _lines(lines: Iterable[str]) -> "Iterator[RenderableType]":
    yield from map(_text, lines)


def _rest(number: int, noun: str) -> "Iterator[RenderableType]":
    """Yield the number of items that are not shown."""
    if number > _MAX_ITEMS:
        yield _text(f"and {pluralize(number - _MAX_ITEMS, f'more {noun}')}; the other formats list all of them")


def _table(title: str, *columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _text(content: str, style: str = "") -> "Text":
    """Return text without markup and control characters."""
    from rich.text import Text

    return Text(printable(content), style)
