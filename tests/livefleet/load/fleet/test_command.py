"""``workbench live load`` of a model of the stack, as it is run: clients and the fleet side by side."""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from livefleet.control_api import NoteKind
from livefleet.door.keys import issued
from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from tests.commands.support import workbench
from tests.livefleet.commands.standin import (
    TOKEN,
    StandIn,
    control,
    endpoint,
    model,
    note,
    project,
    state,
    workload,
)
from tests.livefleet.load.server import DONE, Served, event, said, serving, streamed, usage

ANSWER = streamed(event(), event(), usage(3, 2), DONE)
FLEET = LiveFleet(
    "local", (workload("chat"), workload("code")), (endpoint("chat", "qwen"), endpoint("code", "coder"))
)


@contextmanager
def playing(path: Path, answer: Served | None = None, speed: float = 1.0) -> Iterator[tuple[Served, StandIn]]:
    """A fleet whose model ``chat`` answers."""
    with serving(ANSWER) as served, control(state(speed=speed)) as fleet:
        asked = answer or served
        project(path, fleet, FLEET, endpoints={"chat": asked.url.removesuffix("/v1")}, door=asked.url)
        yield asked, fleet


def load(path: Path, *arguments: str | Path) -> tuple[int, str, str]:
    ran = workbench("load", "--cwd", path, *arguments)
    return ran.returncode, ran.stdout, ran.stderr


def test_a_model_of_the_stack(tmp_path: Path) -> None:
    page, data = tmp_path / "load.html", tmp_path / "load.json"
    with playing(tmp_path) as (served, fleet):

        def happen() -> None:
            # Once the load has begun, and has seen two replicas, one is lost.
            while not served.bodies or not fleet.told:
                time.sleep(0.01)
            gone = note("node g6-1 is gone", NoteKind.FAULT)
            fleet.state = replace(fleet.state, models=(model(ready=1, waiting=7),), notes=(gone,))

        thread = threading.Thread(target=happen)
        thread.start()
        code, out, errors = load(
            tmp_path, "--model", "chat", "--rate", "10", "--duration", "3s", "--save", page, "--save", data
        )
        thread.join()
    assert code == 0, errors
    assert {body["model"] for body in served.bodies} == {"qwen"}
    assert out.splitlines()[0] == f"qwen at {served.url}, simulated"
    assert "simulated engines, which answer in real time" in out
    assert "fault: node g6-1 is gone (simulated)" in errors
    rows = {tuple(line.split()) for line in out.splitlines()}
    assert ("replicas", "ready", "1", "2") in rows
    assert ("requests", "waiting", "0", "7") in rows
    found = json.loads(data.read_text())
    assert found["fleet"]["simulated"] is True
    series = found["fleet"]["series"]
    assert len(series["seconds"]) >= 3
    assert series["seconds"] == sorted(series["seconds"])
    assert (series["ready"][0], series["ready"][-1]) == (2, 1)
    (fault,) = (each for each in found["fleet"]["events"] if each["kind"] == "fault")
    assert fault["text"] == "node g6-1 is gone"
    assert 0 <= fault["seconds"] <= 3
    assert "replicas (simulated)" in page.read_text()
    everything = out + errors + page.read_text() + data.read_text()
    assert TOKEN not in everything


def test_through_the_door_with_its_key(tmp_path: Path) -> None:
    data = tmp_path / "load.json"
    with playing(tmp_path) as (served, _):
        live = LiveFolder(tmp_path / ".workbench")
        live.door_key.write_text("key-of-the-door\n")
        code, out, errors = load(
            tmp_path, "--model", "code", "--door", "--users", "1", "--duration", "200ms", "--save", data
        )
    assert code == 0, errors
    assert {body["model"] for body in served.bodies} == {"coder"}
    assert set(served.keys) == {"Bearer key-of-the-door"}
    assert "key-of-the-door" not in out + errors + data.read_text()


@pytest.mark.parametrize("known", [True, False])
def test_the_certificate_of_the_door(known: bool, tmp_path: Path) -> None:
    """What signed it is trusted by this command alone; another certificate is not."""
    authority, certificate, key = issued(["models.example.com"])
    for name, content in (("tls.crt", certificate), ("tls.key", key)):
        (tmp_path / name).write_bytes(content)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    with serving(ANSWER, tls) as served, playing(tmp_path, served):
        file = LiveFolder(tmp_path / ".workbench").door_authority
        file.parent.mkdir()
        file.write_bytes(authority if known else issued(["other.example.com"])[0])
        code, out, _ = load(
            tmp_path, "--model", "chat", "--door", "--users", "1", "--think", "50ms", "--duration", "200ms"
        )
    assert (code, "certificate" in out) == ((0, False) if known else (1, True))


