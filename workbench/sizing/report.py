"""The table output of ``workbench size``, with a plot of latency against load for the first accelerator."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from components.contract.texts.printable import printable
from toolkit.plotting.chart import chart, framed, is_plain

from .curve import curve_of
from .inputs import plain_number

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment, Question

_WIDTH = 80
_HEIGHT = 6
_LABEL = 7
"""Width of the labels left of an axis."""
_ABOVE = 2.5
"""Upper end of the axis as a multiple of the target or the operating latency: latency diverges near capacity."""
_COLUMNS = (
    "accelerator",
    "feasible",
    "replicas",
    "each/min",
    "at most",
    "limit",
    "utilisation",
    "at once",
    "ITL ms",
    "",
    "USD/month",
    "USD/1M tokens",
)
"""The empty title is TTFT or queueing."""


def show(assessments: "Sequence[Assessment]", title: str) -> None:
    """Print assessments, cheapest first."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 240
    console.print(printable(title), soft_wrap=True)
    console.print(_load(assessments[0].question), soft_wrap=True)
    if assessments[0].question.literal:
        console.print("Sized as upstream does, with its rounding and its choice of accelerator.")
    if any(assessment.ends for assessment in assessments):
        is_estimate = any(assessment.candidate.is_estimated for assessment in assessments)
        figures = "Estimates" if is_estimate else "Reference figures"
        console.print(f"{figures} with their uncertainty range; benchmark before relying on them.")
    console.print()
    for line in checked_lines(assessments[0]):
        console.print(printable(line), soft_wrap=True)
    latency = f"{first_token_title(assessments)} ms"
    table = Table(*(title or latency for title in _COLUMNS), box=None)
    for assessment in assessments:
        table.add_row(*map(printable, _cells(assessment)))
    console.print(table)
    for assessment in assessments:
        if not assessment.sized.is_feasible:
            reason = f"{assessment.candidate.profile.title}: {assessment.sized.reason}"
            console.print(printable(reason), soft_wrap=True)
    if whole := assessments[0].whole_instances:
        console.print(
            f"{assessments[0].candidate.profile.title}: prices are the share of the accelerators in use; whole "
            f"instances, {whole.count} x {whole.instance_type}, cost {whole.usd_per_hour:,.2f} USD/hour",
            soft_wrap=True,
        )
    for line in _plots(assessments[0], min(console.width, _WIDTH)):
        console.print(line, soft_wrap=True)


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
    """Yield the answer for users: replicas, accelerators, price, and the load that breaks it, as simulated."""
    sized, profile, targets = assessment.sized, assessment.candidate.profile, assessment.question.targets
    loop, checked = assessment.question.loop, assessment.checked
    if loop is None or not sized.is_feasible:
        return
    replicas = f"{sized.replicas} {'replica' if sized.replicas == 1 else 'replicas'}"
    cents, month = assessment.cents_per_hour, assessment.usd_per_month
    price = f"{cents / 100:,.2f} USD/hour, {month:,.0f} USD/month" if cents is not None and month else "price unknown"
    accelerators = f"{sized.accelerators} {'accelerator' if sized.accelerators == 1 else 'accelerators'}"
    yield f"{replicas} on {profile.title}: {accelerators}, {price}"
    if checked is None:
        yield f"By the queueing model alone: a simulation of {loop.users:,} users would take too long."
        yield ""
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
    yield ""


def first_token_title(assessments: "Sequence[Assessment]") -> str:
    """Return the title of the latency column; without prefill times it is only the queueing time."""
    if all(assessment.has_prefill for assessment in assessments):
        return "TTFT"
    return "TTFT or queueing" if any(assessment.has_prefill for assessment in assessments) else "queueing"


def _cells(assessment: "Assessment") -> Iterator[str]:
    profile, sized, behavior = assessment.candidate.profile, assessment.sized, assessment.sized.behaviour
    per_million = assessment.usd_per_million_tokens
    yield profile.title
    if assessment.chosen:
        yield "chosen" if assessment.question.literal else "cheapest"
    else:
        yield "yes" if sized.is_feasible else "no"
    yield _range(
        str(replica.replicas) if replica.is_feasible else "none"
        for replica in (sized, *(assessment.ends or (sized, sized)))
    )
    yield _number(behavior.per_minute if behavior else None)
    yield _number(sized.most_per_minute if behavior else None)
    yield sized.limit.value if behavior else "-"
    yield f"{behavior.utilisation:.1%}" if behavior else "-"
    yield f"{behavior.in_service:.1f} of {profile.batch}" if behavior else "-"
    yield f"{behavior.itl_ms:.2f}" if behavior else "-"
    yield "-" if assessment.first_p95_ms is None else f"{assessment.first_p95_ms:.1f}"
    yield _range(
        "-" if usd is None else f"{usd:,.0f}" for usd in (assessment.usd_per_month, *assessment.usd_per_month_ends)
    )
    yield "-" if per_million is None else f"{per_million:,.2f}"


def _range(values: Iterable[str]) -> str:
    """Format an estimate, and its range if it is uncertain."""
    estimate, low, high = values
    return f"{estimate} ({low}..{high})" if (low, high) != (estimate, estimate) else estimate


def _plots(assessment: "Assessment", width: int) -> Iterator[str]:
    targets, behavior = assessment.question.targets, assessment.sized.behaviour
    room = width - _LABEL - 2
    curve = curve_of(assessment.sized, assessment.question.prefill_ms, room)
    if curve is None:
        return
    name = printable(assessment.candidate.profile.title)
    yield ""
    yield from _plot(f"{name}: ITL in ms", curve.itl_ms, targets.itl_ms, behavior.itl_ms if behavior else 0, room)
    yield from _axis(assessment, room)
    yield ""
    title = f"{name}: {first_token_title([assessment])} in ms, 95 %"
    yield from _plot(title, curve.ttft_p95_ms, targets.ttft_ms, assessment.first_p95_ms or 0, room)
    yield from _axis(assessment, room)
    sized = assessment.sized
    now = f"{_number(behavior.per_minute)} now, at most {_number(sized.most_per_minute)}, " if behavior else ""
    yield f"{'':{_LABEL}}  requests/min of one replica: {now}up to {_number(sized.capacity_per_minute)}"


def _plot(title: str, values: Sequence[float], target: int, operating: float, room: int) -> Iterator[str]:
    """Yield a chart with a line at the target."""
    limit = max(target, operating) * _ABOVE
    top = max(min(max(values), limit) if limit else max(values), target)
    plain = is_plain()
    columns = [Fraction(min(value, top)) for value in values]
    lines = chart(columns, room, _HEIGHT, top=Fraction(top), plain=plain)
    if target:
        row = _HEIGHT - max(-int(-target * _HEIGHT // top), 1)
        lines[row] = lines[row].ljust(room).replace(" ", "-" if plain else "─")
    yield title + (f"; the line is the target, {target}" if target else "")
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
