"""The text format of a review, for terminals and logs."""

from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING

from components.checks.memory.cases import Fit
from components.contract.texts.printable import printable
from components.plan.review.review import ChangeKind, Review

from ..wording.figures import counted
from ..wording.findings import finding_groups, ignored, place, subject
from ..wording.models import environment, is_paid, model_lines
from ..wording.resources import blast_lines, kind_lines
from ..wording.sentences import footnotes, remains, verdict

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

WIDE = 240
"""Width for logs, so that names are not truncated."""
_COLOURS = {"error": "bold red", "warning": "yellow", "note": "dim"}
_FITS = {Fit.EXCEEDED: "bold red", Fit.TIGHT: "yellow", Fit.FITS: "green", Fit.UNKNOWN: "dim"}
_SIGNS = {ChangeKind.CREATED: "+", ChangeKind.UPDATED: "~", ChangeKind.REPLACED: "±", ChangeKind.DELETED: "-"}
_MOST = 20
"""Maximum number of findings, changes and fields; the other formats contain all."""


def text(review: Review, width: int = WIDE, *, colours: bool = False) -> str:
    """Return a review as text of a given width."""
    from rich.console import Console

    written = StringIO()
    out = Console(file=written, width=width, force_terminal=colours, highlight=False, no_color=not colours)
    for each in _parts(review):
        out.print(each)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def for_terminal(review: Review) -> str:
    """Return a review as text for stdout: colored and as wide as the terminal, if it is one."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        return text(review)
    return text(review, console.width, colours=console.color_system is not None and not console.no_color)


def _parts(review: Review) -> "Iterator[RenderableType]":
    yield _plain_text(f"Plan of {review.head.stack}: {verdict(review)}", "bold")
    for failure in review.failures:
        yield _plain_text(f"does not pass: {failure}", "bold red")
    if review.changes_nothing:
        yield _plain_text(remains(review))
    elif not review.head.failed:
        yield from _models(review)
        yield from _findings(review)
        yield from _changes(review)
        yield from _blasts(review)
        yield from _endpoints(review)
        yield from _fields(review)
        yield from _ignored(review)
    yield from _footer(review)


def _plain_text(words: str, style: str = "") -> "Text":
    """Return text without markup and control characters."""
    from rich.text import Text

    return Text(printable(words), style)


def _table(title: str, *columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    table.title_style = "bold"
    return table


def _models(review: Review) -> "Iterator[RenderableType]":
    lines, paid = [*model_lines(review)], is_paid(review)
    if not lines:
        return
    costs = ("cost a month, now", "at least", "at most") if paid else ()
    table = _table("Models", "name", "model", "fits", "GPUs", *costs)
    for line in lines:
        name = f"{line.name} ({line.state})" if line.state else line.name
        fits = _plain_text(": ".join(filter(None, (line.fits, line.margin))), _FITS[line.fit] if line.fit else "")
        gpus = ", ".join(filter(None, (line.accelerators, line.nodes)))
        amounts = map(str, line.monthly if paid else ())
        table.add_row(_plain_text(name), _plain_text(line.model), fits, _plain_text(gpus), *amounts)
    if paid:
        table.add_row(_plain_text("environment, all in", "bold"), "", "", "", *map(str, environment(review)))
    yield ""
    yield table
    yield from _each(f"{line.name}: {speed}" for line in lines for speed in line.speeds)


def _findings(review: Review) -> "Iterator[RenderableType]":
    for group in finding_groups(review):
        yield _heading(f"{group.title} ({len(group.findings)})")
        if group.folded:
            continue
        for each in group.findings[:_MOST]:
            about = f"{found}: " if (found := subject(each)) else ""
            yield _plain_text(f"{place(each)}: {about}{each.reason} [{each.rule}]", _COLOURS.get(each.severity, ""))
        yield from _more(len(group.findings), "finding")


def _heading(title: str) -> "RenderableType":
    from rich.console import Group

    return Group("", _plain_text(title, "bold"))


def _more(number: int, what: str) -> "Iterator[RenderableType]":
    if number > _MOST:
        yield _plain_text(f"and {counted(number - _MOST, f'more {what}')}; the other formats have them all")


def _changes(review: Review) -> "Iterator[RenderableType]":
    lines = kind_lines(review)
    if lines:
        table = _table("What changes", "resources", *(kind.value for kind in ChangeKind))
        for line in lines:
            table.add_row(_plain_text(line.kind), *(str(number) if number else "" for number in line.counts))
        yield ""
        yield table


def _blasts(review: Review) -> "Iterator[RenderableType]":
    lines = [*blast_lines(review)]
    if not lines:
        return
    table = _table(
        "Running replicas", "workload", "what happens", "short of", "for how long", "GPUs on top", "because of"
    )
    for line in lines:
        cells = (line.workload, line.happens, line.short, line.lasts, line.extra, ", ".join(line.because) or "-")
        table.add_row(*map(_plain_text, cells))
    yield ""
    yield table
    yield from _each(f"{line.workload}: {note}" for line in lines for note in line.notes)


def _endpoints(review: Review) -> "Iterator[RenderableType]":
    if review.endpoints:
        table = _table("Endpoints that change", "endpoint", "before", "after")
        for each in review.endpoints:
            table.add_row(*map(_plain_text, (each.name, each.before or "-", each.after or "-")))
        yield ""
        yield table


def _fields(review: Review) -> "Iterator[RenderableType]":
    changes = review.changes
    if changes:
        yield _heading("Resource by resource")
    for change in changes[:_MOST]:
        yield _plain_text(f"{_SIGNS[change.kind]} {change.title}", "bold")
        if change.note:
            yield _plain_text(f"    {change.note}")
        for field in change.fields[:_MOST]:
            values = (found if found is not None else "(none)" for found in (field.before, field.after))
            yield _plain_text(f"    {field.path}: {' → '.join(values)}")
        yield from _more(len(change.fields), "field")
    yield from _more(len(changes), "resource")


def _ignored(review: Review) -> "Iterator[RenderableType]":
    found = ignored(review)
    if found:
        yield _heading(f"Ignored findings ({len(found)})")
        yield from _each(f"{place(each)}: [{each.rule}] {each.ignored}" for each in found[:_MOST])
        yield from _more(len(found), "finding")


def _each(lines: Iterable[str]) -> "Iterator[RenderableType]":
    yield from map(_plain_text, lines)


def _footer(review: Review) -> "Iterator[RenderableType]":
    notes = [*footnotes(review)]
    if notes:
        yield ""
    yield from (_plain_text(note, "dim") for note in notes)
