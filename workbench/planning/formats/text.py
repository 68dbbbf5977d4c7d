"""The text format of a review: an answer that fits a screen, and everything else with ``--details``."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from components.checks.memory.cases import Fit
from components.contract.findings.advice import split_message
from components.fleet.instances import instance
from components.plan.review.review import ChangeKind, Interruption, ModelChange, Review
from components.plan.review.snapshot import FindingState, ServedModel
from toolkit.findings import messages_of
from toolkit.screen import Message, Screen, Styled, TableColumn, hidden_findings

from ..wording.figures import monthly, pluralize, whole_usd
from ..wording.findings import finding_groups, ignored
from ..wording.fits import fit_label, fit_of, left_text, memory_lines, worst_verdict
from ..wording.headline import headline, model_name, share_lines
from ..wording.models import NOT_PLANNED, has_costs, model_lines
from ..wording.resources import BlastLine, blast_lines, kind_lines
from ..wording.sentences import footnotes
from ..wording.starts import short_text, start_lines
from ..wording.traffic import TITLE as TRAFFIC_TITLE
from ..wording.traffic import TrafficLine, traffic_lines, traffic_notes, traffic_summary
from ..wording.upgrades import upgrade_lines

_FIT_STYLES = {Fit.EXCEEDED: "error", Fit.TIGHT: "warning", Fit.FITS: "good", Fit.UNKNOWN: "dim"}
_SIGNS = {ChangeKind.CREATED: "+", ChangeKind.UPDATED: "~", ChangeKind.REPLACED: "±", ChangeKind.DELETED: "-"}
_FILE = re.compile(r"\S+\.ya?ml(:\d+){0,2}")
_MOST_ROWS = 10
"""Rows of a table without ``--details``: with the headline and the findings, two tables fit a screen."""
_ROWS_WITH_ERRORS = 5
"""Rows of a table beside errors, which need the room."""
_MOST_FINDINGS = 3
"""Findings without ``--details``."""
_MOST_LINES = 3
"""Lines of the cause of a warning without ``--details``."""
_MOST_FIELDS = 20
"""Fields of a changed resource; the other formats contain all."""
_INDENT = "  "


def text(review: Review, screen: Screen = Screen(), *, details: bool = False) -> str:  # noqa: B008
    """Return a review as text for a screen."""
    lines = _lines(review, screen, details=details)
    return "".join(f"{line}\n" for line in lines)


def _lines(review: Review, screen: Screen, *, details: bool) -> Iterator[str]:
    yield from screen.text(headline(review), "bold")
    failures = [failure for failure in review.failures if not re.fullmatch(r"[\d,]+ errors?", failure)]
    if failures and not review.head.failed:
        yield from screen.text(f"does not pass: {'; '.join(failures)}", "error")
    if review.head.failed:
        yield from screen.findings([*_reasons(review.head.failed)], details=True)
    else:
        if not review.changes_nothing:
            yield from _changes(review, screen, details=details)
        models = _Models.of(review)
        if details or not review.changes_nothing:
            yield from models.table(screen, details=details)
        yield from _traffic(review, screen, details=details)
        findings = _messages(review)
        yield from screen.findings(
            findings,
            details=details,
            most=_MOST_FINDINGS,
            cause_lines=_MOST_LINES,
        )
        if details:
            yield from _details(review, screen)
        yield from screen.closing(findings, () if details else [*_hidden(review, findings, models, screen)])


def _reasons(failed: str) -> Iterator[Message]:
    """Yield why there is no plan: problems of files, one in a line that indented lines can follow, or other text."""
    for reason in re.split(r"\n(?! )", failed.strip()):
        place, _, rest = reason.partition(": ")
        if not _FILE.fullmatch(place):
            place, rest = "", reason
        cause, step = split_message(" ".join(rest.split()))
        yield Message(severity="error", rule="", place=place, cause=cause, help=step)


def _messages(review: Review) -> list[Message]:
    """Return the findings: with a base, new ones first, and those that are fixed only count in the details."""
    findings: list[FindingState] = []
    for group in finding_groups(review):
        if not group.fixed:
            findings += group.findings
    return messages_of([*findings, *ignored(review)])


def _hidden(review: Review, findings: Sequence[Message], models: "_Models", screen: Screen) -> Iterator[str]:
    """Yield what ``--details`` adds."""
    if models.is_cut:
        yield "all models"
    yield from hidden_findings(findings, most=_MOST_FINDINGS)
    if screen.cuts_causes(findings, most=_MOST_FINDINGS, cause_lines=_MOST_LINES):
        yield "whole causes"
    if review.changes:
        yield "changed fields"
    if review.head.models:
        yield from ("memory", "cold starts") if any(state.start for state in review.head.workloads) else ("memory",)
    yield "sources"


@dataclass(frozen=True, slots=True)
class _Models:
    """The table of models: those with a problem first, then the most expensive ones."""

    review: Review
    changes: tuple[ModelChange, ...]
    others: int

    @classmethod
    def of(cls, review: Review) -> "_Models":
        """Return the models to show: with a base, those that change; all if nothing does."""
        changes = [change for change in review.models if change.after or change.before]
        if review.base is not None and not review.base.absent and not review.changes_nothing:
            changes = [change for change in changes if _differs(change)]
        # Where all of them fit the screen, they keep their order.
        if len(changes) > _ROWS_WITH_ERRORS + 1:
            changes.sort(key=_urgency)
        return cls(review, tuple(changes), len(review.models) - len(changes))

    @property
    def most_rows(self) -> int:
        """Rows without ``--details``."""
        return _ROWS_WITH_ERRORS if self.review.head.is_refused else _MOST_ROWS

    @property
    def is_cut(self) -> bool:
        """Whether models are left out."""
        return len(self.changes) > self.most_rows + 1 or bool(self.others) or self.review.changes_nothing

    def table(self, screen: Screen, *, details: bool) -> Iterator[str]:
        """Yield the table, and what explains its figures."""
        changes = self.changes
        if details and self.others:
            changes = tuple(change for change in self.review.models if change.after or change.before)
        if not changes:
            return
        names = Counter(
            model.title.partition("/")[2]
            for change in self.review.models
            for model in (change.after or change.before,)
            if model
        )
        paid = has_costs(self.review)
        starts = _start_seconds(self.review)
        columns = [
            TableColumn("MODEL", shortens=True),
            TableColumn("FITS"),
            TableColumn("GPUS"),
            *([TableColumn("$/MONTH", right=True)] if paid else []),
            TableColumn("START"),
        ]
        rows = [self._row(change, names, starts, paid=paid) for change in changes]
        yield from screen.first_rows(columns, rows, "models", most=self.most_rows, details=details)
        if self.others and not details:
            yield from screen.text(
                f"{pluralize(self.others, 'model does', 'models do')} not change (--details)", "dim"
            )
        if any(row[1].text.startswith("~") for row in rows[: self.most_rows] if isinstance(row[1], Styled)):
            yield from screen.text("~: estimated from the model's name", "dim")
        for line in share_lines(self.review):
            yield from screen.text(line, "dim")

    def _row(
        self, change: ModelChange, names: Counter[str], starts: dict[tuple[str, str], str], *, paid: bool
    ) -> list[str | Styled]:
        model = change.after or change.before
        if model is None:  # neither before nor after: not among the changes
            return []
        name = model_name(model, names)
        if self.review.base is not None and not self.review.base.absent:
            name += _state(change)
        if change.unplanned:
            exceeded = change.after is not None and fit_of(change.after) is Fit.EXCEEDED
            fits = Styled("does not fit" if exceeded else NOT_PLANNED, "error")
            return [name, fits, "-", *(["-"] if paid else []), "-"]
        if change.after is None:
            return [name, "-", "-", *([_cost(change)] if paid else []), "-"]
        fit = fit_of(change.after)
        fits = Styled(_fits(change.after), _FIT_STYLES[fit] if fit else "")
        start = starts.get((model.namespace, model.title), "-")
        return [name, fits, _gpus(self.review, change.after), *([_cost(change)] if paid else []), start]


def _differs(change: ModelChange) -> bool:
    before, after = change.before, change.after
    if before is None or after is None or change.unplanned or change.speeds:
        return True
    if change.was_unplanned or before.title != after.title:
        return True
    figures = [(fit_of(model), model.accelerators, model.replicas, model.groups) for model in (before, after)]
    costs = [monthly(cost.usd_per_hour) if cost else None for cost in (change.cost_before, change.cost_after)]
    return figures[0] != figures[1] or costs[0] != costs[1]


def _urgency(change: ModelChange) -> tuple[int, float, str]:
    """Return the place of a model among many: what is wrong first, then what costs most."""
    model = change.after or change.before
    fit = fit_of(change.after) if change.after else None
    rank = 4
    if change.unplanned and fit is not Fit.EXCEEDED:
        rank = 1
    elif fit:
        rank = {Fit.EXCEEDED: 0, Fit.TIGHT: 2, Fit.UNKNOWN: 3}.get(fit, 4)
    cost = change.cost_after or change.cost_before
    amounts = cost.usd_per_hour if cost else None
    return rank, -float(amounts.now) if amounts else 0.0, model.title if model else ""


def _state(change: ModelChange) -> str:
    if change.unplanned or change.was_unplanned:
        return ""
    if change.before is None:
        return " (new)"
    return " (removed)" if change.after is None else ""


def _fits(model: ServedModel) -> str:
    """Return the memory that is left on its fullest GPU: ``3.2 GiB``."""
    fit, verdict = fit_of(model), worst_verdict(model)
    if fit is None:
        return "no GPU"
    return left_text(verdict) if verdict else fit_label(fit)


def _gpus(review: Review, model: ServedModel) -> str:
    """Return the number of GPUs and their type: ``2 A10G``, ``1-4 L4``."""
    now, least, most = model.accelerators
    if not most:
        return "-"
    number = str(now) if now == least == most else f"{now} ({least}-{most})"
    nodes = {group.name: group.node for group in review.head.groups}
    facts = [nodes[name] if name in nodes else instance(name) for name in model.groups]
    names = dict.fromkeys(fact.accelerator for fact in facts if fact and fact.accelerator)
    return " ".join([number, "/".join(names)]).strip()


def _cost(change: ModelChange) -> str:
    before, after = (monthly(cost.usd_per_hour) if cost else None for cost in (change.cost_before, change.cost_after))
    if change.after is None:
        return f"-{before.now:,.0f}" if before else "-"
    if after is None:
        return "unknown"
    difference = after.now - before.now if before and change.before else Decimal(0)
    return f"{after.now:,.0f}" + (f" ({difference:+,.0f})" if abs(difference) >= 1 else "")


def _start_seconds(review: Review) -> dict[tuple[str, str], str]:
    """Return the longest cold start of each model, on a new node."""
    longest: dict[tuple[str, str], tuple[int, str]] = {}
    for workload in review.head.workloads:
        if workload.start is None:
            continue
        total = workload.start.total
        seconds = total.seconds if total.seconds is not None else total.low
        key = workload.namespace, workload.served
        if seconds > longest.get(key, (-1, ""))[0]:
            longest[key] = seconds, short_text(total)
    return {key: words for key, (_, words) in longest.items()}


def _changes(review: Review, screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield what happens to running replicas, and what is replaced or deleted."""
    blasts = [*blast_lines(review)]
    restarting = [
        line
        for line, blast in zip(
            blasts, [blast for blast in review.blasts if blast.disruption is not Interruption.NONE], strict=True
        )
        if details or blast.disruption is not Interruption.NEW
    ]
    if restarting:
        columns = [
            TableColumn("WORKLOAD", shortens=True),
            TableColumn("EFFECT"),
            TableColumn("MISSING"),
            TableColumn("FOR"),
            TableColumn("CAUSE"),
        ]
        rows = [_blast_row(line) for line in restarting]
        yield from screen.first_rows(columns, rows, "workloads", most=_MOST_ROWS, details=details)
    for kind in (ChangeKind.REPLACED, ChangeKind.DELETED):
        titles = [change.title for change in review.changes if change.kind is kind]
        if titles:
            shown = titles if details else titles[:_MOST_FINDINGS]
            rest = len(titles) - len(shown)
            more = f" and {rest:,} more (--details)" if rest else ""
            yield from screen.text(f"{kind.value}: {', '.join(shown)}{more}", "warning", hanging=_INDENT)
    for upgrade in upgrade_lines(review):
        yield from screen.text(f"operator upgrade: {upgrade.title} (--details)", "warning", hanging=_INDENT)


