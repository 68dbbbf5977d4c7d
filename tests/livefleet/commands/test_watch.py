"""``workbench live watch`` as it is run: on a terminal, in a pipe, once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.support import ROOT, workbench
from tests.livefleet.commands.standin import control, model, note, project, state
from tests.livefleet.commands.terminal import Terminal, on_terminal

ALTERNATE, USUAL = "\x1b[?1049h", "\x1b[?1049l"
SHOWN, HIDDEN = "\x1b[?25h", "\x1b[?25l"
MANY = tuple(model(f"model-{number:02}") for number in range(40))


def test_it_shows_what_changes_and_q_leaves(tmp_path: Path) -> None:
    with control(state()) as served:
        project(tmp_path, served)
        with on_terminal("watch", "--cwd", tmp_path) as terminal:
            before = terminal.mode
            terminal.wait_for("2/2")
            served.state = replace(served.state, models=(model(ready=1, pending=1),), notes=(note("no room"),))
            terminal.wait_for("no room")
            assert "1/2" in terminal.shown
            assert terminal.mode != before
            terminal.press("q")
            assert terminal.ended() == 0
            assert terminal.mode == before
    assert terminal.shown.index(ALTERNATE) < terminal.shown.rindex(USUAL)
    assert terminal.shown.index(HIDDEN) < terminal.shown.rindex(SHOWN)


def _interrupt(terminal: Terminal) -> None:
    terminal.press("\x03")


def _terminate(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGTERM)


def _hang_up(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGHUP)


@pytest.mark.parametrize(
    ("leave", "code"), [(_interrupt, 0), (_terminate, 143), (_hang_up, 129)], ids=["ctrl-c", "term", "hup"]
)
def test_the_terminal_is_as_before_however_it_ends(
    leave: Callable[[Terminal], None], code: int, tmp_path: Path
) -> None:
    with control(state()) as served:
        project(tmp_path, served)
        with on_terminal("watch", "--cwd", tmp_path) as terminal:
            before = terminal.mode
            terminal.wait_for("2/2")
            leave(terminal)
            assert terminal.ended() == code
            assert terminal.mode == before
    assert terminal.shown.rindex(USUAL) > terminal.shown.rindex(ALTERNATE)
    assert "Traceback" not in terminal.shown


def test_it_goes_on_while_the_fleet_does_not_answer_and_ends_well_on_a_defect(tmp_path: Path) -> None:
    with control(state()) as served:
        project(tmp_path, served)
        with on_terminal("watch", "--cwd", tmp_path) as terminal:
            before = terminal.mode
            terminal.wait_for("2/2")
            served.text = "no state at all"
            # What is not this fleet is told once the terminal is as before.
            assert terminal.ended() == 1
            assert terminal.mode == before
    assert "is not the live fleet of this version" in terminal.shown[terminal.shown.rindex(USUAL) :]


def test_a_fleet_that_stops_is_told(tmp_path: Path) -> None:
    with control(state()) as served:
        project(tmp_path, served)
        with on_terminal("watch", "--cwd", tmp_path) as terminal:
            terminal.wait_for("2/2")
            served.stop()
            terminal.wait_for("no answer for")
            terminal.press("q")
            assert terminal.ended() == 0


def test_it_takes_the_size_that_the_terminal_has(tmp_path: Path) -> None:
    with control(state(models=MANY)) as served:
        project(tmp_path, served)
        with on_terminal("watch", "--cwd", tmp_path, lines=24) as terminal:
            terminal.wait_for("more")
            terminal.resize(60, 120)
            terminal.wait_for("model-39")
            terminal.press("q")
            assert terminal.ended() == 0


def test_a_small_terminal_is_scrolled_filtered_and_sorted(tmp_path: Path) -> None:
    with control(state(models=MANY)) as served:
        project(tmp_path, served)
        with on_terminal("watch", "--cwd", tmp_path, lines=24, columns=80) as terminal:
            terminal.wait_for("model-00")
            assert "model-39" not in terminal.shown
            terminal.press("\x1b[F")
            terminal.wait_for("model-39")
            terminal.press("/model-2")
            terminal.wait_for("filter: model-2_")
            terminal.press("q")
            terminal.wait_for("model-2q_")
            terminal.press("\x7f\r")
            terminal.wait_for("model-29")
            terminal.press("\x1b")
            terminal.wait_for("model-00")
            terminal.press("s")
            terminal.wait_for("sorted by name")
            terminal.press("q")
            assert terminal.ended() == 0


def test_once_filtered_and_sorted(tmp_path: Path) -> None:
    models = (model("b", usd_per_hour=1.0), model("ab", usd_per_hour=3.0), model("c", usd_per_hour=9.0))
    with control(state(models=models)) as served:
        project(tmp_path, served)
        options = ("watch", "--once", "--cwd", tmp_path, "--filter", "B", "--sort", "cost")
        ran, as_json = workbench(*options), workbench(*options, "--output", "json")
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[0] for line in ran.stdout.splitlines()[3:5]] == ["ab", "b"]
    assert [each["title"] for each in json.loads(as_json.stdout)["models"]] == ["ab", "b"]


def test_once_has_everything(tmp_path: Path) -> None:
    with control(state(models=MANY)) as served:
        project(tmp_path, served)
        ran = workbench("watch", "--once", "--cwd", tmp_path)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("simulated: 40 models, 80/80 replicas ready, 2 nodes, 2.00 USD/h")
    assert sum(line.startswith("model-") for line in lines) == 40
    assert "more" not in ran.stdout


def test_once_as_json(tmp_path: Path) -> None:
    with control(state()) as served:
        project(tmp_path, served)
        ran = workbench("watch", "--once", "--output", "json", "--cwd", tmp_path)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["models"][0] | {"title": "chat", "ready": 2, "pace": "estimate"} == found["models"][0]
    assert found["groups"][0]["most"] == 8


@pytest.mark.parametrize(("output", "times"), [("text", 2), ("json", 3)])
def test_lines_again_and_again_where_there_is_no_terminal(output: str, times: int, tmp_path: Path) -> None:
    with control(state(models=(*MANY, model("busy", running=3)), notes=(note("a node came"),))) as served:
        project(tmp_path, served)
        command = [sys.executable, "-m", "workbench", "watch", "--cwd", str(tmp_path), "--output", output]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            text=True,
            # A job in the background of a script ignores the signal.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout
        lines: list[str] = []
        start = "simulated:" if output == "text" else "{"
        while sum(line.startswith(start) for line in lines) < times:
            lines.append(process.stdout.readline())
            assert lines[-1], "it has ended"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "cancelled\n"
    if output == "json":
        assert all(len(json.loads(line)["models"]) == 41 for line in lines)
        return
    # What rests is not told, and what happened is told once.
    assert lines[1].startswith("  busy: ready 2/2, starting 0, pending 0, waiting 0, running 3, cache 0%, desired -,")
    assert not any("model-" in line for line in lines)
    assert sum("a node came" in line for line in lines) == 1


def test_no_fleet(tmp_path: Path) -> None:
    ran = workbench("watch", "--cwd", tmp_path)
    assert ran.returncode == 1
    assert "no live fleet runs in " in ran.stderr
    assert "make up" in ran.stderr
