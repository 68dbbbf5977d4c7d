"""The HTML report of a load: one file without scripts or external resources, with plots on one time axis."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from components.contract.texts.outputs import html_text
from toolkit.plotting.pictures import finish, picture, plain_text

from ..control_api import NoteKind
from .fleet.record import FleetPoint
from .fleet.report import fleet_rows, fleet_sentences
from .fleet.summary import FleetEvent, FleetSummary
from .report import latency_rows, machine_sentences, sentences
from .summary import LoadSummary, Percentiles, Stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SECOND = 1000.0
"""Milliseconds per second."""
_WIDTH, _HEIGHT = 10, 3
"""Inches of a panel."""
_MAX_ERRORS = 6
_MAX_LABEL = 40
"""Maximum characters of a label: servers choose the texts of errors, and a long legend would squeeze the plots."""
_DOLLARS = "USD/h (simulated)"
_DESIRED = "desired by autoscalers"
"""Dashed, because the line usually coincides with that of the replicas."""
_EVENT_STYLES = {
    NoteKind.FAULT: ("#c0392b", "-", 1.4),
    NoteKind.PREEMPTED: ("#8e44ad", "-.", 1.4),
    NoteKind.SCALE: ("#555555", ":", 1.2),
}
"""Line styles of events. Those of nodes and pods are not drawn: their numbers are plots."""


def plots(summary: LoadSummary, fleet: FleetSummary | None) -> str:
    """Return an SVG.

    Raises:
        UserError: matplotlib is missing.
    """
    file, points, moments = io.BytesIO(), fleet.points if fleet else (), summary.moments
    count = 4 + bool(summary.errors) + (4 if points else 0)
    with picture(file, (_WIDTH, _HEIGHT * count)) as figure:
        panels = list(figure.subplots(count, 1, sharex=True))
        for number, axes in enumerate(panels):
            _mark_events(axes, fleet.events if fleet else (), in_legend=number == 0)
        remaining = iter(panels)
        rates = {"sent": [m.sent for m in moments], "answered": [m.answered for m in moments]}
        _draw(next(remaining), moments, "requests/s", rates)
        if summary.errors:
            _draw(next(remaining), moments, "failed/s", _error_rates(summary))
        _draw(next(remaining), moments, "first token, ms", _percentile_lines([m.ttft for m in moments]))
        _draw(next(remaining), moments, "between tokens, ms", _percentile_lines([m.itl for m in moments]))
        _draw(next(remaining), moments, "requests in flight", {"in flight": [m.in_flight for m in moments]})
        if points:
            _draw_steps(next(remaining), points, "queue (simulated)", {"waiting": "waiting", "running": "running"})
            replicas = {"replicas": "replicas", "ready": "ready", _DESIRED: "wanted"}
            _draw_steps(next(remaining), points, "replicas (simulated)", replicas)
            nodes = {"in use": "nodes", "starting": "nodes_starting"}
            _draw_steps(next(remaining), points, "nodes (simulated)", nodes)
            dollars = {"all nodes": "usd_per_hour", "the model": "model_usd_per_hour"}
            _draw_steps(next(remaining), points, _DOLLARS, dollars)
        panels[-1].set_xlabel("seconds" if fleet is None else "seconds, as clients measured them")
    text = file.getvalue().decode()
    return text[text.index("<svg") :]


def _error_rates(summary: LoadSummary) -> dict[str, list[float]]:
    """Return a line for each frequent error, and one for all others."""
    kinds = sorted(summary.errors, key=lambda kind: (-summary.errors[kind], kind))
    frequent, others = kinds[:_MAX_ERRORS], kinds[_MAX_ERRORS:]
    lines = {}
    for kind in frequent:
        label = kind if len(kind) <= _MAX_LABEL else f"{kind[: _MAX_LABEL - 3]}..."
        lines[label] = [m.errors.get(kind, 0) / summary.step for m in summary.moments]
    if others:
        lines["other"] = [sum(m.errors.get(kind, 0) for kind in others) / summary.step for m in summary.moments]
    return lines


def _percentile_lines(rows: Sequence[Percentiles]) -> dict[str, list[float]]:
    """Return the lines of a panel in milliseconds, with gaps where nothing was measured."""

    def milliseconds(seconds: float | None) -> float:
        return float("nan") if seconds is None else seconds * _SECOND

    return {
        "p50": [milliseconds(row.p50) for row in rows],
        "p95": [milliseconds(row.p95) for row in rows],
    }


def _draw(axes: "Axes", moments: Sequence[Stretch], label: str, lines: Mapping[str, Sequence[float]]) -> None:
    for name, values in lines.items():
        axes.plot([moment.start for moment in moments], values, label=plain_text(name), marker=".")
    axes.set_ylabel(label)
    finish(axes, "")


def _draw_steps(axes: "Axes", points: Sequence[FleetPoint], label: str, lines: Mapping[str, str]) -> None:
    """Draw series of the fleet as steps: a value is valid until the next one is recorded.

    Args:
        axes: The panel.
        points: The recorded states.
        label: Label of the panel.
        lines: Fields of the states by their label.
    """
    times = [point.seconds for point in points]
    for title, name in lines.items():
        values = [getattr(point, name) for point in points]
        if any(value is not None for value in values):
            heights = [float("nan") if value is None else value for value in values]
            axes.step(times, heights, where="post", label=title, linestyle="--" if title == _DESIRED else "-")
    axes.set_ylabel(label)
    if label != _DOLLARS:
        axes.locator_params(axis="y", integer=True)
    finish(axes, "")


def _mark_events(axes: "Axes", events: Sequence[FleetEvent], *, in_legend: bool) -> None:
    """Draw a vertical line at each event; the legend has one line per kind."""
    for kind, (color, style, width) in _EVENT_STYLES.items():
        times = [event.seconds for event in events if event.kind is kind]
        for number, seconds in enumerate(times):
            label = kind.value if in_legend and number == 0 else None
            axes.axvline(seconds, color=color, linestyle=style, linewidth=width, label=label, zorder=0)


_COLUMNS = ("mean", "p50", "p90", "p95", "p99", "max")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1, p { overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; }
p { margin: .25rem 0; }
table { border-collapse: collapse; margin: .75rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
figure { background: #fff; border-radius: .5rem; margin: 1rem 0; overflow-x: auto; padding: .5rem; }
svg { display: block; height: auto; min-width: 45rem; width: 100%; }
/* All percentiles fit the width of a phone. */
@media (max-width: 30rem) {
  table { font-size: .75rem; }
  th, td { padding-right: .2rem; }
  th:last-child, td:last-child { padding-right: 0; }
  th:first-child { max-width: 5.5rem; }
}
"""