def _blast_row(line: BlastLine) -> list[str | Styled]:
    workload = line.workload.partition(" ")[2] or line.workload
    duration = re.sub("^about ", "", line.duration)
    return [workload, line.effect, line.unavailable, duration, ", ".join(line.causes) or "-"]


def _traffic(review: Review, screen: Screen, *, details: bool) -> Iterator[str]:
    lines = [*traffic_lines(review)]
    if lines:
        yield from screen.text(f"{TRAFFIC_TITLE}: {traffic_summary(review)}", hanging=_INDENT)
        titles = ("MODEL", "REQUESTS", "LOST", "TTFT P99", "ITL P99")
        yield from _traffic_table(screen, titles, lines, (0, 1, 3, 5), details=details)
        if details:
            titles = ("MODEL", "TTFT P50", "ITL P50", "GPU-HOURS", "$/DAY")
            yield from _traffic_table(screen, titles, lines, (2, 4, 6, 7), details=True)
    for note in traffic_notes(review):
        yield from screen.text(note, "dim", hanging=_INDENT)


def _traffic_table(
    screen: Screen, titles: Sequence[str], lines: Sequence[TrafficLine], cells: Sequence[int], *, details: bool
) -> Iterator[str]:
    columns = [TableColumn(title, shortens=not place) for place, title in enumerate(titles)]
    rows = [[line.name, *(line.cells[place] for place in cells)] for line in lines]
    yield from screen.first_rows(columns, rows, "models", most=_MOST_ROWS, details=details)


