"""The HTML report of a load: one file without scripts or external resources, with plots on one time axis."""

import html
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

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
_WIDE, _HIGH = 10, 3
"""Inches of a panel."""
_MOST_KINDS = 6
_LONGEST = 40
"""Letters of a name in a legend: what a server sends must not push the plots out of the picture."""
_DOLLARS = "USD/h (simulated)"
_WISH = "autoscaler's wish"
"""Mostly the same as what is wanted, and so drawn with gaps."""
_MARKS = {
    NoteKind.FAULT: ("#c0392b", "-", 1.4),
    NoteKind.PREEMPTED: ("#8e44ad", "-.", 1.4),
    NoteKind.SCALE: ("#555555", ":", 1.2),
}
"""How what happened is drawn; what has no style is not: nodes and pods are lines of their own."""


def plots(found: LoadSummary, fleet: FleetSummary | None) -> str:
    """Return an SVG.

    Raises:
        UserError: matplotlib is missing.
    """
    file, of_fleet = io.BytesIO(), fleet if fleet and fleet.points else None
    panels = 4 + bool(found.errors) + (4 if of_fleet else 0)
    with picture(file, (_WIDE, _HIGH * panels)) as figure:
        free = list(figure.subplots(panels, 1, sharex=True))
        for number, axes in enumerate(free):
            _mark(axes, fleet.events if fleet else (), named=number == 0)
        _draw_clients(free, found)
        if of_fleet:
            _draw_fleet(free, of_fleet.points)
        axes.set_xlabel("seconds" if fleet is None else "seconds, as clients measured them")
    text = file.getvalue().decode()
    return text[text.index("<svg") :]


def _draw_clients(free: "list[Axes]", found: LoadSummary) -> None:
    """Draw what clients saw, and take the panels for it."""
    moments = found.moments
    rates = {"sent": [m.sent for m in moments], "answered": [m.answered for m in moments]}
    _draw(free.pop(0), moments, "requests/s", rates)
    if found.errors:
        _draw(free.pop(0), moments, "failed/s", _errors(found))
    _draw(free.pop(0), moments, "first token, ms", _spreads([m.ttft for m in moments]))
    _draw(free.pop(0), moments, "between tokens, ms", _spreads([m.itl for m in moments]))
    _draw(free.pop(0), moments, "requests in flight", {"in flight": [m.in_flight for m in moments]})


def _errors(found: LoadSummary) -> dict[str, list[float]]:
    """Return a line for each thing that often went wrong, and one for the rest."""
    kinds = sorted(found.errors, key=lambda kind: (-found.errors[kind], kind))
    shown, rest = kinds[:_MOST_KINDS], kinds[_MOST_KINDS:]
    lines = {_short(kind): [m.errors.get(kind, 0) / found.step for m in found.moments] for kind in shown}
    if rest:
        lines["other"] = [sum(m.errors.get(kind, 0) for kind in rest) / found.step for m in found.moments]
    return lines


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _draw_fleet(free: "list[Axes]", points: Sequence[FleetPoint]) -> None:
    """Draw what the fleet said, as steps: it holds until the next time it was asked."""
    _steps(free.pop(0), points, "queue (simulated)", {"waiting": "waiting", "running": "running"})
    replicas = {"wanted": "replicas", "ready": "ready", _WISH: "wanted"}
    _steps(free.pop(0), points, "replicas (simulated)", replicas)
    _steps(free.pop(0), points, "nodes (simulated)", {"there": "nodes", "starting": "nodes_starting"})
    dollars = {"all nodes": "usd_per_hour", "the model": "model_usd_per_hour"}
    _steps(free.pop(0), points, _DOLLARS, dollars)


def _spreads(rows: Sequence[Percentiles]) -> dict[str, list[float]]:
    """Return the lines of a panel; where nothing was measured there is a gap."""
    lines = {"p50": [each.p50 for each in rows], "p95": [each.p95 for each in rows]}
    return {
        name: [float("nan") if value is None else value * _SECOND for value in line] for name, line in lines.items()
    }


def _draw(axes: "Axes", moments: Sequence[Stretch], label: str, lines: Mapping[str, Sequence[float]]) -> None:
    for name, values in lines.items():
        axes.plot([moment.start for moment in moments], values, label=plain_text(name), marker=".")
    axes.set_ylabel(label)
    finish(axes, "")


def _steps(axes: "Axes", points: Sequence[FleetPoint], label: str, lines: Mapping[str, str]) -> None:
    times = [point.seconds for point in points]
    for title, name in lines.items():
        values = [getattr(point, name) for point in points]
        if any(value is not None for value in values):
            drawn = [float("nan") if value is None else value for value in values]
            axes.step(times, drawn, where="post", label=title, linestyle="--" if title == _WISH else "-")
    axes.set_ylabel(label)
    if label != _DOLLARS:
        axes.locator_params(axis="y", integer=True)
    finish(axes, "")


def _mark(axes: "Axes", events: Sequence[FleetEvent], *, named: bool) -> None:
    """Draw a line where something happened; where they are named, one of each kind is in the legend."""
    for kind, (color, style, width) in _MARKS.items():
        times = [event.seconds for event in events if event.kind is kind]
        for number, seconds in enumerate(times):
            label = kind.value if named and number == 0 else None
            axes.axvline(seconds, color=color, linestyle=style, linewidth=width, label=label, zorder=0)


_COLUMNS = ("mean", "p50", "p90", "p95", "p99", "max")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1, p { overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; }
table { border-collapse: collapse; margin: .75rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
figure { background: #fff; border-radius: .5rem; margin: 1rem 0; overflow-x: auto; padding: .5rem; }
svg { display: block; height: auto; min-width: 45rem; width: 100%; }
"""


def page(found: LoadSummary, fleet: FleetSummary | None, title: str) -> str:
    """Return the page.

    Raises:
        UserError: matplotlib is missing.
    """
    head = html.escape(title)
    speed = fleet.speed if fleet else 1
    lines = [*sentences(found), *(fleet_sentences(fleet) if fleet else ()), *machine_sentences(found, speed)]
    latencies = _table(("milliseconds", *_COLUMNS), latency_rows(found, speed))
    of_fleet = _table(("simulated fleet", "min", "max"), fleet_rows(fleet)) if fleet else ""
    shown = "Rates, times and requests in flight over time" + (
        "; queue, replicas, nodes and dollars an hour of the simulated fleet" if fleet else ""
    )
    return (
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{head}</title>\n<style>{_STYLE}</style>\n<h1>{head}</h1>\n"
        + "".join(f"<p>{html.escape(line.strip())}</p>\n" for line in lines)
        + latencies
        + of_fleet
        # Can be reached with the keyboard, since it scrolls where the window is narrow.
        + f'<figure role=img tabindex=0 aria-label="{shown}">{plots(found, fleet)}</figure>\n'
        + "</html>\n"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    columns = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr><th scope=row>{html.escape(name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return f"<div class=scroll><table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>\n"