def test_without_the_door_no_key_is_sent(tmp_path: Path) -> None:
    with playing(tmp_path) as (served, _):
        LiveFolder(tmp_path / ".workbench").door_key.write_text("key-of-the-door\n")
        code, _, errors = load(tmp_path, "--model", "chat", "--users", "1", "--duration", "200ms")
    assert code == 0, errors
    assert set(served.keys) == {""}


def test_of_many_things_that_happen_at_once_the_first_are_told(tmp_path: Path) -> None:
    with playing(tmp_path) as (served, fleet):

        def happen() -> None:
            while not served.bodies:
                time.sleep(0.01)
            notes = tuple(note(f"node {number} went") for number in range(20))
            fleet.state = replace(fleet.state, notes=notes)

        thread = threading.Thread(target=happen)
        thread.start()
        code, _, errors = load(tmp_path, "--model", "chat", "--rate", "10", "--duration", "3s")
        thread.join()
    assert code == 0, errors
    lines = [line.partition(" s: ")[2] for line in errors.splitlines() if "node:" in line]
    first = [f"node: node {number} went (simulated)" for number in range(3)]
    assert lines == [*first, "node: and 17 more (simulated)"]


def test_times_of_fast_engines_are_scaled_beside_those_measured(tmp_path: Path) -> None:
    with playing(tmp_path, speed=60):
        code, out, errors = load(tmp_path, "--model", "qwen", "--users", "1", "--duration", "300ms")
    assert code == 0, errors
    assert "simulated engines, which answer 60 x as fast as in real time" in out
    rows = {name: line for line in out.splitlines() for name in [line.strip().partition("  ")[0]]}
    measured, scaled = (
        float(rows[name].split()[-1]) for name in ("whole answer", "whole answer, in real time (x 60)")
    )
    assert scaled == pytest.approx(60 * measured, abs=60 * 0.06)


def test_another_server_is_not_called_simulated(tmp_path: Path) -> None:
    with serving(ANSWER) as served:
        ran = workbench("load", "--url", served.url, "--model", "m", "--users", "1", "--duration", "200ms")
    assert ran.returncode == 0
    assert "simulated" not in ran.stdout + ran.stderr


def test_it_goes_on_watching_after_the_last_request(tmp_path: Path) -> None:
    data = tmp_path / "load.json"
    with playing(tmp_path):
        code, _, errors = load(
            tmp_path, "--model", "chat", "--users", "1", "--duration", "200ms", "--follow", "2500ms", "--save", data
        )
    assert code == 0, errors
    found = json.loads(data.read_text())
    assert found["seconds"] < 2
    assert found["fleet"]["series"]["seconds"][-1] >= 2.5


def test_a_fleet_that_stops_meanwhile_leaves_a_gap(tmp_path: Path) -> None:
    with playing(tmp_path) as (served, fleet):

        def happen() -> None:
            while not served.bodies:
                time.sleep(0.01)
            fleet.stop()

        thread = threading.Thread(target=happen)
        thread.start()
        code, out, errors = load(tmp_path, "--model", "chat", "--rate", "10", "--duration", "3s")
        thread.join()
    assert code == 0, errors
    assert "the live fleet did not answer" in out


def test_what_goes_wrong_is_counted_over_time(tmp_path: Path) -> None:
    data = tmp_path / "load.json"
    with serving(said(503)) as served, playing(tmp_path, served):
        code, out, _ = load(
            tmp_path, "--model", "chat", "--rate", "20", "--arrivals", "even", "--duration", "2s", "--save", data
        )
    assert code == 1
    assert "40 x HTTP 503" in out
    moments = json.loads(data.read_text())["moments"]
    assert sum(each["errors"].get("HTTP 503", 0) for each in moments) == 40
    assert sum(bool(each["errors"]) for each in moments) >= 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--model", "other"], "has no model 'other'; available: chat (qwen), code (coder)"),
        (["--model", "chat", "--stack", "prod"], "plays stack 'local', not 'prod'"),
        (["--model", "chat", "--follow", "soon"], "--follow: must be a duration"),
        (["--model", "chat", "--url", "http://127.0.0.1:9/v1", "--door"], "--door: is for a model of the live fleet"),
        (["--model", "chat", "--url", "http://127.0.0.1:9/v1", "--follow", "1s"], "--follow: is for a model of the"),
    ],
)
def test_wrong_usage(arguments: list[str], told: str, tmp_path: Path) -> None:
    with control(state()) as fleet:
        project(tmp_path, fleet, FLEET, endpoints={"chat": "http://127.0.0.1:9"})
        code, _, errors = load(tmp_path, "--rate", "1", *arguments)
    assert code == 2
    assert told in errors


def test_no_fleet(tmp_path: Path) -> None:
    code, _, errors = load(tmp_path, "--model", "chat", "--rate", "1")
    assert code == 2
    assert "no live fleet runs in " in errors
    assert "pass --url" in errors