def _details(review: Review, screen: Screen) -> Iterator[str]:
    """Yield everything that the answer leaves out."""
    yield from _fixed(review, screen)
    yield from _model_details(review, screen)
    yield from _starts(review, screen)
    yield from _resources(review, screen)
    yield from _changed_fields(review, screen)
    if notes := [*footnotes(review)]:
        yield from screen.heading("Sources and assumptions")
        for note in notes:
            yield from screen.text(note, hanging=_INDENT)
    yield ""


def _fixed(review: Review, screen: Screen) -> Iterator[str]:
    for group in finding_groups(review):
        if group.fixed:
            yield from screen.heading(f"{group.title} ({len(group.findings)})")
            for message in messages_of(group.findings):
                yield from screen.finding(replace(message, help=""))


def _model_details(review: Review, screen: Screen) -> Iterator[str]:
    lines = [line for line in model_lines(review) if line.is_planned]
    if not lines:
        return
    yield from screen.heading("Models")
    columns = [
        TableColumn("NAME", shortens=True),
        TableColumn("SERVES", shortens=True),
        TableColumn("NODES"),
        *([TableColumn("$/MONTH"), TableColumn("BOUNDS")] if has_costs(review) else []),
    ]
    rows = []
    for line in lines:
        now, least, most = line.monthly
        bounds = "" if least == now == most else f"{_amount(least.after)} to {_amount(most.after)}"
        costs = [str(now), bounds] if has_costs(review) else []
        rows.append([line.name, line.model, line.nodes or "-", *costs])
    yield from screen.table(columns, rows)
    for line in lines:
        for speed in line.speeds:
            yield from screen.text(f"{line.name}: {speed}", hanging=_INDENT)
    memory = [*memory_lines(review.head)]
    if memory:
        yield from screen.heading("Memory of the fullest GPU (estimated)")
    for terms in memory:
        words = [terms.verdict.reason, terms.requests, terms.types, *terms.verdict.notes]
        yield from screen.text(f"{terms.name}: {'; '.join(filter(None, words))}", hanging=_INDENT)


