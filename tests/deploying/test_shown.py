"""Where models answer on this machine, as ``up`` and ``outputs`` show it."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from livefleet.fleet import LiveFleet, ServedEndpoint
from livefleet.lifecycle import live_processes
from tests.deploying.fleets import endpoint, fleet_of, workload, written
from toolkit.process import Process, save
from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.tables import show_addresses, with_addresses


def shown(folder: Path, fleet: LiveFleet, width: int, door: str = "") -> str:
    out = io.StringIO()
    show_addresses(fleet, written(folder, fleet, door=door), Console(file=out, width=width, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120, 240])
def test_addresses_and_lines_are_whole_at_every_width(tmp_path: Path, width: int) -> None:
    fleet = fleet_of(workload("llama2-7b-lora-support", model="microsoft/Phi-4-mini-instruct"), outside=True)
    text = shown(tmp_path, fleet, width, "http://127.0.0.1:4444")
    rows, _, lines = text.partition("Answers are simulated")
    (row,) = [line for line in rows.splitlines() if "llama2-7b-lora" in line]
    assert row.split()[-1] == "http://127.0.0.1:4000/v1"
    assert "…" not in rows
    assert all(len(line) <= width for line in rows.splitlines())
    assert rows.startswith("On this machine (simulated)")
    assert "http://127.0.0.1:4444/v1" in rows
    curls = [line for line in lines.splitlines() if line.startswith("  curl ")]
    assert len(curls) == 2
    assert all(line.endswith("}'") for line in curls)


def test_what_plays_something_else_says_so(tmp_path: Path) -> None:
    one = workload("pair")
    routed = ServedEndpoint("pair", "pair", "openai", "http://r/v1", {"models/pair": 1.0}, stand_in="router")
    lost = ServedEndpoint("lost", "lost", "openai", "http://l/v1", {}, why="behind Service models/l is no workload")
    text = shown(tmp_path, LiveFleet("local", (one,), (routed, lost)), 200)
    assert "http://127.0.0.1:4000/v1 (for a router)" in text
    assert "no answer: behind Service models/l is no workload" in text


@pytest.mark.parametrize(
    ("name", "printed"), [("[bold]m[/bold]", "[bold]m[/bold]"), ("a\nb\x1b[31m\u202e", "a\\x0ab\\x1b[31m\\u202e")]
)
def test_hostile_names_are_text(tmp_path: Path, name: str, printed: str) -> None:
    own = workload("m", model=name)
    found = endpoint(own)
    text = shown(tmp_path, LiveFleet("local", (own,), (found,)), 200)
    assert printed in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def call(folder: Path, stack: str = "local") -> StackCall:
    return StackCall(stack, Deployer.LOCAL, "", folder)


def test_outputs_have_the_addresses_under_a_key_of_their_own(tmp_path: Path) -> None:
    outputs = {"endpoints": {"m": {"url": "http://m.models:8000/v1"}}}
    assert with_addresses(outputs, call(tmp_path)) == outputs
    written(tmp_path, fleet_of(workload("m")), door="http://127.0.0.1:4444")
    assert with_addresses(outputs, call(tmp_path)) == {
        **outputs,
        "loopback": {
            "simulated": True,
            "endpoints": {"m": "http://127.0.0.1:4000/v1"},
            "door": "http://127.0.0.1:4444/v1",
        },
    }
    assert with_addresses(outputs, call(tmp_path, "other")) == outputs


def test_an_output_of_that_name_stays_what_it_is(tmp_path: Path) -> None:
    written(tmp_path, fleet_of(workload("m")))
    assert with_addresses({"loopback": 1}, call(tmp_path)) == {"loopback": 1}


def test_no_token_is_shown(tmp_path: Path) -> None:
    live = written(tmp_path, fleet_of(workload("m")))
    live.write_addresses("pods", control="http://127.0.0.1:3999", token="t0ken", endpoints={})
    assert "t0ken" not in repr(with_addresses({}, call(tmp_path)))
    assert "t0ken" not in shown(tmp_path, fleet_of(workload("m")), 200)


def test_processes_that_ended_by_themselves_are_told(tmp_path: Path) -> None:
    live = written(tmp_path, fleet_of(workload("m")))
    assert list(live_processes(live)) == []
    save(Process(2**22 + 1, "never"), live.pid_file("pods"))
    (found,) = live_processes(live)
    assert (found.name, found.pid) == ("pods", None)
