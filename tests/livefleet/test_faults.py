"""What clients see of a fault: the requests that it hit, no others, and a fleet that is whole again."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands.support import ROOT
from tests.livefleet.faulty import KEY, REPLICAS, STARTS, ZONES, Faulty, faulty
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube

RATE = 15
BROKEN = {"connection lost", "stream cut off", "no connection"}


@contextmanager
def under_load(fleet: Faulty, report: Path) -> Iterator[None]:
    """Put load on the model, so that each pod computes some ten requests; it has ended afterwards.

    It takes longer than a command that breaks something under it, and until the fleet is whole again.
    """
    command = [sys.executable, "-m", "workbench", "load", "--cwd", str(fleet.cwd), "--model", "chat"]
    options = ["--rate", RATE, "--duration", f"{fleet.seconds}s", "--output-tokens", 100, "--save", report]
    with subprocess.Popen(
        [*command, *map(str, options)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            eventually(lambda: process.poll() is not None or fleet.model().running >= 10, "requests in every pod")
            yield
            output, _ = process.communicate(timeout=fleet.seconds + 60)
            assert process.returncode == 0, output
        finally:
            process.kill()


def errors(report: dict[str, Any]) -> int:
    return sum(report["errors"].values())


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, live_kube: Kube, live_state: Path) -> Iterator[Faulty]:
    with faulty(tmp_path_factory.mktemp("project"), live_kube, live_state) as found:
        yield found


def test_a_node_deleted_under_load(fleet: Faulty, tmp_path: Path) -> None:
    report = tmp_path / "load.json"
    with under_load(fleet, report):
        outcome = fleet.run("fault", "node", "--model", "chat")
    eventually(fleet.is_whole, "the fleet is whole again", pause=0.5)
    pods = fleet.pods()
    assert len(outcome["pods"]) == 1
    assert outcome["broken"] > 0
    assert outcome["pods"][0] not in pods
    assert len({pod.node for pod in pods.values()}) == REPLICAS
    found = json.loads(report.read_text())
    (fault,) = (event for event in found["fleet"]["events"] if event["kind"] == "fault")
    # Errors only on the requests that the node held, and all of them in the report.
    assert len(fault["hit"]) == errors(found)
    # The process has not seen what was still on its way to the node: less than comes in a second.
    assert 0 <= errors(found) - outcome["broken"] < RATE / REPLICAS
    assert {each["error"] for each in fault["hit"]} <= BROKEN
    assert fault["in_flight"] > len(fault["hit"])
    assert fault["later"] == 0
    assert 0 < fault["seconds"] < fleet.seconds
    series = found["fleet"]["series"]
    assert min(series["ready"]) == REPLICAS - 1
    assert series["ready"][-1] == REPLICAS
    assert found["answered"] > 10 * errors(found)


def test_a_spot_node_is_taken_back_under_load_and_no_request_is_lost(fleet: Faulty, tmp_path: Path) -> None:
    report = tmp_path / "load.json"
    with under_load(fleet, report):
        outcome = fleet.run("fault", "spot", "--model", "qwen")
    eventually(fleet.is_whole, "the fleet is whole again", pause=0.5)
    assert (len(outcome["pods"]), outcome["broken"]) == (1, 0)
    assert outcome["pods"][0] not in fleet.pods()
    found = json.loads(report.read_text())
    assert found["errors"] == {}
    announced, *gone = (event for event in found["fleet"]["events"] if event["kind"] == "fault")
    assert announced["in_flight"] > 0
    assert all((each["hit"], each["later"]) == ([], 0) for each in (announced, *gone))


def test_a_killed_pod_is_made_anew(fleet: Faulty) -> None:
    before = set(fleet.pods())
    outcome = fleet.run("fault", "pod")
    assert outcome["pods"] == [outcome["name"]]
    assert outcome["name"] in before
    assert outcome["name"].startswith(KEY)
    eventually(lambda: fleet.is_whole() and outcome["name"] not in fleet.pods(), "a new pod", pause=0.5)


def test_a_zone_that_is_gone_leaves_the_others_and_comes_back(fleet: Faulty) -> None:
    """Two of the four nodes: the third replica has no room until the zone is there again."""
    lost = {name for name, pod in fleet.pods().items() if pod.zone == ZONES[1]}
    outcome = fleet.run("fault", "zone", ZONES[1])
    assert set(outcome["pods"]) == lost
    eventually(lambda: (fleet.model().ready, fleet.model().pending) == (2, 1), "as many pods as nodes")
    assert {pod.zone for pod in fleet.pods().values() if pod.ready} == {ZONES[0]}
    assert not lost & set(fleet.pods())
    # A quarter of an hour.
    fleet.run("speed", "--starts", "300")
    eventually(fleet.is_whole, "the fleet is whole again")
    assert {pod.zone for pod in fleet.pods().values()} == set(ZONES)
    fleet.run("speed", "--starts", str(STARTS))
