"""Table and plot of a fleet in virtual time."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from components.contract.texts.printable import printable
from toolkit.plotting.chart import chart, framed, is_plain
from toolkit.plotting.pictures import finish, picture

if TYPE_CHECKING:
    from rich.table import Table

    from livefleet import VirtualResult

_WIDTH, _HEIGHT = 100, 4
_PERCENT = 100


def show(result: "VirtualResult") -> None:
    """Print a result."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 240
    for line in _charts(result, min(console.width, _WIDTH)):
        console.print(line, soft_wrap=True)
    console.print(_models(result))
    console.print()
    console.print(_replicas(result))
    console.print()
    console.print(_nodes(result))
    console.print()
    for line in _totals(result):
        console.print(printable(line), soft_wrap=True)


def _charts(result: "VirtualResult", width: int) -> Iterator[str]:
    plain = is_plain()
    series = {
        f"requests per second, in intervals of {result.step:g} s": [interval.sent for interval in result.intervals],
        "time to the first token, 99th percentile, in seconds": [
            interval.ttft_p99 or 0.0 for interval in result.intervals
        ],
        "replicas of these models": [float(interval.replicas) for interval in result.intervals],
    }
    for title, values in series.items():
        top = max(values, default=0.0)
        label = f"{top:.4g}"
        yield title
        columns = [Fraction(value) for value in values]
        yield from framed(chart(columns, width - len(label) - 2, _HEIGHT, plain=plain), label, plain=plain)
        yield ""


def _models(result: "VirtualResult") -> "Table":
    from rich.table import Table

    heads = ("model", "requests", "lost", "TTFT p50", "p90", "p99", "ITL p50", "p99", "end p99", "speed")
    table = Table(*heads, box=None)
    for model in result.models:
        lost = model.requests - model.answered
        table.add_row(
            printable(model.name),
            f"{model.requests:,}",
            f"{lost:,} ({', '.join(model.lost)})" if lost else "0",
            *(_seconds(value) for value in (model.ttft.p50, model.ttft.p90, model.ttft.p99)),
            *(_milliseconds(value) for value in (model.itl.p50, model.itl.p99)),
            _seconds(model.took.p99),
            ", ".join(model.pace),
        )
    return table


def _replicas(result: "VirtualResult") -> "Table":
    from rich.table import Table

    served = {name for model in result.models for name in model.workloads}
    heads = ("workload", "replicas at the start", "least", "mean", "most", "most ready", "replica-hours", "GPU-hours")
    table = Table(*heads, box=None)
    for workload in result.workloads:
        if workload.name in served:
            counts = (workload.start, workload.least, f"{workload.mean:.2f}", workload.most, workload.most_ready)
            hours = (f"{workload.replica_hours:.2f}", f"{workload.gpu_hours:.2f}")
            table.add_row(printable(workload.name), *map(str, counts), *hours)
    return table


def _nodes(result: "VirtualResult") -> "Table":
    from rich.table import Table

    table = Table("node group", "instance type", "most nodes", "node-hours", "GPU-hours", "USD", box=None)
    for group in result.groups:
        usd = "unknown" if group.usd is None else f"{group.usd:.2f}"
        hours = (f"{group.node_hours:.2f}", f"{group.gpu_hours:.2f}")
        table.add_row(printable(group.name), group.instance_type, str(group.most), *hours, usd)
    return table


def _totals(result: "VirtualResult") -> Iterator[str]:
    share = f" ({_PERCENT * result.lost / result.requests:.2g} %)" if result.lost else ""
    yield (
        f"{result.requests:,} requests, {result.lost:,} lost{share}; TTFT p50 {_seconds(result.ttft.p50)}, p99 "
        f"{_seconds(result.ttft.p99)}; ITL p50 {_milliseconds(result.itl.p50)}, p99 {_milliseconds(result.itl.p99)}"
    )
    yield (
        f"{result.gpu_hours:,.2f} GPU-hours, {result.usd:,.2f} USD, {result.usd_per_day:,.2f} USD a day at this rate"
        + (f"; without a price: {', '.join(result.unpriced)}" if result.unpriced else "")
    )
    for name, reason in result.refused.items():
        yield f"not simulated: {name}: {reason}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g} s"


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value * 1000:.3g} ms"


def write_plot(result: "VirtualResult", path: Path) -> None:
    """Write a PNG with requests, times to the first token, and replicas with nodes."""
    minutes = [interval.start / 60 for interval in result.intervals]
    with picture(path) as figure:
        rates, times, counts = figure.subplots(3, 1, sharex=True)
        rates.step(minutes, [interval.sent for interval in result.intervals], where="post", label="sent")
        rates.step(minutes, [interval.lost for interval in result.intervals], where="post", label="lost")
        rates.set_ylabel("requests/s")
        finish(rates, f"{result.stack} in virtual time")
        for label, values in (
            ("p50", [interval.ttft_p50 for interval in result.intervals]),
            ("p99", [interval.ttft_p99 for interval in result.intervals]),
        ):
            times.step(minutes, [float("nan") if v is None else v for v in values], where="post", label=label)
        times.set_ylabel("TTFT in s")
        finish(times, "")
        for label, numbers in (
            ("replicas", [interval.replicas for interval in result.intervals]),
            ("ready", [interval.ready for interval in result.intervals]),
            ("nodes", [interval.nodes for interval in result.intervals]),
        ):
            counts.step(minutes, numbers, where="post", label=label)
        counts.set_ylabel("number")
        counts.set_xlabel("minutes")
        finish(counts, "")
