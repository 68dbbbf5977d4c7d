"""Where models answer on this machine, as ``up`` and ``outputs`` show it."""

import itertools
import json
import shlex
from pathlib import Path

import pytest

from livefleet.fleet import LiveFleet, ServedEndpoint
from livefleet.lifecycle import live_processes
from tests.deploying.fleets import endpoint, fleet_of, workload, written
from toolkit.process import Process, save
from toolkit.screen import Message, Screen
from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.tables import StackReport, stack_lines, with_addresses


def shown(folder: Path, fleet: LiveFleet, width: int = 80, door: str = "", *, details: bool = False) -> str:
    outputs = {"endpoints": {each.title: {"model": each.model, "url": each.url} for each in fleet.endpoints}}
    report = StackReport("local", outputs, fleet=fleet, folder=written(folder, fleet, door=door))
    return "\n".join(stack_lines(report, Screen(width), details=details))


@pytest.mark.parametrize(("severity", "printed"), [("note", False), ("warning", True)])
def test_blank_lines_are_single(severity: str, *, printed: bool) -> None:
    report = StackReport("local", {"endpoints": {"chat": {"model": "chat", "url": "http://chat.models:80/v1"}}})
    finding = Message(severity=severity, rule="model-unknown", place="chat.yaml:3", cause="not in the catalog")
    lines = stack_lines(report, Screen(80), [finding], details=False)
    assert any("not in the catalog" in line for line in lines) == printed
    assert all(line or after for line, after in itertools.pairwise(lines))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("door", ["", "http://127.0.0.1:4444"])
def test_the_address_of_this_machine_is_whole_and_one_command_calls_it(tmp_path: Path, width: int, door: str) -> None:
    fleet = fleet_of(workload("llama2-7b-lora-support", model="microsoft/Phi-4-mini-instruct"), outside=True)
    text = shown(tmp_path, fleet, width, door)
    lines = text.splitlines()
    assert lines[0].split() == ["MODEL", "$/MONTH", "ADDRESS"]
    assert lines[1].split() == ["llama2-7b-lora-support", "-", "http://127.0.0.1:4000/v1"]
    assert all(len(line) <= width for line in lines)
    assert ("All models at the gateway: http://127.0.0.1:4444/v1" in lines) == bool(door)
    (start,) = [number for number, line in enumerate(lines) if line.startswith("Call a model ")]
    assert lines[start].endswith("; its answers are simulated:")
    # As a shell reads it: a backslash joins two lines.
    words = shlex.split("\n".join(lines[start + 1 : -2]).replace("\\\n", " "))
    assert words[:3] == ["curl", "-N", f"{door or 'http://127.0.0.1:4000'}/v1/chat/completions"]
    assert json.loads(words[-1])["model"] == "microsoft/Phi-4-mini-instruct"
    assert text.count("curl") == 1


def test_details_have_a_command_for_each_way(tmp_path: Path) -> None:
    fleet = fleet_of(workload("m"), outside=True)
    assert shown(tmp_path, fleet, door="http://127.0.0.1:4444", details=True).count("curl -N") == 2


def test_what_plays_something_else_says_so(tmp_path: Path) -> None:
    one = workload("pair")
    routed = ServedEndpoint("pair", "pair", "openai", "http://r/v1", {"models/pair": 1.0}, stand_in="router")
    lost = ServedEndpoint("lost", "lost", "openai", "http://l/v1", {}, why="behind Service models/l is no workload")
    lines = shown(tmp_path, LiveFleet("local", (one,), (routed, lost))).splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["lost", "-", "no", "answer"],
        ["pair", "-", "http://127.0.0.1:4000/v1"],
    ]
    assert "note: pair answers for a router" in lines
    assert "note: lost has no answer: behind Service models/l is no workload" in lines


@pytest.mark.parametrize(
    ("name", "printed"), [("[bold]m[/bold]", "[bold]m[/bold]"), ("a\nb\x1b[31m\u202e", "a\\x0ab\\x1b[31m\\u202e")]
)
def test_hostile_names_are_text(tmp_path: Path, name: str, printed: str) -> None:
    own = workload(name, model=name)
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
    assert "t0ken" not in shown(tmp_path, fleet_of(workload("m")), details=True)


def test_processes_that_ended_by_themselves_are_told(tmp_path: Path) -> None:
    live = written(tmp_path, fleet_of(workload("m")))
    assert list(live_processes(live)) == []
    save(Process(2**22 + 1, "never"), live.pid_file("pods"))
    (found,) = live_processes(live)
    assert (found.name, found.pid) == ("pods", None)
