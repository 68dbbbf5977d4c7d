"""What breaks, what does not, and that the fleet is whole again."""

import asyncio
import http.client
import json
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from http.client import RemoteDisconnected
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest

from livefleet.control_api import LiveFault, NoteKind
from livefleet.pods import serving
from livefleet.pods.cluster import LiveCluster
from tests.livefleet.pods.stand import MANAGER, ZONE, Stand, asked, deployment, slower
from tests.monitoring.programs.daemon import eventually
from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError

LONG = 100_000
"""Tokens of an answer that does not end within a test."""


def busy(stand: Stand, requests: int) -> list["Future[Any]"]:
    """Send requests that take long, and wait until they are computed."""
    pool = ThreadPoolExecutor(requests)
    sent = [pool.submit(stand.ask, "demo", LONG) for _ in range(requests)]
    eventually(lambda: stand.control.state().models[0].running == requests, "requests that run")
    return sent


def nodes_of(stand: Stand) -> set[str]:
    return {pod["spec"].get("nodeName", "") for pod in stand.pods()}


def test_a_killed_pod_breaks_its_requests_and_another_one_comes(stand: Stand) -> None:
    workload = stand.workload(context=2 * LONG)
    with stand.playing(stand.fleet(workload, groups=(stand.group("gpu", nodes=2, least=2),))):
        stand.deploy()
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        sent = busy(stand, 3)
        name = stand.pods()[0]["metadata"]["name"]
        outcome = stand.control.fault(LiveFault.POD, name)
        assert (outcome.broken, outcome.pods) == (3, (f"{stand.namespace}/{name}",))
        for each in sent:
            assert isinstance(each.exception(30), (RemoteDisconnected, ConnectionResetError))
        eventually(lambda: [pod["metadata"]["name"] for pod in stand.pods()] not in ([], [name]), "another pod")
        eventually(lambda: stand.ready() == 1, "a Ready pod again")
        assert stand.ask()[0] == 200
        eventually(lambda: stand.control.state().models[0].refused == 3, "three that were broken off")


