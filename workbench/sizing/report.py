"""The text output of ``workbench size``: the answer, the accelerators by cost, and with details their load."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from components.plan.costs.bill import HOURS_PER_MONTH
from toolkit.plotting.chart import chart, framed, is_plain
from toolkit.screen import Screen, Styled, TableColumn

from .curve import curve_of
from .inputs import plain_number

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment, Question

_WIDTH = 80
"""Columns of a plot; wider ones show no more."""
_HEIGHT = 6
_LABEL = 7
"""Width of the labels left of an axis."""
_ABOVE = 2.5
"""Upper end of the axis as a multiple of the target or the operating latency: latency diverges near capacity."""
_MOST_ROWS = 8
"""Accelerators without details."""
_MOST_REASONS = 3
"""Accelerators that miss the targets whose reasons are printed without details."""


def lines(assessments: "Sequence[Assessment]", title: str, screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield assessments, cheapest first.

    Args:
        assessments: The assessments.
        title: The model.
        screen: The screen.
        details: Whether to print the load of each accelerator, and plots of the latency.
    """
    first = assessments[0]
    yield from screen.text(f"{title}: {_answer(assessments)}", "bold", hanging="  ")
    yield from screen.text(_load(first.question), hanging="  ")
    if first.question.literal:
        yield from screen.text("Sized as upstream does, with its rounding and its choice of accelerator.")
    if any(assessment.ends for assessment in assessments):
        is_estimate = any(assessment.candidate.is_estimated for assessment in assessments)
        figures = "Estimates" if is_estimate else "Reference figures"
        yield from screen.text(f"{figures} with their uncertainty range; benchmark before relying on them.")
    for line in checked_lines(first):
        yield from screen.text(line, hanging="  ")
    columns = [
        TableColumn("ACCELERATOR", shortens=True),
        TableColumn("REPLICAS"),
        TableColumn("ITL MS", right=True),
        TableColumn(f"{first_token_title(assessments).upper()} MS", right=True),
        TableColumn("$/MONTH"),
    ]
    rows = [_row(assessment) for assessment in assessments]
    yield from screen.first_rows(columns, rows, "accelerators", most=_MOST_ROWS, details=details)
    infeasible = [assessment for assessment in assessments if not assessment.sized.is_feasible]
    for assessment in infeasible if details else infeasible[:_MOST_REASONS]:
        yield from screen.text(f"{assessment.candidate.profile.title}: {assessment.sized.reason}", hanging="  ")
    if whole := first.whole_instances:
        yield from screen.text(
            f"{first.candidate.profile.title}: prices are the share of the accelerators in use; whole instances, "
            f"{whole.count} x {whole.instance_type}, cost ${whole.usd_per_hour * HOURS_PER_MONTH:,.0f} a month",
            hanging="  ",
        )
    if details:
        yield from _loads(assessments, screen)
        yield from _plots(first, screen)
    else:
        reasons = ["all reasons"] if len(infeasible) > _MOST_REASONS else []
        yield from screen.left_out([*reasons, "load of a replica", "price of 1M tokens", "plots of the latency"])


def _answer(assessments: "Sequence[Assessment]") -> str:
    """Return the replicas of the chosen accelerator, and what they cost."""
    feasible = [assessment for assessment in assessments if assessment.sized.is_feasible]
    if not feasible:
        return "no accelerator meets the target" if len(assessments) > 1 else "does not meet the target"
    best = next((assessment for assessment in feasible if assessment.chosen), feasible[0])
    sized, profile, month = best.sized, best.candidate.profile, best.usd_per_month
    replicas = f"{sized.replicas} {'replica' if sized.replicas == 1 else 'replicas'}"
    price = f"${month:,.0f} a month" if month is not None else "price unknown"
    return f"{replicas} on {profile.title}, {price}"


