"""When pods answer: cold starts, warm first pods, and what clients hear before."""

import time

import pytest

from tests.livefleet.pods.stand import Stand, slower
from tests.monitoring.programs.daemon import eventually


def test_the_first_pods_are_ready_at_once(stand: Stand) -> None:
    """A start-up of an hour, at the speed of life: only warm pods are Ready within a test."""
    workload = slower(stand.workload(), pod=3600.0)
    with stand.playing(stand.fleet(workload, groups=(stand.group("gpu", nodes=2, least=2),)), starts=1.0):
        stand.deploy(replicas=2)
        eventually(lambda: stand.ready() == 2, "two Ready pods")
        status, body = stand.ask()
        assert (status, body["usage"]["completion_tokens"]) == (200, 4)


@pytest.mark.usefixtures("no_first")
def test_later_pods_take_their_cold_start(stand: Stand) -> None:
    workload = slower(stand.workload(), pod=360.0)
    with stand.playing(stand.fleet(workload, groups=(stand.group("gpu", nodes=1, least=1),)), starts=60.0):
        began = time.time()
        stand.deploy()
        eventually(lambda: [pod for pod in stand.pods() if pod["status"]["phase"] == "Running"], "a pod that runs")
        (pod,) = stand.pods()
        assert stand.ready() == 0
        assert pod["status"]["containerStatuses"][0]["ready"] is False
        status, body = stand.ask()
        assert status == 503
        assert "no pod of demo is Ready: of 1, 1 are starting and 0 Pending" in body["error"]["message"]
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        # 360 s at 60 x are 6 s; the API server's times have whole seconds.
        assert time.time() - began >= 4.9
        (pod,) = stand.pods()
        assert pod["status"]["containerStatuses"][0]["ready"] is True
        assert stand.ask()[0] == 200


@pytest.mark.usefixtures("no_first")
def test_a_speed_that_changes_ends_a_cold_start(stand: Stand) -> None:
    workload = slower(stand.workload(), pod=3600.0)
    with stand.playing(stand.fleet(workload, groups=(stand.group("gpu", nodes=1, least=1),)), starts=1.0):
        stand.deploy()
        eventually(lambda: stand.control.state().models[0].starting == 1, "a pod that starts")
        assert stand.control.speed(None, 10_000.0) == (1.0, 10_000.0)
        eventually(lambda: stand.ready() == 1, "a Ready pod")


def test_pods_that_serve_nothing_are_ready_at_once(stand: Stand) -> None:
    """Their probes are nobody's business, and a gateway must not wait for ever."""
    with stand.playing(stand.fleet(groups=(stand.group("gpu", nodes=1, least=1),))):
        stand.deploy("other")
        eventually(lambda: stand.ready() == 1, "a Ready pod")


def test_a_workload_without_replicas_says_so(stand: Stand) -> None:
    with stand.playing(stand.fleet(stand.workload())):
        status, body = stand.ask()
        assert status == 503
        assert "its workload has no replicas" in body["error"]["message"]
