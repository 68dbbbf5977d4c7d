"""The live view at many sizes: pure, from a state to lines."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from livefleet.control_api import LiveState, NoteKind
from livefleet.watching.rows import by_movement, headline, is_active, scaling
from livefleet.watching.view import view
from tests.livefleet.commands.standin import group, model, note, scaler, state


def shown(fleet: LiveState, height: int | None, width: int = 120, below: str = "") -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height or 1000, highlight=False)
    console.print(view(fleet, (width, height) if height else None, below))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return [line.rstrip() for line in str(written).splitlines()]


def test_everything_of_a_small_fleet() -> None:
    fleet = state(
        models=(
            model("chat", replicas=5, ready=2, starting=1, pending=2, waiting=7, running=64, cache=0.5,
                  usd_per_hour=1.5, scalers=(scaler(),)),
        ),
        groups=(group(nodes=3, starting=2),),
        usd_per_hour=1234.5,
        notes=(note("node g6-3 came"),),
    )  # fmt: skip
    lines = shown(fleet, None, 200, "q leaves")
    assert lines[0] == "simulated: 1 model, 2/5 replicas ready, 3 nodes (+2), 1,234.50 USD/h"
    assert lines[1] == "answers 1 x real time, starts of nodes and pods 60 x real time"
    assert lines[2].split() == [
        *("model", "ready", "starting", "pending", "waiting", "running", "cache", "desired", "USD/h", "pace")
    ]
    assert lines[3].split() == ["chat", "2/5", "1", "2", "7", "64", "50%", "4", "of", "1..8", "1.50", "estimate"]
    assert lines[5].split() == ["g6-xlarge", "3", "2", "0..8", "1.00", "g6.xlarge"]
    assert lines[6].endswith(" node: node g6-3 came")
    assert lines[-1] == "q leaves"


def test_an_autoscaler_that_has_read_nothing_wants_nothing() -> None:
    assert scaling(model(scalers=(scaler(desired=0), scaler(desired=3)))) == "? of 1..8, 3 of 1..8"
    # Nought is a wish where an autoscaler may scale to it.
    assert scaling(model(scalers=(scaler(desired=0, least=0),))) == "0 of 0..8"
    assert scaling(model()) == "-"


def test_what_moves_comes_first() -> None:
    models = (
        model("a-idle"),
        model("b-busy", running=1),
        model("c-busier", running=5),
        model("d-queue", running=1, waiting=1),
        model("e-starting", starting=1),
        model("f-short", ready=1),
        model("g-wish", scalers=(scaler(),)),
        model("h-settled", scalers=(scaler(desired=2),)),
        model("i-unread", scalers=(scaler(desired=0),)),
    )
    order = ["e-starting", "f-short", "g-wish", "d-queue", "c-busier", "b-busy", "a-idle", "h-settled", "i-unread"]
    assert [each.title for each in by_movement(models)] == order
    assert [each.title for each in models if not is_active(each)] == ["a-idle", "h-settled", "i-unread"]


@given(
    models=st.integers(0, 60), groups=st.integers(0, 40), notes=st.integers(0, 30), height=st.integers(24, 80),
    width=st.integers(40, 200),
)  # fmt: skip
def test_it_fits_the_terminal_and_counts_the_rest(
    models: int, groups: int, notes: int, height: int, width: int
) -> None:
    fleet = state(
        models=tuple(model(f"model-{number}") for number in range(models)),
        groups=tuple(group(f"group-{number}") for number in range(groups)),
        notes=tuple(note(f"note {number}") for number in range(notes)),
    )
    lines = shown(fleet, height, width, "q leaves")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    assert lines[-1] == "q leaves"
    for count, name in ((models, "model-"), (groups, "group-")):
        rows = sum(line.startswith(name) for line in lines)
        assert rows == count or any(line.startswith(f"and {count - rows} more") for line in lines)
    if notes:
        assert any(line.endswith(f"note {notes - 1}") for line in lines)


@pytest.mark.parametrize("name", ["a\nforged", "\x1b[2J", "[red]x[/red]", "🦙" * 40])
def test_hostile_names_stay_text(name: str) -> None:
    fleet = state(models=(model(name),), groups=(group(name),), notes=(note(name, NoteKind.FAULT),))
    lines = shown(fleet, None, 200)
    assert not any(line.startswith("forged") for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert len(lines) == 7


def test_what_is_preempted_is_noted() -> None:
    text = "pod models/p-1 of p (priority 0) made room on node g6-1 for pod models/k-2 of k (priority 10000)"
    lines = shown(state(notes=(note(text, NoteKind.PREEMPTED),)), None, 200)
    assert lines[-1].endswith(f" preempted: {text}")


def test_an_empty_fleet() -> None:
    fleet = state(models=(), groups=(), pods=(), usd_per_hour=0.0)
    assert headline(fleet) == "simulated: 0 models, 0/0 replicas ready, 0 nodes, 0.00 USD/h"
    assert shown(fleet, 24)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_figures_are_shown_whole_or_not_at_all(width: int) -> None:
    long = model("kthena/" + "x" * 100, ready=97, replicas=98, waiting=123456, running=65432, starting=1)
    fleet = state(models=(long,), groups=(group("y" * 100, nodes=12345),))
    lines = shown(fleet, 24, width)
    assert all(len(line) <= width for line in lines)
    cells = [word for line in lines[2:] for word in line.split()]
    assert {"97/98", "123456", "65432", "12345"} <= set(cells)
    # Only names are cut, which are much too long.
    assert sum(word.endswith("…") for word in cells) == 2
    assert ("estimate" in cells) == (width >= 100)