def _load(question: "Question") -> str:
    load, targets = question.load, question.targets
    slo = [
        *([f"ITL {targets.itl_ms} ms"] if targets.itl_ms else []),
        *([f"TTFT {targets.ttft_ms} ms (95 %)"] if targets.ttft_ms else []),
    ]
    prompts = f"{plain_number(load.input_tokens)} tokens in and " if load.input_tokens else ""
    prefill = f", of which prefill takes {question.prefill_ms} ms" if question.prefill_ms else ""
    sent = f"{plain_number(load.per_minute)} requests/min"
    if loop := question.loop:
        pause = f" who think {loop.think_s:g} s" if loop.think_s else " without a pause"
        sent = f"{loop.users:,} {'user' if loop.users == 1 else 'users'}{pause}"
    summary = f"{sent}, {prompts}{plain_number(load.output_tokens)} tokens out"
    return f"{summary}; target: {', '.join(slo) or 'none'}{prefill}"


def checked_lines(assessment: "Assessment") -> Iterator[str]:
    """Yield what the simulation says of the answer for users, and the load that breaks it."""
    sized, targets = assessment.sized, assessment.question.targets
    loop, checked = assessment.question.loop, assessment.checked
    if loop is None or not sized.is_feasible:
        return
    replicas = f"{sized.replicas} {'replica' if sized.replicas == 1 else 'replicas'}"
    if checked is None:
        yield f"By the queueing model alone: a simulation of {loop.users:,} users would take too long."
        return
    run, fewer = checked.played, checked.fewer
    yield (
        f"Simulated, {run.requests:,} requests: {replicas}: ITL {run.itl_ms:.1f} ms, TTFT {run.ttft_p95_ms:,.0f} ms "
        "(95 %); the targets hold"
    )
    yield f"One replica fewer: {fewer.breaks(targets)}" if fewer else "One replica is the least."
    if checked.most and checked.broken:
        yield (
            f"These replicas serve up to {checked.most.users:,} such users; with {checked.broken.users:,}: "
            f"{checked.broken.breaks(targets)}"
        )
    if checked.queueing != checked.replicas:
        found = "none" if checked.queueing is None else f"{checked.queueing:,}"
        yield f"The queueing model finds {found}; the simulation decides."


def first_token_title(assessments: "Sequence[Assessment]") -> str:
    """Return the title of the latency column; without prefill times it is only the queueing time."""
    if all(assessment.has_prefill for assessment in assessments):
        return "TTFT"
    return "TTFT or queueing" if any(assessment.has_prefill for assessment in assessments) else "queueing"


def _row(assessment: "Assessment") -> list[str | Styled]:
    profile, sized, behavior = assessment.candidate.profile, assessment.sized, assessment.sized.behaviour
    replicas = _range(
        str(replica.replicas) if replica.is_feasible else "none"
        for replica in (sized, *(assessment.ends or (sized, sized)))
    )
    style = "" if sized.is_feasible else "error"
    return [
        profile.title,
        Styled(replicas, "good" if assessment.chosen else style),
        f"{behavior.itl_ms:.2f}" if behavior else "-",
        "-" if assessment.first_p95_ms is None else f"{assessment.first_p95_ms:.1f}",
        _range(
            "-" if usd is None else f"{usd:,.0f}"
            for usd in (assessment.usd_per_month, *assessment.usd_per_month_ends)
        ),
    ]


def _loads(assessments: "Sequence[Assessment]", screen: Screen) -> Iterator[str]:
    """Yield the load of a replica, what limits it, and the price of tokens."""
    yield from screen.heading("Load of one replica, in requests a minute")
    columns = [
        TableColumn("ACCELERATOR", shortens=True),
        *(TableColumn(title, right=True) for title in ("LOAD", "AT MOST")),
        TableColumn("LIMIT"),
        TableColumn("UTILISATION", right=True),
    ]
    yield from screen.table(columns, [[*_loaded(assessment)] for assessment in assessments])
    yield from screen.heading("Requests at once, and the price of a million output tokens")
    columns = [
        TableColumn("ACCELERATOR", shortens=True),
        TableColumn("MEETS TARGET"),
        TableColumn("AT ONCE", right=True),
        TableColumn("$/1M TOKENS", right=True),
    ]
    yield from screen.table(columns, [[*_served(assessment)] for assessment in assessments])