def _amount(value: Decimal | None) -> str:
    return "unknown" if value is None else whole_usd(value)


def _starts(review: Review, screen: Screen) -> Iterator[str]:
    lines = [*start_lines(review)]
    if not lines:
        return
    yield from screen.heading("Cold starts: on a new node, and on one that has the image")
    names = ("node", "image", "libraries", "weights", "engine", "probes")
    columns = [
        TableColumn("WORKLOAD", shortens=True),
        TableColumn("NEW NODE"),
        TableColumn("WARM NODE"),
        TableColumn("STEPS"),
    ]
    rows = [
        [
            line.workload.partition(" ")[2],
            line.total,
            line.warm,
            ", ".join(f"{name} {seconds}" for name, seconds in zip(names, line.steps, strict=True) if seconds != "-"),
        ]
        for line in lines
    ]
    yield from screen.table(columns, rows)
    savings: dict[str, list[str]] = {}
    for line in lines:
        if line.saving:
            savings.setdefault(line.saving, []).append(line.workload.partition(" ")[2])
    for saving, workloads in savings.items():
        yield from screen.text(f"{', '.join(workloads)}: {saving}", hanging=_INDENT)


def _resources(review: Review, screen: Screen) -> Iterator[str]:
    if kinds := kind_lines(review):
        yield from screen.heading("Resource changes")
        columns = [TableColumn("KIND"), *(TableColumn(kind.value.upper(), right=True) for kind in ChangeKind)]
        yield from screen.table(
            columns, [[kind.kind, *(str(count) if count else "" for count in kind.counts)] for kind in kinds]
        )
    notes = [(line.workload, note) for line in blast_lines(review) for note in line.notes]
    extra = [(line.workload, line.extra) for line in blast_lines(review) if line.extra != "-"]
    if notes or extra:
        yield from screen.heading("Running replicas")
        for workload, gpus in extra:
            yield from screen.text(f"{workload}: {gpus} more GPUs while it changes", hanging=_INDENT)
        for workload, note in notes:
            yield from screen.text(f"{workload}: {note}", hanging=_INDENT)
    for upgrade in upgrade_lines(review):
        yield from screen.heading(f"Upgrade of the operator: {upgrade.title}")
        for number, step in enumerate(upgrade.steps, 1):
            yield from screen.text(f"{number}. {step}", hanging=_INDENT)
        for note in upgrade.notes:
            yield from screen.text(note, hanging=_INDENT)
    if review.endpoints:
        yield from screen.heading("Endpoint changes")
        for change in review.endpoints:
            yield from screen.text(f"{change.name}: {change.before or '-'} → {change.after or '-'}", hanging=_INDENT)


def _changed_fields(review: Review, screen: Screen) -> Iterator[str]:
    if review.changes:
        yield from screen.heading("Changes by resource")
    for change in review.changes:
        yield from screen.text(f"{_SIGNS[change.kind]} {change.title}", hanging=_INDENT)
        if change.note:
            yield from screen.text(change.note, indent=_INDENT * 2)
        for field in change.fields[:_MOST_FIELDS]:
            before, after = ("(none)" if value is None else value for value in (field.before, field.after))
            yield from screen.text(f"{field.path}: {before} → {after}", indent=_INDENT * 2, hanging=_INDENT * 3)
        left = len(change.fields) - _MOST_FIELDS
        if left > 0:
            yield from screen.text(
                f"and {pluralize(left, 'more field')}; the other formats list all of them", indent=_INDENT * 2
            )
