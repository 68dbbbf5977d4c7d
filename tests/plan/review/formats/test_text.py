"""What a terminal shows."""

import re

from tests.plan.review.formats.samples import ALONE, NOTHING, WHOLE
from workbench.planning.formats.text import text

SECTIONS = (
    "Plan of dev: Nothing can be deployed",
    "does not pass: 1 error is new",
    "Models",
    "New errors (1)",
    "Fixed (1)",
    "Existing warnings (1), listed by --output markdown",
    "Resource changes",
    "Running replicas",
    "Endpoint changes",
    "Changes by resource",
    "Ignored findings (1)",
    "Compared with",
)


def test_sections_are_in_the_order_of_the_comment() -> None:
    lines = text(WHOLE).splitlines()
    places = [next(place for place, line in enumerate(lines) if line.startswith(section)) for section in SECTIONS]
    assert places == sorted(places)


def test_rows_have_their_figures() -> None:
    lines = [re.split(r" {2,}", line) for line in text(WHOLE, 400).splitlines()]  # so wide that nothing is broken
    assert [
        "Playground/chat",
        "example/chat",
        "does not fit: exceeds 40.0 GiB by 6.0 GiB; before: fits, 20.0 GiB of 40.0 GiB left (50%)",
        "1 → 2 (1 to 4), g6e.2xlarge",
        "$730.00 → $1,460.00 (+$730.00)",
        "$730.00",
        "$730.00 → $2,920.00 (+$2,190.00)",
    ] in lines
    assert ["+ Deployment models/embed"] in lines
    assert ["", "spec.replicas: 1 → 2"] in lines


def test_a_narrow_terminal_breaks_lines_and_loses_nothing() -> None:
    narrow = text(WHOLE, 60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "…" not in narrow


def test_colours_are_for_terminals_alone() -> None:
    assert "\x1b" not in text(WHOLE)
    assert "\x1b[" in text(WHOLE, 120, colors=True)


def test_little_is_said_of_nothing() -> None:
    assert text(NOTHING).startswith("Plan of dev: Nothing changes.\n")
    assert len(text(NOTHING).splitlines()) <= 6


def test_without_a_base_nothing_is_compared() -> None:
    assert "Compared with" not in text(ALONE)
    assert "→" not in text(ALONE)