def page(summary: LoadSummary, fleet: FleetSummary | None, title: str) -> str:
    """Return the page.

    Raises:
        UserError: matplotlib is missing.
    """
    head = html_text(title)
    speed = fleet.speed if fleet else 1
    lines = [*sentences(summary), *(fleet_sentences(fleet) if fleet else ()), *machine_sentences(summary, speed)]
    latencies = _table(("milliseconds", *_COLUMNS), latency_rows(summary, speed))
    fleet_table = _table(("simulated fleet", "min", "max"), fleet_rows(fleet)) if fleet else ""
    alternative = "Rates, times and requests in flight over time" + (
        "; queue, replicas, nodes and dollars per hour of the simulated fleet" if fleet else ""
    )
    return (
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{head}</title>\n<style>{_STYLE}</style>\n<h1>{head}</h1>\n"
        + "".join(f"<p>{html_text(line.strip())}</p>\n" for line in lines)
        + latencies
        + fleet_table
        # Focusable, so that the keyboard can scroll it in a narrow window.
        + f'<figure role=img tabindex=0 aria-label="{alternative}">{plots(summary, fleet)}</figure>\n'
        + "</html>\n"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    columns = "".join(f"<th scope=col>{html_text(name)}</th>" for name in head)
    body = "".join(
        f"<tr><th scope=row>{html_text(name)}</th>{''.join(f'<td>{html_text(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return f"<div class=scroll><table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>\n"
