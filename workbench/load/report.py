"""A load in words and tables, for a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.api.texts.printable import printable

from ..printing import counted
from .outcomes import Tally
from .summary import LoadSummary, Percentiles, spread

if TYPE_CHECKING:
    from rich.table import Table

_SECOND = 1000.0
_FEW = 0.01
"""Share of requests that may be late without a word: any machine pauses now and then."""
_RECENT = 10.0
"""Seconds that live figures look back."""


def show(found: LoadSummary, title: str) -> None:
    """Print what a load comes to."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(printable(title), soft_wrap=True)
    for line in sentences(found):
        console.print(printable(line), soft_wrap=True)
    console.print()
    console.print(_table(found))


def sentences(found: LoadSummary) -> Iterator[str]:
    """Yield what a load comes to, in sentences."""
    failed = found.requests - found.answered
    yield (
        f"{counted(found.requests, 'request')} in {found.seconds:.1f} s, at most {found.most_in_flight} at once: "
        f"{found.answered} answered, {failed} failed"
    )
    for error, count in found.errors.items():
        yield f"  {count} x {error}"
    asked = "" if found.input_tokens is None else f"{found.input_tokens} tokens in, "
    rates = f"{found.request_rate:.2f} answers/s, {found.token_rate:.1f} tokens/s"
    yield f"{asked}{found.output_tokens} tokens out; {rates}"
    if found.late > found.requests * _FEW:
        yield (
            f"{counted(found.late, 'request')} went out more than 100 ms late: this machine could not keep up, and "
            "the figures are partly its own; lower the rate, or run the command on a machine with more free cores"
        )


def _table(found: LoadSummary) -> "Table":
    from rich.table import Table

    table = Table("milliseconds", box=None)
    for name in ("mean", "p50", "p90", "p95", "p99", "max"):
        table.add_column(name, justify="right")
    for name, row in (("first token", found.ttft), ("between tokens", found.itl), ("whole answer", found.took)):
        table.add_row(name, *cells(row))
    return table


def cells(row: Percentiles) -> list[str]:
    """Return the milliseconds of a row, as text."""
    values = (row.mean, row.p50, row.p90, row.p95, row.p99, row.most)
    return ["-" if value is None else f"{value * _SECOND:.1f}" for value in values]


def live_line(seconds: float, tally: Tally) -> str:
    """Return how it goes: of the last ten seconds."""
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
        f"{sum(each.output_tokens for each in good) / length:.0f} tokens/s{first}, {counted(failed, 'error')}"
    )
