"""What clients see of a fault: the requests that it hit, no others, and a fleet that is whole again."""

import itertools
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from livefleet.load.arrivals import DueRequest
from livefleet.load.session import LoadTargetOptions, run_load
from tests.livefleet.faulty import KEY, REPLICAS, STARTS, ZONES, Faulty, faulty
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import Kube

Report = dict[str, Any]
RATE = 15
BROKEN = {"connection lost", "stream cut off", "no connection"}


@contextmanager
def under_load(fleet: Faulty) -> Iterator[Report]:
    """Put load on the model, so that each pod computes some ten requests; its report is there afterwards.

    It lasts as long as the block, however long this machine takes for what breaks and heals in it.
    """
    report, ended = Report(), threading.Event()
    options = LoadTargetOptions(
        "chat", "", "local", fleet.cwd, door=False, follow="", chat=True, whole=False, timeout="60s", key_env=""
    )
    numbers = itertools.takewhile(lambda _: not ended.is_set(), itertools.count())
    requests = (DueRequest(number / RATE, 100, 100) for number in numbers)
    with ThreadPoolExecutor(1) as thread:
        loading = thread.submit(run_load, options, requests)
        try:
            eventually(lambda: loading.done() or fleet.model().running >= 10, "requests in every pod")
            yield report
        finally:
            ended.set()
    report |= json.loads(loading.result().as_json())


def errors(report: Report) -> int:
    return sum(report["errors"].values())


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, live_kube: Kube, live_state: Path) -> Iterator[Faulty]:
    with faulty(tmp_path_factory.mktemp("project"), live_kube, live_state) as found:
        yield found


def test_a_node_deleted_under_load(fleet: Faulty) -> None:
    with under_load(fleet) as found:
        outcome = fleet.run("fault", "node", "--model", "chat")
        fleet.wait_until_replaced(outcome["pods"])
    assert len(outcome["pods"]) == 1
    assert outcome["broken"] > 0
    assert len({pod.node for pod in fleet.pods().values()}) == REPLICAS
    (fault,) = (event for event in found["fleet"]["events"] if event["kind"] == "fault")
    # Errors only on the requests that the node held, and all of them in the report.
    assert len(fault["hit"]) == errors(found)
    # The process has not seen what was still on its way to the node: less than comes in a second.
    assert 0 <= errors(found) - outcome["broken"] < RATE / REPLICAS
    assert {each["error"] for each in fault["hit"]} <= BROKEN
    assert fault["in_flight"] > len(fault["hit"])
    assert fault["later"] == 0
    series = found["fleet"]["series"]
    assert 0 < fault["seconds"] < series["seconds"][-1]
    assert min(series["ready"]) == REPLICAS - 1
    assert series["ready"][-1] == REPLICAS
    assert found["answered"] == found["requests"] - errors(found)


def test_a_spot_node_is_taken_back_under_load_and_no_request_is_lost(fleet: Faulty) -> None:
    with under_load(fleet) as found:
        outcome = fleet.run("fault", "spot", "--model", "qwen")
        fleet.wait_until_replaced(outcome["pods"])
    assert (len(outcome["pods"]), outcome["broken"]) == (1, 0)
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
    fleet.wait_until_replaced(outcome["pods"])


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
