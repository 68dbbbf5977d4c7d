"""``workbench live fault`` and ``workbench live speed`` as they are run."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.support import workbench
from tests.livefleet.commands.standin import TOKEN, StandIn, control, pod, project, state

GONE = {
    "fault": "node",
    "name": "g6-2",
    "pods": ["models/chat-1", "models/chat-2"],
    "broken": 3,
    "text": "node g6-2 is gone",
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[StandIn]:
    pods = (pod("models/chat-1", node="g6-1"), pod("models/chat-2", node="g6-2", running=5))
    with control(state(pods=pods)) as found:
        found.answers = {"/fault": (200, GONE), "/speed": (200, {"answers": 10, "starts": 60})}
        project(tmp_path, found)
        yield found


def test_a_named_node(served: StandIn, tmp_path: Path) -> None:
    ran = workbench("fault", "node", "g6-2", "--cwd", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "node g6-2 is gone (simulated)",
        "affected pods: models/chat-1, models/chat-2",
        "`workbench live watch` shows the effect; a running `workbench live load` counts failed requests",
    ]
    assert served.asked == [("/fault", {"fault": "node", "name": "g6-2"})]


def test_the_one_that_matters(served: StandIn, tmp_path: Path) -> None:
    ran = workbench("fault", "node", "--model", "qwen", "--cwd", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "node g6-2: the one with the most requests of qwen"
    assert served.asked[-1] == ("/fault", {"fault": "node", "name": "g6-2"})


def test_json_is_nothing_but_json(served: StandIn, tmp_path: Path) -> None:
    ran = workbench("fault", "pod", "--output", "json", "--cwd", tmp_path)
    assert json.loads(ran.stdout) == GONE
    assert served.asked[-1] == ("/fault", {"fault": "pod", "name": "models/chat-2"})


def test_a_name_that_is_not_there(served: StandIn, tmp_path: Path) -> None:
    served.answers["/fault"] = 404, {"error": "no node 'g7'", "there": ["g6-1", "g6-2"]}
    ran = workbench("fault", "node", "g7", "--cwd", tmp_path)
    assert ran.returncode == 1
    assert ran.stderr == "no node 'g7'; available: g6-1, g6-2\n"


def test_hostile_texts_stay_text(served: StandIn, tmp_path: Path) -> None:
    served.answers["/fault"] = 200, GONE | {"text": "gone\nforged", "pods": ["a\x1b[2Jb"]}
    ran = workbench("fault", "node", "a\nb", "--cwd", tmp_path)
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[:2] == [r"gone\x0aforged (simulated)", r"affected pods: a\x1b[2Jb"]


def test_a_name_and_a_model(served: StandIn, tmp_path: Path) -> None:
    ran = workbench("fault", "node", "g6-1", "--model", "chat", "--cwd", tmp_path)
    assert ran.returncode == 2
    assert "leave out the name, or --model" in ran.stderr
    assert served.asked == []


@pytest.mark.parametrize("what", ["", "nodes", "NODE"])
def test_an_unknown_fault(what: str, tmp_path: Path) -> None:
    ran = workbench("fault", *([what] if what else []), "--cwd", tmp_path)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


def test_the_speed_is_shown(served: StandIn, tmp_path: Path) -> None:
    ran = workbench("speed", "--cwd", tmp_path)
    assert ran.stdout.splitlines() == [
        "answers: 1 x real time",
        "starts of nodes and pods: 60 x real time",
    ]
    assert served.asked == [("/state", None)]


def test_the_speed_is_changed(served: StandIn, tmp_path: Path) -> None:
    ran = workbench("speed", "--answers", "10", "--cwd", tmp_path, "--output", "json")
    assert json.loads(ran.stdout) == {"answers": 10, "starts": 60}
    assert served.asked == [("/speed", {"answers": 10})]


@pytest.mark.parametrize("value", ["0", "-1", "nan", "1e9", "fast"])
def test_no_speed(value: str, served: StandIn, tmp_path: Path) -> None:
    ran = workbench("speed", "--answers", value, "--cwd", tmp_path)
    assert ran.returncode == 2
    assert "--answers" in ran.stderr
    assert served.asked == []


@pytest.mark.parametrize("command", [["fault", "node"], ["speed"], ["watch", "--once"]])
def test_without_a_fleet(command: list[str], tmp_path: Path) -> None:
    ran = workbench(*command, "--cwd", tmp_path)
    assert ran.returncode == 1
    assert "start it with `make up`" in ran.stderr


def test_the_token_is_nowhere(served: StandIn, tmp_path: Path) -> None:
    served.stop()
    ran = workbench("speed", "--cwd", tmp_path)
    assert ran.returncode == 1
    assert "does not answer" in ran.stderr
    assert TOKEN not in ran.stdout + ran.stderr
