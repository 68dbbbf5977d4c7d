"""A load as one HTML file: it needs nothing from elsewhere, and no script."""

import html
from collections.abc import Iterable, Sequence

from .fleet.report import fleet_rows, fleet_sentences
from .fleet.summary import FleetSummary
from .plots import plots
from .report import latency_rows, machine_sentences, sentences
from .summary import LoadSummary

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
