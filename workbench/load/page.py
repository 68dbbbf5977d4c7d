"""A load as one HTML file: it needs nothing from elsewhere, and no script."""

import html
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..plotting.pictures import finish, picture
from .report import cells, sentences
from .summary import LoadSummary, Percentiles, Stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SECOND = 1000.0
_INCHES = (10, 12)
_COLUMNS = ("mean", "p50", "p90", "p95", "p99", "max")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
figure { background: #fff; border-radius: .5rem; margin: 1rem 0; padding: .5rem; }
svg { display: block; height: auto; width: 100%; }
"""


def page(found: LoadSummary, title: str) -> str:
    """Return the page.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    head = html.escape(title)
    rows = "".join(map(_row, ("first token", "between tokens", "whole answer"), (found.ttft, found.itl, found.took)))
    columns = "".join(f"<th scope=col>{name}</th>" for name in _COLUMNS)
    return (
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{head}</title>\n<style>{_STYLE}</style>\n<h1>{head}</h1>\n"
        + "".join(f"<p>{html.escape(line.strip())}</p>\n" for line in sentences(found))
        + f"<div class=scroll><table><thead><tr><th scope=col>milliseconds</th>{columns}</tr></thead>"
        + f"<tbody>{rows}</tbody></table></div>\n"
        + f'<figure role=img aria-label="Rates, times and requests in flight over time">{_plots(found)}</figure>\n'
        + "</html>\n"
    )


def _row(name: str, row: Percentiles) -> str:
    return f"<tr><th scope=row>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells(row))}</tr>"


def _plots(found: LoadSummary) -> str:
    """Return all plots, on one axis of time."""
    file = io.BytesIO()
    moments = found.moments
    with picture(file, _INCHES) as figure:
        rates, first, between, flight = figure.subplots(4, 1, sharex=True)
        _draw(
            rates,
            moments,
            "requests/s",
            {"sent": [m.sent for m in moments], "answered": [m.answered for m in moments]},
        )
        if found.errors:
            _draw(rates, moments, "requests/s", {"failed": [m.failed for m in moments]})
        _draw(first, moments, "first token, ms", _spreads([m.ttft for m in moments]))
        _draw(between, moments, "between tokens, ms", _spreads([m.itl for m in moments]))
        _draw(flight, moments, "requests in flight", {"in flight": [m.in_flight for m in moments]})
        flight.set_xlabel("seconds")
    text = file.getvalue().decode()
    return text[text.index("<svg") :]


def _spreads(rows: Sequence[Percentiles]) -> dict[str, list[float]]:
    """Return the lines of a panel; where nothing was measured there is a gap."""
    lines = {"p50": [each.p50 for each in rows], "p95": [each.p95 for each in rows]}
    return {
        name: [float("nan") if value is None else value * _SECOND for value in line] for name, line in lines.items()
    }


def _draw(axes: "Axes", moments: Sequence[Stretch], label: str, lines: Mapping[str, Sequence[float]]) -> None:
    for name, values in lines.items():
        axes.plot([moment.start for moment in moments], values, label=name, marker=".")
    axes.set_ylabel(label)
    finish(axes, "")
