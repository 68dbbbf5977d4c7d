"""Text output and plot of a fleet in virtual time."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.plotting.chart import chart, framed, is_plain
from toolkit.plotting.pictures import finish, picture
from toolkit.screen import Screen, Styled, TableColumn

if TYPE_CHECKING:
    from livefleet import VirtualResult

_WIDTH, _HEIGHT = 100, 4
_PERCENT = 100
_MOST_ROWS = 6
"""Models without details, so that the plots fit the screen."""
_MOST_PLOTS = 2


def lines(result: "VirtualResult", screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield a result.

    Args:
        result: The result.
        screen: The screen.
        details: Whether to print all percentiles, replicas and nodes.
    """
    yield from _totals(result, screen)
    columns = [
        TableColumn("MODEL", shortens=True),
        TableColumn("REQUESTS", right=True),
        TableColumn("LOST"),
        TableColumn("TTFT P99", right=True),
        TableColumn("ITL P99", right=True),
    ]
    rows: list[list[str | Styled]] = []
    for model in result.models:
        lost = model.requests - model.answered
        reasons = Styled(f"{lost:,} ({', '.join(model.lost)})" if lost else "0", "warning" if lost else "")
        rows.append(
            [model.name, f"{model.requests:,}", reasons, _seconds(model.ttft.p99), _milliseconds(model.itl.p99)]
        )
    yield from screen.first_rows(columns, rows, "models", most=_MOST_ROWS, details=details)
    yield from _charts(result, screen, details=details)
    if details:
        yield from _latencies(result, screen)
        yield from _replicas(result, screen)
        yield from _nodes(result, screen)
    else:
        yield from screen.left_out(["all percentiles", "speeds", "replicas", "nodes and their costs"])


def _charts(result: "VirtualResult", screen: Screen, *, details: bool) -> Iterator[str]:
    plain = is_plain()
    series = {
        f"requests per second, in intervals of {result.step:g} s": [interval.sent for interval in result.intervals],
        "time to the first token, 99th percentile, in seconds": [
            interval.ttft_p99 or 0.0 for interval in result.intervals
        ],
        "replicas of these models": [float(interval.replicas) for interval in result.intervals],
    }
    for title, values in [*series.items()][: None if details else _MOST_PLOTS]:
        label = f"{max(values, default=0.0):.4g}"
        room = min(screen.width, _WIDTH) - len(label) - 2
        yield from screen.text(title)
        yield from framed(chart([*map(Fraction, values)], room, _HEIGHT, plain=plain), label, plain=plain)


def _latencies(result: "VirtualResult", screen: Screen) -> Iterator[str]:
    yield from screen.heading("Time to the first token, and until the end of the answer")
    titles = ("TTFT P50", "P90", "P99", "END P99")
    columns = [TableColumn("MODEL", shortens=True), *(TableColumn(title, right=True) for title in titles)]
    rows = [
        [model.name, *map(_seconds, (model.ttft.p50, model.ttft.p90, model.ttft.p99, model.took.p99))]
        for model in result.models
    ]
    yield from screen.table(columns, rows)
    yield from screen.heading("Time between tokens, and the speed that the simulation assumes")
    columns = [
        TableColumn("MODEL", shortens=True),
        TableColumn("ITL P50", right=True),
        TableColumn("P99", right=True),
        TableColumn("SPEED"),
    ]
    speeds = [
        [model.name, _milliseconds(model.itl.p50), _milliseconds(model.itl.p99), ", ".join(model.pace)]
        for model in result.models
    ]
    yield from screen.table(columns, speeds)


def _replicas(result: "VirtualResult", screen: Screen) -> Iterator[str]:
    served = {name for model in result.models for name in model.workloads}
    workloads = [workload for workload in result.workloads if workload.name in served]
    yield from screen.heading("Replicas")
    counts = ("AT START", "LEAST", "MEAN", "MOST")
    columns = [TableColumn("WORKLOAD", shortens=True), *(TableColumn(title, right=True) for title in counts)]
    rows = [[each.name, str(each.start), str(each.least), f"{each.mean:.2f}", str(each.most)] for each in workloads]
    yield from screen.table(columns, rows)
    yield ""
    titles = ("MOST READY", "REPLICA-HOURS", "GPU-HOURS")
    columns = [TableColumn("WORKLOAD", shortens=True), *(TableColumn(title, right=True) for title in titles)]
    hours = [
        [each.name, str(each.most_ready), f"{each.replica_hours:.2f}", f"{each.gpu_hours:.2f}"] for each in workloads
    ]
    yield from screen.table(columns, hours)


def _nodes(result: "VirtualResult", screen: Screen) -> Iterator[str]:
    yield from screen.heading("Nodes")
    columns = [
        TableColumn("NODE GROUP"),
        *(TableColumn(title, right=True) for title in ("MOST", "NODE-HOURS", "GPU-HOURS", "USD")),
    ]
    rows = [
        [
            f"{group.name} ({group.instance_type})" if group.instance_type else group.name,
            str(group.most),
            f"{group.node_hours:.2f}",
            f"{group.gpu_hours:.2f}",
            "unknown" if group.usd is None else f"{group.usd:.2f}",
        ]
        for group in result.groups
    ]
    yield from screen.table(columns, rows)


def _totals(result: "VirtualResult", screen: Screen) -> Iterator[str]:
    share = f" ({_PERCENT * result.lost / result.requests:.2g} %)" if result.lost else ""
    total = (
        f"{result.stack}: {result.requests:,} requests, {result.lost:,} lost{share}; TTFT p50 "
        f"{_seconds(result.ttft.p50)}, p99 {_seconds(result.ttft.p99)}; ITL p50 {_milliseconds(result.itl.p50)}, p99 "
        f"{_milliseconds(result.itl.p99)}"
    )
    yield from screen.text(total, "bold", hanging="  ")
    without = f"; without a price: {', '.join(result.unpriced)}" if result.unpriced else ""
    yield from screen.text(
        f"{result.gpu_hours:,.2f} GPU-hours, {result.usd:,.2f} USD, {result.usd_per_day:,.2f} USD a day at this rate"
        f"{without}",
        hanging="  ",
    )
    for name, reason in result.refused.items():
        yield from screen.text(f"not simulated: {name}: {reason}", "warning", hanging="  ")


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
