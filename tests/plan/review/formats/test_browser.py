"""The page in a real browser: at the width of a laptop and of a phone, light and dark."""

from pathlib import Path

import pytest

from components.plan.review.review import Review
from tests.browsing import Scheme, Window
from tests.plan.review.formats.hostile import hostile
from tests.plan.review.formats.samples import ALONE, NOTHING, WHOLE
from workbench.planning.formats.html.page import html

REVIEWS = {
    "whole": WHOLE,
    "nothing": NOTHING,
    "alone": ALONE,
    "hostile": hostile("<script>alert(1)</script>" + "x" * 300),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", REVIEWS)
def test_a_page_fits_its_window_and_nothing_is_said_against_it(
    name: str, width: int, scheme: Scheme, window: Window, tmp_path: Path
) -> None:
    review: Review = REVIEWS[name]
    (tmp_path / "report.html").write_text(html(review))
    window.open((tmp_path / "report.html").as_uri(), width, scheme)
    assert window.value("window.innerWidth") == width
    assert window.value("document.documentElement.scrollWidth") == width
    assert window.messages == []
    background = window.value("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]
    assert window.value("performance.getEntriesByType('resource').length") == 0, "it loads something"
    assert window.value("document.scripts.length") == 0


@pytest.mark.parametrize("name", REVIEWS)
def test_a_phone_shows_every_amount_without_scrolling_aside(name: str, window: Window, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(html(REVIEWS[name]))
    window.open((tmp_path / "report.html").as_uri(), 360, "light")
    edges = "[...document.querySelectorAll('td.number[data-title], .stacked td')].map(e => e.getBoundingClientRect())"
    outside = f"{edges}.filter(r => r.width && (r.left < 0 || r.right > 360)).length"
    assert window.value(outside) == 0
    # And no table of them has more beside what is seen.
    wide = "[...document.querySelectorAll('.scroll')].filter(e => e.querySelector('.stacked'))"
    assert window.value(f"{wide}.filter(e => e.scrollWidth > e.clientWidth).length") == 0


def test_what_the_browser_says_is_heard(window: Window, tmp_path: Path) -> None:
    """The same test fails where a page loads what it must not, or is too wide."""
    added = f"<script>console.log(1)</script><pre>{'x' * 300}</pre>"
    page = html(NOTHING).replace("</main>", f"{added}</main>")
    (tmp_path / "bad.html").write_text(page)
    window.open((tmp_path / "bad.html").as_uri(), 360, "light")
    assert window.value("document.documentElement.scrollWidth") > 360
    assert any("Content Security Policy" in entry for entry in window.messages)


def test_bars_are_as_long_as_their_figures_say(window: Window, tmp_path: Path) -> None:
    """Playground/chat needs 40, 4 and 2 GiB of a device of 45, of which 40 are usable; the whole bar is the 46."""
    (tmp_path / "report.html").write_text(html(WHOLE))
    window.open((tmp_path / "report.html").as_uri(), 1280, "light")
    script = "[...document.querySelectorAll('.plot svg.bar')[0].children].map(e => e.getBoundingClientRect().width)"
    *parts, _ = window.value(script)
    whole = window.value("document.querySelectorAll('.plot svg.bar')[0].getBoundingClientRect().width")
    assert [part / whole for part in parts] == pytest.approx([40 / 46, 4 / 46, 2 / 46], abs=0.005)
    limit = window.value("document.querySelectorAll('.plot svg.bar .limit')[0].x1.baseVal.value")
    assert limit / whole == pytest.approx(40 / 46, abs=0.005)