def _loaded(assessment: "Assessment") -> Iterator[str]:
    sized, behavior = assessment.sized, assessment.sized.behaviour
    yield assessment.candidate.profile.title
    yield _number(behavior.per_minute if behavior else None)
    yield _number(sized.most_per_minute if behavior else None)
    yield sized.limit.value if behavior else "-"
    yield f"{behavior.utilisation:.1%}" if behavior else "-"


def _served(assessment: "Assessment") -> Iterator[str]:
    sized, behavior = assessment.sized, assessment.sized.behaviour
    yield assessment.candidate.profile.title
    if assessment.chosen:
        yield "chosen" if assessment.question.literal else "cheapest"
    else:
        yield "yes" if sized.is_feasible else "no"
    yield f"{behavior.in_service:.1f} of {assessment.candidate.profile.batch}" if behavior else "-"
    per_million = assessment.usd_per_million_tokens
    yield "-" if per_million is None else f"{per_million:,.2f}"


def _range(values: Iterable[str]) -> str:
    """Format an estimate, and its range if it is uncertain."""
    estimate, low, high = values
    return f"{estimate} ({low}..{high})" if (low, high) != (estimate, estimate) else estimate


def _plots(assessment: "Assessment", screen: Screen) -> Iterator[str]:
    targets, behavior = assessment.question.targets, assessment.sized.behaviour
    room = min(screen.width, _WIDTH) - _LABEL - 2
    curve = curve_of(assessment.sized, assessment.question.prefill_ms, room)
    if curve is None:
        return
    name = assessment.candidate.profile.title
    yield from screen.heading(_title(f"{name}: ITL in ms", targets.itl_ms))
    yield from _plot(curve.itl_ms, targets.itl_ms, behavior.itl_ms if behavior else 0, room)
    yield from _axis(assessment, room)
    title = f"{name}: {first_token_title([assessment])} in ms, 95 %"
    yield from screen.heading(_title(title, targets.ttft_ms))
    yield from _plot(curve.ttft_p95_ms, targets.ttft_ms, assessment.first_p95_ms or 0, room)
    yield from _axis(assessment, room)
    sized = assessment.sized
    now = f"{_number(behavior.per_minute)} now, at most {_number(sized.most_per_minute)}, " if behavior else ""
    legend = f"requests/min of one replica: {now}up to {_number(sized.capacity_per_minute)}"
    yield from screen.text(legend, indent=" " * (_LABEL + 2))


def _title(name: str, target: int) -> str:
    return f"{name}; the line is the target, {target}" if target else name


def _plot(values: Sequence[float], target: int, operating: float, room: int) -> Iterator[str]:
    """Yield a chart with a line at the target."""
    limit = max(target, operating) * _ABOVE
    top = max(min(max(values), limit) if limit else max(values), target)
    plain = is_plain()
    columns = [Fraction(min(value, top)) for value in values]
    lines = chart(columns, room, _HEIGHT, top=Fraction(top), plain=plain)
    if target:
        row = _HEIGHT - max(-int(-target * _HEIGHT // top), 1)
        lines[row] = lines[row].ljust(room).replace(" ", "-" if plain else "─")
    yield from framed(lines, f"{_number(top):>{_LABEL}}", plain=plain)


def _axis(assessment: "Assessment", room: int) -> Iterator[str]:
    """Yield the load axis, with a mark at the operating point."""
    plain, behavior = is_plain(), assessment.sized.behaviour
    marks = ["-" if plain else "─"] * room
    if behavior:
        share = behavior.per_minute / assessment.sized.capacity_per_minute
        marks[min(max(round(share * room) - 1, 0), room - 1)] = "^" if plain else "▲"
    yield " " * _LABEL + (" +" if plain else " └") + "".join(marks)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}" if value < 10_000 else f"{value:.0f}"
