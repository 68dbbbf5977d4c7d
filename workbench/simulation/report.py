"""The table output of a simulation: plots, the passes that change something, and totals."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from components.contract.texts.printable import printable
from toolkit.plotting.chart import chart, framed, is_plain

if TYPE_CHECKING:
    from rich.table import Table

    from components.performance.simulation.result import Simulation

_WIDTH = 100
_HEIGHT = 4
_CALENDAR = 10**12
"""Times from this one on (September 2001, in ms) are Unix times; smaller ones count from the start of the trace."""


def show(result: "Simulation", *, show_all: bool) -> None:
    """Print a result."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 240
    for line in _summary(result, min(console.width, _WIDTH)):
        console.print(printable(line), soft_wrap=True)
    console.print(_passes(result, show_all=show_all))
    console.print()
    console.print(_measures(result))


def _summary(result: "Simulation", width: int) -> Iterator[str]:
    scenario, moments = result.trial.scenario, result.moments
    binding, policy = (source.title for source in scenario.sources)
    span = f"{len(moments)} passes from {_time(moments[0].time)} to {_time(moments[-1].time)}"
    defects = f", with {', '.join(result.trial.defects)}" if result.trial.defects else ""
    yield f"{binding} with {policy}{defects}: {span}"
    for metric, target in scenario.metrics.items():
        loads = result.loads(metric)
        yield from _plot(f"{metric}, {_number(target)} for each replica", loads, max(loads), width)
    most = max(measures.peak for measures in result.measures)
    for run in result.runs:
        yield from _plot(f"replicas set by {run.scaler}", [step.total for step in run.passes], most, width)
    yield ""


def _plot(title: str, values: Sequence[Fraction | int], highest: Fraction | int, width: int) -> Iterator[str]:
    plain, top = is_plain(), _number(highest)
    yield ""
    yield title
    yield from framed(chart(values, width - len(top) - 2, _HEIGHT, top=highest, plain=plain), top, plain=plain)


def _passes(result: "Simulation", *, show_all: bool) -> "Table":
    """Return a row for each pass whose replicas or notes differ from those of the pass before."""
    from rich.table import Table

    metrics, targets = result.trial.scenario.metrics, result.trial.scenario.targets
    several = len(targets) > 1
    runs = [f"{run.scaler} {target.name}" if several else run.scaler for run in result.runs for target in targets]
    columns = map(printable, (*metrics, *(f"{run.scaler} wanted" for run in result.runs), *runs))
    table = Table("time", *columns, "note", box=None)
    before: object = None
    loads = {metric: result.loads(metric) for metric in metrics}
    for index, moment in enumerate(result.moments):
        passes = [run.passes[index] for run in result.runs]
        replicas = [step.replicas[target.name] for step in passes for target in targets]
        notes = [step.note for step in passes]
        if show_all or (replicas, notes) != before:
            table.add_row(
                _time(moment.time),
                *(_number(loads[metric][index]) for metric in metrics),
                *("-" if step.wanted is None else str(step.wanted) for step in passes),
                *map(str, replicas),
                printable(
                    "; ".join(
                        f"{run.scaler}: {note}" if len(notes) > 1 else note
                        for run, note in zip(result.runs, notes, strict=True)
                        if note
                    )
                ),
            )
        before = (replicas, notes)
    return table


def _measures(result: "Simulation") -> "Table":
    from rich.table import Table

    table = Table("", *(run.scaler for run in result.runs), *(["difference"] if result.difference else []), box=None)
    titles = ("replica-hours", "cost in USD", "seconds above target", "changes", "most replicas")
    columns = [
        (measures.total_hours, measures.total_usd, measures.above, measures.changes, measures.peak)
        for measures in result.measures
    ]
    differences = list(result.difference.values())  # in the order of the titles
    for row, title in enumerate(titles):
        difference = [_cell(differences[row], signed=True)] if differences else []
        table.add_row(title, *(_cell(column[row]) for column in columns), *difference)
    return table


def _cell(value: Decimal | float | None, *, signed: bool = False) -> str:
    if value is None:
        return "unknown"
    rounded = round(Decimal(str(value)), 3)
    text = f"{rounded:f}".rstrip("0").rstrip(".") if "." in f"{rounded:f}" else f"{rounded:f}"
    return f"+{text}" if signed and rounded > 0 else text


def _number(value: Fraction | int) -> str:
    return f"{float(value):.6g}"


def _time(time: int) -> str:
    if time < _CALENDAR:
        return f"{time / 1000:.12g} s"
    return datetime.fromtimestamp(time / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
