"""Results of a load as text and tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from components.contract.texts.printable import printable
from toolkit.printing import pluralize

from .fleet.report import fleet_rows, fleet_sentences
from .fleet.summary import FleetSummary
from .outcomes import Tally
from .summary import LoadSummary, Percentiles, spread

if TYPE_CHECKING:
    from rich.table import Table

_SECOND = 1000.0
"""Milliseconds per second."""
_LATE_SHARE = 0.01
"""Share of late requests that is not reported: any machine pauses now and then."""
_MARK = "*"
_MAX_OVERHEAD = 0.1
"""Share of overhead of this machine above which a time is marked."""
_WINDOW = 10.0
"""Window of the live figures in seconds."""


def show(summary: LoadSummary, fleet: FleetSummary | None, title: str) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(printable(title), soft_wrap=True)
    speed = fleet.speed if fleet else 1
    for line in [*sentences(summary), *(fleet_sentences(fleet) if fleet else ()), *machine_sentences(summary, speed)]:
        console.print(printable(line), soft_wrap=True)
    console.print()
    columns = ("milliseconds", "mean", "p50", "p90", "p95", "p99", "max")
    console.print(_table(columns, latency_rows(summary, speed)))
    if fleet and fleet.points:
        console.print()
        console.print(_table(("simulated fleet", "min", "max"), fleet_rows(fleet)))


def sentences(summary: LoadSummary) -> Iterator[str]:
    """Yield the results as sentences."""
    failed = summary.requests - summary.answered
    yield (
        f"{pluralize(summary.requests, 'request')} in {summary.seconds:.1f} s, "
        f"at most {summary.most_in_flight} at once: {summary.answered} answered, {failed} failed"
    )
    for error, count in summary.errors.items():
        yield f"  {count} x {error}"
    input_tokens = "" if summary.input_tokens is None else f"{summary.input_tokens} tokens in, "
    rates = f"{summary.request_rate:.2f} answers/s, {summary.token_rate:.1f} tokens/s"
    yield f"{input_tokens}{summary.output_tokens} tokens out; {rates}"
    if summary.late > summary.requests * _LATE_SHARE:
        yield (
            f"sent more than 100 ms late: {summary.late} of {pluralize(summary.requests, 'request')}. This machine "
            "is too busy, which distorts the results; lower the rate, or use a machine with more free cores"
        )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
    from rich.table import Table

    table = Table(columns[0], box=None)
    for name in columns[1:]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def latency_rows(summary: LoadSummary, speed: float | None) -> Iterator[list[str]]:
    """Yield the rows of the table of times.

    If answers are faster than real time, further rows convert them to real time. For simulated engines, the engine's
    own times follow, with the share of the clients' times that is overhead of this machine. Converted times with too
    much overhead are marked.

    Args:
        summary: Results of a load.
        speed: How much faster than real time answers were; None if it changed.
    """
    rows = _times(summary)
    for name, (row, _) in rows.items():
        yield [name, *_cells(row, 1)]
    if speed not in (1, None):
        for name, (row, own) in rows.items():
            mark = f" {_MARK}" if _has_overhead(row, own, speed) else ""
            yield [f"{name}, in real time (x {speed:g}){mark}", *_cells(row, speed)]
    for name, (row, own) in rows.items():
        if own is not None:
            yield [f"{name}, by the engine's clock", *_cells(own, 1)]
            if speed is not None:
                yield [f"{name}, share of this machine, %", *_overhead_cells(row, own, speed)]


def machine_sentences(summary: LoadSummary, speed: float | None) -> Iterator[str]:
    """Yield a warning about times that are dominated by this machine's overhead, if any.

    Args:
        summary: Results of a load.
        speed: How much faster than real time answers were; None if it changed.
    """
    if speed is None:
        return
    marked = [name for name, (row, own) in _times(summary).items() if _has_overhead(row, own, speed)]
    if marked:
        mark = f"{_MARK} " if speed != 1 else ""
        yield (
            f"{mark}more than a tenth of these times is overhead of this machine: {', '.join(marked)}. Use the rows "
            "by the engine's clock instead, or lower the speed of answers (workbench live speed)"
        )


def _times(summary: LoadSummary) -> dict[str, tuple[Percentiles, Percentiles | None]]:
    """Return the clients' and the engines' times by title."""
    own = summary.engine
    return {
        "first token": (summary.ttft, own.ttft if own else None),
        "between tokens": (summary.itl, own.itl if own else None),
        "whole answer": (summary.took, own.took if own else None),
    }


def _has_overhead(row: Percentiles, own: Percentiles | None, speed: float | None) -> bool:
    """Tell whether this machine's overhead exceeds its allowed share of a time."""
    if own is None or speed is None or row.mean is None or own.mean is None:
        return False
    return row.mean * speed > 0 and 1 - own.mean / (row.mean * speed) > _MAX_OVERHEAD


def _values(row: Percentiles) -> tuple[float | None, ...]:
    return (row.mean, row.p50, row.p90, row.p95, row.p99, row.most)


def _overhead_cells(row: Percentiles, own: Percentiles, speed: float) -> list[str]:
    """Return the overhead of this machine in percent of the clients' times."""
    return [
        f"{max(1 - own_time / (measured * speed), 0.0) * 100:.0f}" if measured and own_time is not None else "-"
        for measured, own_time in zip(_values(row), _values(own), strict=True)
    ]


def _cells(row: Percentiles, factor: float) -> list[str]:
    return ["-" if value is None else f"{value * factor * _SECOND:.1f}" for value in _values(row)]


def live_line(seconds: float, tally: Tally) -> str:
    """Return the figures of the last ten seconds in one line."""
    since = max(seconds - _WINDOW, 0.0)
    recent = []
    for outcome in reversed(tally.outcomes):  # in the order of their ends
        if outcome.ended < since:
            break
        recent.append(outcome)
    answered = [outcome for outcome in recent if not outcome.error]
    length = max(min(seconds, _WINDOW), 0.001)
    ttft = spread(outcome.ttft for outcome in answered if outcome.ttft is not None)
    first = ""
    if ttft.p50 is not None and ttft.p95 is not None:
        first = f", first token {ttft.p50 * _SECOND:.0f} ms (p95 {ttft.p95 * _SECOND:.0f})"
    failed = sum(tally.errors.values())
    tokens = sum(outcome.output_tokens for outcome in answered)
    return (
        f"{seconds:5.0f} s: {len(answered) / length:.1f} answers/s, {tally.in_flight} in flight, "
        f"{tokens / length:.0f} tokens/s{first}, {pluralize(failed, 'error')}"
    )
