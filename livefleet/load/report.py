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
_FEW = 0.01
"""Share of late requests that is not reported: any machine pauses now and then."""
_MARK = "*"
_TOO_MUCH = 0.1
"""Share of overhead of this machine above which a time is marked."""
_RECENT = 10.0
"""Window of the live figures in seconds."""


def show(found: LoadSummary, fleet: FleetSummary | None, title: str) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(printable(title), soft_wrap=True)
    speed = fleet.speed if fleet else 1
    for line in [*sentences(found), *(fleet_sentences(fleet) if fleet else ()), *machine_sentences(found, speed)]:
        console.print(printable(line), soft_wrap=True)
    console.print()
    columns = ("milliseconds", "mean", "p50", "p90", "p95", "p99", "max")
    console.print(_table(columns, latency_rows(found, speed)))
    if fleet and fleet.points:
        console.print()
        console.print(_table(("simulated fleet", "min", "max"), fleet_rows(fleet)))


def sentences(found: LoadSummary) -> Iterator[str]:
    """Yield the results as sentences."""
    failed = found.requests - found.answered
    yield (
        f"{pluralize(found.requests, 'request')} in {found.seconds:.1f} s, at most {found.most_in_flight} at once: "
        f"{found.answered} answered, {failed} failed"
    )
    for error, count in found.errors.items():
        yield f"  {count} x {error}"
    asked = "" if found.input_tokens is None else f"{found.input_tokens} tokens in, "
    rates = f"{found.request_rate:.2f} answers/s, {found.token_rate:.1f} tokens/s"
    yield f"{asked}{found.output_tokens} tokens out; {rates}"
    if found.late > found.requests * _FEW:
        yield (
            f"{pluralize(found.late, 'request')} went out more than 100 ms late: this machine could not keep up, and "
            "the figures are partly its own; lower the rate, or run the command on a machine with more free cores"
        )


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
    from rich.table import Table

    table = Table(columns[0], box=None)
    for name in columns[1:]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def latency_rows(found: LoadSummary, speed: float | None) -> Iterator[list[str]]:
    """Yield the rows of the table of times.

    If answers are faster than real time, further rows convert them to real time. For simulated engines, the engine's
    own times follow, with the share of the clients' times that is overhead of this machine. Converted times with too
    much overhead are marked.

    Args:
        found: Results of a load.
        speed: How much faster than real time answers were; None if it changed.
    """
    rows = _times(found)
    for name, (row, _) in rows.items():
        yield [name, *_cells(row, 1)]
    if speed not in (1, None):
        for name, (row, own) in rows.items():
            mark = f" {_MARK}" if _is_machines(row, own, speed) else ""
            yield [f"{name}, in life (x {speed:g}){mark}", *_cells(row, speed)]
    for name, (row, own) in rows.items():
        if own is not None:
            yield [f"{name}, by the engine's clock", *_cells(own, 1)]
            if speed is not None:
                yield [f"{name}, share of this machine, %", *_shares(row, own, speed)]


def machine_sentences(found: LoadSummary, speed: float | None) -> Iterator[str]:
    """Yield a warning about times that are dominated by this machine's overhead, if any.

    Args:
        found: Results of a load.
        speed: How much faster than real time answers were; None if it changed.
    """
    if speed is None:
        return
    marked = [name for name, (row, own) in _times(found).items() if _is_machines(row, own, speed)]
    if marked:
        mark = f"{_MARK} " if speed != 1 else ""
        yield (
            f"{mark}more than a tenth of these times is what this machine takes, and not the engine: "
            f"{', '.join(marked)}. The engine's own times are in the rows by its clock; slow answers down "
            "(workbench speed) to have clients see them"
        )


def _times(found: LoadSummary) -> dict[str, tuple[Percentiles, Percentiles | None]]:
    """Return the clients' and the engines' times by title."""
    own = found.engine
    return {
        "first token": (found.ttft, own.ttft if own else None),
        "between tokens": (found.itl, own.itl if own else None),
        "whole answer": (found.took, own.took if own else None),
    }


def _is_machines(row: Percentiles, own: Percentiles | None, speed: float | None) -> bool:
    """Tell whether this machine's overhead exceeds its allowed share of a time."""
    if own is None or speed is None or row.mean is None or own.mean is None:
        return False
    return row.mean * speed > 0 and 1 - own.mean / (row.mean * speed) > _TOO_MUCH


def _values(row: Percentiles) -> tuple[float | None, ...]:
    return (row.mean, row.p50, row.p90, row.p95, row.p99, row.most)


def _shares(row: Percentiles, own: Percentiles, speed: float) -> list[str]:
    """Return the overhead of this machine in percent of the clients' times."""
    cells = []
    for measured, own_time in zip(_values(row), _values(own), strict=True):
        if not measured or own_time is None:
            cells.append("-")
        else:
            cells.append(f"{max(1 - own_time / (measured * speed), 0.0) * 100:.0f}")
    return cells


def _cells(row: Percentiles, factor: float) -> list[str]:
    return ["-" if value is None else f"{value * factor * _SECOND:.1f}" for value in _values(row)]


def live_line(seconds: float, tally: Tally) -> str:
    """Return the figures of the last ten seconds in one line."""
    since = max(seconds - _RECENT, 0.0)
    recent = []
    for each in reversed(tally.outcomes):  # in the order of their ends
        if each.ended < since:
            break
        recent.append(each)
    good = [each for each in recent if not each.error]
    length = max(min(seconds, _RECENT), 0.001)
    ttft = spread(each.ttft for each in good if each.ttft is not None)
    first = (
        ""
        if ttft.p50 is None or ttft.p95 is None
        else (f", first token {ttft.p50 * _SECOND:.0f} ms (p95 {ttft.p95 * _SECOND:.0f})")
    )
    failed = sum(tally.errors.values())
    return (
        f"{seconds:5.0f} s: {len(good) / length:.1f} answers/s, {tally.in_flight} in flight, "
        f"{sum(each.output_tokens for each in good) / length:.0f} tokens/s{first}, {pluralize(failed, 'error')}"
    )
