"""The text output of a simulation: the result of each autoscaler, plots, and the passes that change something."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from toolkit.plotting.chart import chart, framed, is_plain
from toolkit.screen import MOST_COLUMNS, Screen, TableColumn, columns_of

if TYPE_CHECKING:
    from components.performance.simulation.result import Simulation
    from components.performance.simulation.runs import Measures, ScalingRun

_WIDTH = 100
"""Columns of a plot; wider ones show no more."""
_HEIGHT = 4
_MOST_ROWS = 5
"""Passes without details, so that the plots fit the screen."""
_MEASURES = ("replica-hours", "cost in USD", "seconds above target", "changes", "most replicas")
_CALENDAR = 10**12
"""Times from this one on (September 2001, in ms) are Unix times; smaller ones count from the start of the trace."""


def lines(result: "Simulation", screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield a result.

    Args:
        result: The simulation.
        screen: The screen.
        details: Whether to print every pass with all metrics, and the plots of all of them.
    """
    scenario, moments = result.trial.scenario, result.moments
    binding, policy = (source.title for source in scenario.sources)
    span = f"{len(moments)} passes from {_time(moments[0].time)} to {_time(moments[-1].time)}"
    defects = f", with {', '.join(result.trial.defects)}" if result.trial.defects else ""
    yield from screen.text(f"{binding} with {policy}{defects}: {span}", "bold", hanging="  ")
    if len(result.runs) == 1:
        yield from screen.text(f"{result.runs[0].scaler}: {_measured(result.measures[0])}", hanging="  ")
    else:
        yield from _comparison(result, screen)
    metrics = [*scenario.metrics.items()]
    for metric, target in metrics if details else metrics[:1]:
        loads = result.loads(metric)
        yield from screen.text(f"{metric}, {_number(target)} for each replica")
        yield from _plot(loads, max(loads), screen)
    most = max(measures.peak for measures in result.measures)
    for run in result.runs:
        yield from screen.text(f"replicas set by {run.scaler}")
        yield from _plot([step.total for step in run.passes], most, screen)
    hidden = ["every pass"]
    if details or len(result.runs) == 1:
        yield from _passes(result, screen, details=details)
    else:
        hidden = ["every pass with its replicas"]
    if not details:
        yield from screen.left_out([*hidden, *(["plots of all metrics"] if len(metrics) > 1 else [])])


def _plot(values: Sequence[Fraction | int], highest: Fraction | int, screen: Screen) -> Iterator[str]:
    plain, top = is_plain(), _number(highest)
    room = min(screen.width, _WIDTH) - len(top) - 2
    yield from framed(chart(values, room, _HEIGHT, top=highest, plain=plain), top, plain=plain)


def _passes(result: "Simulation", screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield a row for each pass whose replicas or notes differ from those of the pass before; with details, for all.

    Metrics for which it has no room have tables of their own.
    """
    runs = result.runs
    metrics = list(result.trial.scenario.metrics)
    # Half of the width is for the metrics, half for what follows from them.
    shown, *further = _groups(metrics, MOST_COLUMNS - 2 - len(runs), screen.width // 2)
    loads = {metric: result.loads(metric) for metric in metrics}
    rows: list[list[str]] = []
    before: object = None
    for index, moment in enumerate(result.moments):
        steps = [run.passes[index] for run in runs]
        state = [(step.replicas, step.note) for step in steps]
        if details or state != before:
            note = "; ".join(
                f"{run.scaler}: {step.note}" if len(runs) > 1 else step.note
                for run, step in zip(runs, steps, strict=True)
                if step.note
            )
            own = [_number(loads[metric][index]) for metric in shown]
            rows.append([_time(moment.time), *own, *(_replicas(run, index) for run in runs), note])
        before = state
    columns = [
        TableColumn("TIME", right=True),
        *(TableColumn(metric, right=True) for metric in shown),
        *(TableColumn(run.scaler) for run in runs),
        TableColumn("NOTE"),
    ]
    yield from screen.first_rows(columns, rows, "changes", most=_MOST_ROWS, details=details)
    for names in further if details else ():
        yield ""
        yield from screen.table(
            [TableColumn("TIME", right=True), *(TableColumn(name, right=True) for name in names)],
            [
                [_time(moment.time), *(_number(loads[name][index]) for name in names)]
                for index, moment in enumerate(result.moments)
            ],
        )


def _groups(metrics: Sequence[str], most: int, width: int) -> Iterator[list[str]]:
    """Yield metrics in groups of at most that many columns and that width; at least one in each."""
    group: list[str] = []
    for metric in metrics:
        if group and (len(group) == most or sum(columns_of(each) + 2 for each in (*group, metric)) > width):
            yield group
            group = []
        group.append(metric)
    yield group


def _replicas(run: "ScalingRun", index: int) -> str:
    """Return the replicas that a pass sets, of each target if there are several, and what it wanted before limits."""
    step = run.passes[index]
    several = ", ".join(f"{name} {number}" for name, number in step.replicas.items())
    text = several if len(step.replicas) > 1 else str(step.total)
    return text if step.wanted in (None, step.total) else f"{text} (wants {step.wanted})"


def _measured(measures: "Measures") -> str:
    """Return what a run cost and achieved, in words."""
    cost = "cost unknown" if measures.total_usd is None else f"${_amount(measures.total_usd)}"
    return (
        f"{_amount(measures.total_hours)} replica-hours, {cost}, {_amount(measures.above)} s above target, "
        f"{measures.changes} {'change' if measures.changes == 1 else 'changes'}, at most {measures.peak} replicas"
    )


def _comparison(result: "Simulation", screen: Screen) -> Iterator[str]:
    columns = [
        TableColumn(""),
        *(TableColumn(run.scaler, right=True) for run in result.runs),
        *([TableColumn("DIFFERENCE", right=True)] if result.difference else []),
    ]
    figures = [
        (measures.total_hours, measures.total_usd, measures.above, measures.changes, measures.peak)
        for measures in result.measures
    ]
    differences = list(result.difference.values())  # in the order of the titles
    rows = []
    for row, title in enumerate(_MEASURES):
        difference = [_amount(differences[row], signed=True)] if differences else []
        rows.append([title, *(_amount(column[row]) for column in figures), *difference])
    yield from screen.table(columns, rows)


def _amount(value: Decimal | float | None, *, signed: bool = False) -> str:
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