def test_a_pod_that_is_scaled_away_finishes_what_it_runs(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "LINGER_SECONDS", 8.0)
    workload = stand.workload(context=2 * LONG)
    with stand.playing(stand.fleet(workload, groups=(stand.group("gpu", nodes=2, least=2),))):
        patient = deployment("demo", stand.namespace, replicas=1, gpus=1)
        patient["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1000
        stand.kube.apply(patient, manager=MANAGER)
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        (backend,) = set(stand.backends().values())
        with closing(http.client.HTTPConnection(backend, timeout=30)) as kept, ThreadPoolExecutor(4) as pool:
            kept.request("GET", "/health")
            assert kept.getresponse().read() == b""
            sent = [pool.submit(stand.ask, "demo", 10_000) for _ in range(3)]  # a hundred seconds of tokens
            eventually(lambda: stand.control.state().models[0].running == 3, "requests that run")
            stand.scale("demo", 0)
            eventually(lambda: not stand.pods(), "no pod")
            assert asked(f"http://{backend}/v1")[0] == 200  # late, and taken
            eventually(lambda: stand.control.state().models[0].answered == 1, "the late one counted")
            assert stand.ask()[0] == 503  # at the endpoint, nobody is sent there any more
            # Who keeps a connection hears at once that nobody reads it any more.
            assert kept.sock.recv(1) == b""
            assert not any(each.done() for each in sent)
            stand.control.speed(50.0, None)
            assert [each.result(30)[0] for each in sent] == [200, 200, 200]
        eventually(lambda: not stand.backends(), "no backend")
        with pytest.raises(ConnectionRefusedError):
            asked(f"http://{backend}/v1")


def test_a_node_that_is_gone_takes_its_pods_and_comes_back_as_reserve(stand: Stand) -> None:
    group = stand.group("gpu", nodes=3, least=2)
    workload = slower(stand.workload(context=2 * LONG), node=60.0)
    with stand.playing(stand.fleet(workload, groups=(group,)), starts=60.0):
        stand.deploy(replicas=2)
        eventually(lambda: stand.ready() == 2, "two Ready pods")
        sent = busy(stand, 4)
        (victim, *_) = sorted(pod["spec"]["nodeName"] for pod in stand.pods())
        running = {pod.node: pod.running for pod in stand.control.state().pods}
        outcome = stand.control.fault(LiveFault.NODE, victim)
        assert outcome.broken == running[victim]
        eventually(lambda: victim not in nodes_of(stand) and stand.ready() == 2, "two Ready pods again")
        eventually(lambda: stand.stage_of(group) == {"there": 2, "reserve": 1}, "the node is back, in reserve")
        again = next(each for each in stand.kube.list("v1", "Node") if each["metadata"]["name"] == victim)
        assert again["metadata"]["labels"][ZONE]
        assert again["status"]["allocatable"]["nvidia.com/gpu"] == "1"
        for pod in stand.pods():
            stand.control.fault(LiveFault.POD, pod["metadata"]["name"])
        failed = [each.exception(30) for each in sent]
        assert all(isinstance(each, (RemoteDisconnected, ConnectionResetError)) for each in failed)
        # When the stack goes, what it does not know goes as well; the nodes that it made are its own matter.
        stand.scale("demo", 0)
        eventually(lambda: not stand.pods(), "no pod")
        stand.folder.write_fleet(stand.fleet())
        eventually(lambda: sum(stand.stage_of(group).values()) == 2, "the nodes of the stack alone")


def test_a_spot_node_ends_its_pods_before_it_goes(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "LINGER_SECONDS", 0.5)
    group = stand.group("gpu", nodes=2, least=1)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,)), starts=60.0):
        stand.deploy()
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        node = stand.pods()[0]["spec"]["nodeName"]
        with ThreadPoolExecutor(1) as pool:
            # A second: much less than the notice, also on a machine that is busy.
            sent = pool.submit(stand.ask, "demo", 100)
            eventually(lambda: stand.control.state().models[0].running == 1, "a request that runs")
            outcome = stand.control.fault(LiveFault.SPOT, node)
            assert (outcome.broken, len(outcome.pods)) == (0, 1)
            assert sent.result(30)[0] == 200
        eventually(
            lambda: any("is gone, as announced" in note.text for note in stand.control.state().notes), "its end"
        )
        eventually(lambda: stand.ready() == 1, "a Ready pod elsewhere")
        assert stand.pods()[0]["spec"]["nodeName"] != node


