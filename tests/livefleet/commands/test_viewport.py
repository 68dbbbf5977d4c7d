"""Scrolling, filtering and sorting: every model of a long table can be seen on a small terminal."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from livefleet.control_api import LiveState
from livefleet.option_values import Order
from livefleet.watching.view import shares, view
from livefleet.watching.viewport import END_OF_INPUT, Viewport
from tests.livefleet.commands.standin import group, model, note, state

UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"
FLEET = state(
    models=tuple(model(f"model-{number:02}", model=f"client-{number:02}") for number in range(32)),
    groups=tuple(group(f"group-{number:02}") for number in range(12)),
    notes=tuple(note(f"note {number}") for number in range(6)),
)
"""As many models as the local stack has."""
SIZE = (80, 40)


def shown(fleet: LiveState, viewport: Viewport, size: tuple[int, int] = SIZE) -> list[str]:
    console = Console(file=io.StringIO(), width=size[0], height=size[1], highlight=False)
    console.print(view(fleet, size, viewport.line, viewport=viewport))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def names(lines: list[str], start: str = "model-") -> list[str]:
    return [line.split()[0] for line in lines if line.startswith(start)]


def pressed(viewport: Viewport, keys: str, fleet: LiveState = FLEET, size: tuple[int, int] = SIZE) -> Viewport:
    """What is looked at after keys, one after the other, as the screen hands them on."""
    page = shares(fleet, viewport, size[1])[viewport.at_nodes]
    return viewport.pressed(keys, page, len(viewport.rows(fleet)[viewport.at_nodes]))


def test_at_80_columns_all_of_32_models_can_be_seen() -> None:
    viewport, seen = Viewport(), set[str]()
    first = shown(FLEET, viewport)
    assert len(names(first)) < 32
    for _ in range(32):
        lines = shown(FLEET, viewport)
        assert len(lines) <= SIZE[1]
        assert all(len(line) <= SIZE[0] for line in lines)
        seen.update(names(lines))
        viewport = pressed(viewport, PAGE_DOWN)
    assert seen == {f"model-{number:02}" for number in range(32)}
    # At the end nothing is below, and scrolling further changes nothing.
    assert names(shown(FLEET, viewport))[-1] == "model-31"
    assert pressed(viewport, DOWN) == viewport


def test_lines_pages_and_ends() -> None:
    page = len(names(shown(FLEET, Viewport())))
    last = 32 - page
    assert pressed(Viewport(), DOWN).first == 1
    assert pressed(Viewport(), "jj").first == 2
    assert pressed(Viewport(), DOWN * 3 + UP).first == 2
    assert pressed(Viewport(), UP).first == 0
    assert pressed(Viewport(), PAGE_DOWN).first == min(page, last)
    assert pressed(Viewport(), END).first == last
    assert pressed(Viewport(first=last), PAGE_UP).first == max(last - page, 0)
    assert pressed(Viewport(first=last), HOME).first == 0
    # Other forms that terminals have.
    assert pressed(Viewport(), "\x1bOB").first == 1
    assert pressed(Viewport(), "\x1b[4~").first == last


def test_what_is_not_shown_is_counted_on_both_sides() -> None:
    viewport = pressed(Viewport(), DOWN * 5)
    lines = shown(FLEET, viewport)
    page = len(names(lines))
    assert f"and {32 - page} more (5 above, {27 - page} below)" in lines


@pytest.mark.parametrize(("text", "expected"), [
    ("model-07", ["model-07"]),
    ("MODEL-1", [f"model-1{number}" for number in range(10)]),
    ("client-31", ["model-31"]),
    ("nothing", []),
    ("[", []),
])  # fmt: skip
def test_a_filter_finds_names_of_both_kinds(text: str, expected: list[str]) -> None:
    viewport = pressed(Viewport(), f"/{text}\r")
    assert (viewport.text, viewport.is_typing) == (text, False)
    lines = shown(FLEET, viewport)
    assert names(lines) == expected
    # The fleet is counted as a whole.
    assert lines[0].startswith("simulated: 32 models")
    assert f"filter {text!r}" in lines[-1]


def test_letters_are_letters_while_a_filter_is_typed() -> None:
    viewport = pressed(Viewport(), "/q")
    assert (viewport.text, viewport.is_typing, viewport.has_quit) == ("q", True, False)
    assert viewport.line.startswith("filter: q_")
    viewport = pressed(viewport, "s\x7f")
    assert viewport.text == "q"
    assert pressed(viewport, "\x1b") == Viewport()
    assert pressed(pressed(viewport, "\r"), "q").has_quit
    # A terminal that is gone ends it, whatever is typed.
    assert pressed(viewport, END_OF_INPUT).has_quit
    assert pressed(Viewport(), "/" + "x" * 200).text == "x" * 60


ORDERS = {
    Order.MOVEMENT: ["queue", "busy", "cheap", "dear"],
    Order.NAME: ["busy", "cheap", "dear", "queue"],
    Order.COST: ["dear", "busy", "queue", "cheap"],
    Order.QUEUE: ["queue", "busy", "cheap", "dear"],
}


@pytest.mark.parametrize("order", ORDERS)
def test_orders(order: Order) -> None:
    fleet = state(
        models=(
            model("cheap", usd_per_hour=None),
            model("dear", usd_per_hour=9.0),
            model("busy", running=3, usd_per_hour=2.0),
            model("queue", waiting=5, running=1, usd_per_hour=1.0),
        )
    )
    viewport = Viewport()
    while viewport.order is not order:
        viewport = pressed(viewport, "s", fleet)
    assert [each.title for each in viewport.models(fleet.models)] == ORDERS[order]


def test_nodes_can_be_scrolled_too() -> None:
    viewport = pressed(Viewport(), "\t")
    assert viewport.at_nodes
    seen = set[str]()
    for _ in range(12):
        seen.update(names(shown(FLEET, viewport, (80, 24)), "group-"))
        viewport = pressed(viewport, DOWN, size=(80, 24))
    assert seen == {f"group-{number:02}" for number in range(12)}
    assert not pressed(viewport, "\t").at_nodes


@given(
    keys=st.text(st.sampled_from("q/\x1b[A\r\x7f\tsGg jxé\x00")),
    models=st.integers(0, 50),
    height=st.integers(24, 60),
)  # fmt: skip
def test_no_keys_break_the_view(keys: str, models: int, height: int) -> None:
    fleet = replace(FLEET, models=FLEET.models[:models])
    viewport = pressed(Viewport(), keys, fleet, (80, height))
    page = shares(fleet, viewport, height)[viewport.at_nodes]
    viewport = viewport.within(page, len(viewport.rows(fleet)[viewport.at_nodes]))
    assert viewport.first >= 0
    lines = shown(fleet, viewport, (80, height))
    assert len(lines) <= height
    assert all(len(line) <= 80 for line in lines)
