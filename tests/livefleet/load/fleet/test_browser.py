"""The page of a load in a real browser: at the width of a laptop and of a phone, light and dark."""

import re
from functools import cache
from pathlib import Path

import pytest

from livefleet.load.fleet.record import FleetRecord
from livefleet.load.fleet.summary import fleet_summary
from livefleet.load.outcomes import RequestOutcome, Tally
from livefleet.load.page import page
from livefleet.load.summary import summary
from tests.browsing import Scheme, Window
from tests.livefleet.load.fleet.figures import NOWHERE, burst

LONG = "no stream, but " + "x" * 200
CLIENTS, FLEET = burst()
PAGES = {
    "burst": (CLIENTS, FLEET, "qwen at http://127.0.0.1:4001/v1, simulated"),
    "ordinary": (CLIENTS, None, "qwen at http://127.0.0.1:4001/v1"),
    "nothing": (summary(Tally()), fleet_summary(FleetRecord(NOWHERE, ()), []), "x" * 300),
    "hostile": (summary(Tally([RequestOutcome(0, 0, None, 1, error=LONG)])), FLEET, "<script>alert(1)</script>"),
}
PANELS = {
    "ordinary": ("requests/s", "failed/s", "first token, ms", "between tokens, ms", "requests in flight"),
    "burst": ("queue (simulated)", "replicas (simulated)", "nodes (simulated)", "USD/h (simulated)"),
}


@cache
def html(name: str) -> str:
    return page(*PAGES[name])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_nothing_is_said_against_it(
    name: str, width: int, scheme: Scheme, window: Window, tmp_path: Path
) -> None:
    (tmp_path / "load.html").write_text(html(name))
    window.open((tmp_path / "load.html").as_uri(), width, scheme)
    assert window.value("window.innerWidth") == width
    assert window.value("document.documentElement.scrollWidth") == width
    assert window.messages == []
    assert window.value("performance.getEntriesByType('resource').length") == 0, "it loads something"
    assert window.value("document.scripts.length") == 0
    # Letters of the plots can be read on a phone as well.
    sizes = "[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height)"
    assert min(window.value(sizes)) >= 8


def test_a_phone_shows_all_percentiles(window: Window, tmp_path: Path) -> None:
    (tmp_path / "load.html").write_text(html("burst"))
    window.open((tmp_path / "load.html").as_uri(), 390)
    tables = "[...document.querySelectorAll('.scroll')].map(each => [each.scrollWidth, each.clientWidth])"
    assert [wide for wide, visible in window.value(tables) if wide > visible] == []
    # And texts stay legible.
    assert (
        window.value(
            "Math.min(...[...document.querySelectorAll('td')].map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        >= 12
    )


def test_all_plots_have_one_axis_of_time(window: Window, tmp_path: Path) -> None:
    (tmp_path / "load.html").write_text(html("burst"))
    window.open((tmp_path / "load.html").as_uri(), 1280, "light")
    texts = window.value("[...document.querySelectorAll('svg text')].map(e => e.textContent)")
    assert {*PANELS["ordinary"], *PANELS["burst"]} <= set(texts)
    # Panels are as wide as one another, and the fault is at the same place in each.
    script = (
        "[...document.querySelectorAll('g[id^=axes_] > g[id^=patch_]:first-child path')]"
        ".map(e => e.getBoundingClientRect()).map(r => [r.left, r.width])"
    )
    frames = window.value(script)
    assert len(frames) == 9
    assert {tuple(round(value) for value in frame) for frame in frames} == {
        tuple(round(value) for value in frames[0])
    }
    marks = window.value(
        "[...document.querySelectorAll('g[id^=axes_] path')]"
        ".filter(e => (e.getAttribute('style') || '').includes('#c0392b'))"
        ".map(e => e.getBoundingClientRect()).filter(r => r.height > 100).map(r => r.left)"
    )
    assert len(marks) == 9
    assert max(marks) - min(marks) < 1


def test_an_ordinary_page_has_nothing_of_a_fleet() -> None:
    assert not re.search("simulated|USD|replica", html("ordinary"))
    assert all(panel in html("ordinary") for panel in PANELS["ordinary"])