def test_a_pod_that_ends_while_nothing_watches_finishes_what_it_runs(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each watch fails, so that only lists show changes: between two of them, the pod is deleted and gone."""

    def fails(*_: object) -> NoReturn:
        raise KubeError(http.HTTPStatus.INTERNAL_SERVER_ERROR, "InternalError", "no watch")

    monkeypatch.setattr(serving, "LINGER_SECONDS", 0.5)
    monkeypatch.setattr(Kube, "watch", fails)
    with stand.playing(stand.fleet(stand.workload(), groups=(stand.group("gpu", nodes=1, least=1),))):
        stand.deploy()
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(stand.ask, "demo", 300)
            eventually(lambda: stand.control.state().models[0].running == 1, "a request that runs")
            stand.scale("demo", 0)
            assert sent.result(30)[0] == 200
        eventually(lambda: not stand.backends(), "no backend")


def test_a_zone_is_gone_and_no_node_comes_there(stand: Stand) -> None:
    group = stand.group("gpu", nodes=6, least=3)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,)), starts=1.0):
        stand.deploy(replicas=3)
        eventually(lambda: stand.ready() == 3, "three Ready pods")
        outcome = stand.control.fault(LiveFault.ZONE, f"{stand.namespace}-a")
        assert len(outcome.pods) == 1
        gone = {name.partition("/")[2] for name in outcome.pods}
        eventually(lambda: not gone & {pod["metadata"]["name"] for pod in stand.pods()}, "the pods are gone")
        eventually(lambda: stand.ready() == 3, "three Ready pods again")
        zones = {each.zone for each in stand.control.state().pods}
        assert zones <= {f"{stand.namespace}-b", f"{stand.namespace}-c"}
        assert stand.stage_of(group) == {"there": 3, "reserve": 1}


def test_a_zone_is_gone_before_the_api_server_has_heard_of_it(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty nodes take a busy API server longer than a command waits; connections break at once all the same."""
    delete, answers = LiveCluster.delete_node, threading.Event()

    async def delete_slowly(cluster: LiveCluster, name: str) -> None:
        while not answers.is_set():
            await asyncio.sleep(0.02)
        await delete(cluster, name)

    monkeypatch.setattr(LiveCluster, "delete_node", delete_slowly)
    group = stand.group("gpu", nodes=6, least=4)
    workload = stand.workload(context=2 * LONG)
    with stand.playing(stand.fleet(workload, groups=(group,)), starts=60.0):
        stand.deploy(replicas=4)
        eventually(lambda: stand.ready() == 4, "four Ready pods")
        sent = busy(stand, 8)
        zone = f"{stand.namespace}-a"
        lost = {pod.name: pod.running for pod in stand.control.state().pods if pod.zone == zone}
        begun = time.time()
        outcome = stand.control.fault(LiveFault.ZONE, zone)
        assert (set(outcome.pods), outcome.broken) == (set(lost), sum(lost.values()))
        eventually(lambda: sum(each.done() for each in sent) >= outcome.broken, "the requests that break")
        broken_by = time.time()
        (fault,) = (note for note in stand.control.state().notes if note.kind is NoteKind.FAULT)
        assert begun <= fault.at <= broken_by
        failed = [each for each in sent if each.done()]
        assert len(failed) == outcome.broken
        assert all(isinstance(each.exception(), ConnectionError) for each in failed)
        # Nothing counts them any more, though the API server still has them.
        state = stand.control.state()
        assert zone not in {pod.zone for pod in state.pods}
        assert state.groups[0].nodes == 4 - len(lost)
        assert sum(stand.stage_of(group).values()) == 6
        with pytest.raises(UserError, match=f"no node is in a zone '{zone}'; available: {stand.namespace}-b"):
            stand.control.fault(LiveFault.ZONE, zone)
        answers.set()
        eventually(lambda: sum(stand.stage_of(group).values()) == 4, "the nodes are deleted")
        # Pods of the deleted nodes stay listed until they are collected.
        eventually(lambda: len(stand.pods()) == stand.ready() == 4, "four Ready pods elsewhere, and no others")
        for pod in stand.pods():
            stand.control.fault(LiveFault.POD, pod["metadata"]["name"])


@pytest.mark.parametrize("fault", list(LiveFault), ids=str)
def test_what_is_not_there_is_refused_with_what_is(stand: Stand, fault: LiveFault) -> None:
    group = stand.group("gpu", nodes=1, least=1)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,))):
        stand.deploy()
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        there = {
            LiveFault.POD: f"{stand.namespace}/demo-",
            LiveFault.ZONE: f"{stand.namespace}-a",
        }.get(fault, f"{group.name}-0")
        with pytest.raises(UserError, match=f"{there}"):
            stand.control.fault(fault, "nobody\n")


def test_a_client_that_hangs_up_is_forgotten(stand: Stand) -> None:
    workload = stand.workload(context=2 * LONG)
    with stand.playing(stand.fleet(workload, groups=(stand.group("gpu", nodes=1, least=1),))):
        stand.deploy()
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        parts = urlsplit(stand.folder.addresses().endpoints["demo"])
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        body = {"model": "demo", "prompt": "x", "max_tokens": LONG}
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        eventually(lambda: stand.control.state().models[0].running == 1, "a request that runs")
        connection.close()
        eventually(lambda: stand.control.state().models[0].running == 0, "no request that runs")
