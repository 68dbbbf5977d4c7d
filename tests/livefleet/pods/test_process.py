"""The process itself: its part of the live fleet, restarts in the middle, another fleet, many pods."""

import http.client
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from livefleet.fleet import LiveFleet, ServedEndpoint
from livefleet.folder import LiveFolder
from livefleet.pods.kubelet import WARM
from livefleet.pods.part import PodsPart
from tests.livefleet.pods.stand import PORT, Stand, slower
from tests.monitoring.programs.daemon import eventually
from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.process import saved, start_time


@pytest.fixture
def part(stand: Stand) -> Iterator[PodsPart]:
    """The part, for a state folder that has the cluster of the session."""
    link = stand.folder.state_dir / "cluster"
    link.symlink_to(stand.identity.parent)
    part = PodsPart(answers=10.0, starts=600.0)
    try:
        yield part
    finally:
        part.stop(stand.folder)


def start(part: PodsPart, folder: LiveFolder, fleet: LiveFleet) -> int:
    folder.write_fleet(fleet)
    part.start(folder, fleet, lambda _: None)
    process = saved(folder.pid_file(part.name))
    assert process
    return process.pid


def test_it_is_started_once_and_found_where_it_was(stand: Stand, part: PodsPart) -> None:
    fleet = stand.fleet(stand.workload(), groups=(stand.group("gpu", nodes=1, least=1),))
    assert part.is_wanted(fleet)
    assert not part.is_wanted(LiveFleet("nothing"))
    pid = start(part, stand.folder, fleet)
    assert (stand.control.state().speed, stand.control.state().start_speed) == (10.0, 600.0)
    assert start(replace(part, answers=20.0), stand.folder, fleet) == pid
    assert (stand.control.state().speed, stand.control.state().start_speed) == (20.0, 600.0)
    where = stand.folder.addresses()
    assert part.stop(stand.folder) == ("pods",)
    assert stand.folder.addresses().control == ""
    assert part.stop(stand.folder) == ()
    assert start(part, stand.folder, fleet) != pid
    assert stand.folder.addresses() == where  # who has learned addresses and token may keep them


def test_a_process_that_was_killed_takes_up_where_it_was(stand: Stand, part: PodsPart) -> None:
    """In the middle of a cold start, and of the start of a node."""
    workload = stand.workload(paces={"g6.xlarge": stand.workload().paces[""]})
    group = stand.group("gpu", nodes=2, least=1)
    fleet = stand.fleet(slower(workload, pod=36_000.0, node=36_000.0), groups=(group,))  # a minute each
    pid = start(part, stand.folder, fleet)
    # The scheduler may be faster than the process where pods and nodes come at the same time.
    eventually(lambda: stand.stage_of(group) == {"there": 1, "reserve": 1}, "the nodes at rest")
    stand.deploy(replicas=2, annotations={WARM: "false"})
    eventually(lambda: stand.stage_of(group) == {"there": 1, "starting": 1}, "a node that starts")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: start_time(pid) is None, "its end")
    with pytest.raises(UserError):
        stand.control.state()
    assert start(part, stand.folder, fleet) != pid
    assert stand.stage_of(group) == {"there": 1, "starting": 1}
    assert stand.ready() == 0
    model = stand.control.state().models[0]
    assert (model.ready, model.starting, model.pending) == (0, 1, 1)
    stand.control.speed(None, 36_000.0)
    eventually(lambda: stand.ready() == 1, "the pod on the node that was there")
    eventually(lambda: stand.ready() == 2, "both pods")


def test_another_fleet_does_not_touch_others(stand: Stand) -> None:
    """A model is added, renamed and removed; a connection to another one stays, with what it computes."""
    group = stand.group("gpu", nodes=3, least=3)
    one, two = stand.workload("one", context=100_000), stand.workload("two")
    with stand.playing(stand.fleet(one, groups=(group,))):
        stand.deploy("one")
        stand.deploy("two")
        eventually(lambda: stand.ready() == 2, "two Ready pods")
        urls = stand.folder.addresses().endpoints
        parts = urlsplit(urls["one"])
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        body: dict[str, Any] = {"model": "demo", "prompt": "x", "max_tokens": 1000, "stream": True}
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        before = stand.backends()
        stand.folder.write_fleet(stand.fleet(one, two, groups=(group,)))
        eventually(lambda: stand.folder.addresses().endpoints.keys() == {"one", "two"}, "another endpoint")
        eventually(lambda: stand.ask("two")[0] == 200, "an answer of the new one")
        assert stand.folder.addresses().endpoints["one"] == urls["one"]
        assert before.items() <= stand.backends().items()
        renamed = replace(one, models=("other",))
        stand.folder.write_fleet(stand.fleet(renamed, groups=(group,)))
        eventually(lambda: stand.folder.addresses().endpoints == urls, "one endpoint")
        eventually(lambda: stand.ask("one")[0] == 404, "another name of the model")
        assert response.read().endswith(b"data: [DONE]\n\n")
        connection.close()


def test_a_fleet_that_cannot_be_read_changes_nothing(stand: Stand) -> None:
    with stand.playing(stand.fleet(stand.workload())):
        (stand.folder.path / "fleet.json").write_text("{")
        stand.folder.write_fleet(stand.fleet(stand.workload(), stand.workload("two")))
        eventually(lambda: len(stand.folder.addresses().endpoints) == 2, "the next fleet")


def test_its_identity_may_do_what_it_does_and_no_more(stand: Stand) -> None:
    forbidden = (
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces/default"),
        ("DELETE", "/apis/apps/v1/namespaces/default/deployments/x"),
        ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
    )
    with Kube.from_kubeconfig(stand.identity) as fleet:
        for method, path in forbidden:
            with pytest.raises(KubeError) as error:
                fleet.request(method, path, body={} if method == "POST" else None)
            assert error.value.status == 403, path
            assert "workbench-fleet" in error.value.message
        assert isinstance(fleet.request("GET", "/api/v1/pods"), dict)


def test_an_endpoint_without_an_answer_says_why(stand: Stand) -> None:
    endpoint = ServedEndpoint("far", "m", "openai", "http://x/v1", {}, why="it is in another cluster")
    with stand.playing(LiveFleet("test", endpoints=(endpoint,))):
        status, body = stand.ask("far")
        assert status == 503
        assert "it is in another cluster" in body["error"]["message"]


def test_weights_are_kept_by_connection(stand: Stand) -> None:
    group = stand.group("gpu", nodes=2, least=2)
    left, right = stand.workload("left"), stand.workload("right")
    endpoint = ServedEndpoint("both", "demo", "openai", f"http://x:{PORT}/v1", {left.key: 9.0, right.key: 1.0})
    fleet = replace(stand.fleet(left, right, groups=(group,)), endpoints=(endpoint,))
    with stand.playing(fleet, answers=1000.0):
        stand.deploy("left")
        stand.deploy("right")
        eventually(lambda: stand.ready() == 2, "two Ready pods")
        for _ in range(300):
            assert stand.ask("both", 1)[0] == 200
        answered = {each.title: each.answered for each in stand.control.state().models}
        assert sum(answered.values()) == 300
        # Three standard deviations of 300 throws at 0.9: 16.
        assert abs(answered["left"] - 270) <= 16
