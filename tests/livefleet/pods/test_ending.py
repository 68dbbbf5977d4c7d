"""A pod that is asked to end and a pod that is gone may be heard of in one breath."""

import asyncio
import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import AsyncMock, Mock

import aiohttp
import pytest
from aiohttp import web

from livefleet.informer import Informer
from livefleet.pods import serving
from livefleet.pods.pod import LivePod, SimulatedClock
from livefleet.pods.ports import Loopback
from livefleet.pods.process import PodsProcess
from livefleet.pods.runtime import PodRuntime
from livefleet.pods.serving import ServingPod
from tests.livefleet.pods.stand import Stand
from tests.livefleet.pods_by_hand import pod_by_hand
from tests.monitoring.programs.daemon import eventually
from toolkit.kube.following import WatchStep

TOKENS = 1000
"""Ten seconds of tokens."""


async def heard(process: PodsProcess, grace: int) -> None:
    """Let the process hear, without a pause, that its pod is asked to end and that it is gone."""
    (pod,) = (copy.deepcopy(pod) for pod, _ in process.runtime.pods())
    ending: dict[str, Any] = copy.deepcopy(pod)
    ending["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": grace}
    process.runtime.changed(pod, ending)
    process.runtime.changed(ending, None)


def counted(stand: Stand) -> tuple[int, int]:
    model = stand.control.state().models[0]
    return model.answered, model.refused


@pytest.mark.parametrize(("grace", "answered"), [(30, 3), (0, 0)], ids=["asked to end", "killed"])
def test_what_runs_is_finished_unless_the_pod_is_killed(grace: int, answered: int, stand: Stand) -> None:
    with stand.playing(stand.fleet(stand.workload(), groups=(stand.group("gpu", nodes=1, least=1),))) as process:
        stand.deploy()
        eventually(lambda: stand.ready() == 1, "a Ready pod")
        with ThreadPoolExecutor(3) as pool:
            sent = [pool.submit(stand.ask, "demo", TOKENS) for _ in range(3)]
            eventually(lambda: stand.control.state().models[0].running == 3, "requests that run")
            assert stand._loop
            asyncio.run_coroutine_threadsafe(heard(process, grace), stand._loop).result(30)
            stand.control.speed(20.0, None)
            assert sum(each.exception(30) is None for each in sent) == answered
            # Neither while the pod is leaving nor afterwards is a request forgotten.
            eventually(lambda: counted(stand) == (answered, 3 - answered), "each request counted")
            eventually(lambda: not process.runtime.serving, "the pod's end")
            assert counted(stand) == (answered, 3 - answered)


def test_a_request_that_arrives_late_has_the_grace_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients learn of the end of a pod in real time; answers that are faster have no shorter grace for that."""
    monkeypatch.setattr(serving, "LINGER_SECONDS", 2.0)

    async def answered() -> int:
        hub, port_closed = Loopback(), asyncio.Event()

        async def engine(_pod: LivePod, _request: web.Request) -> web.StreamResponse:
            await port_closed.wait()
            return web.Response()

        # The grace would be over before the port is closed.
        pod = ServingPod(pod_by_hand(speed=1000.0), engine, lambda own, _request: own)
        await hub.start()
        await pod.open(hub)
        close = pod.port.close

        def closed() -> None:
            close()
            port_closed.set()

        monkeypatch.setattr(pod.port, "close", closed)
        async with aiohttp.ClientSession() as session:
            draining = asyncio.ensure_future(pod.drain(1900.0))
            async with session.get(f"http://{pod.port.address}/") as response:
                status = response.status
            await draining
        await hub.close()
        return status

    assert asyncio.run(answered()) == 200


def test_once_the_process_ends_no_pod_is_started() -> None:
    """Informers go on until their client is closed, which comes last."""

    async def started() -> bool:
        cluster = Mock(ending=set(), pods=Mock(objects={}))
        runtime = PodRuntime(Mock(), AsyncMock(), (SimulatedClock(), SimulatedClock()), cluster)
        runtime.close()
        status = {"phase": "Running", "podIP": "10.244.0.1"}
        metadata = {"name": "late", "namespace": "default", "uid": "u"}
        runtime.changed(None, {"metadata": metadata, "spec": {"nodeName": "n"}, "status": status})
        return bool(runtime._starting)

    assert not asyncio.run(started())


def test_a_loop_that_is_closed_ends_what_follows_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At any moment: it may have been open when it was looked at."""

    async def made() -> Informer:
        return Informer(Mock(), "v1", "Pod")

    informer = asyncio.run(made())
    monkeypatch.setattr(informer, "_loop", Mock(wraps=informer._loop, is_closed=lambda: False))
    monkeypatch.setattr("livefleet.informer.follow", lambda *_, **__: iter([WatchStep(relisted=True)]))
    informer._run()
    assert not informer.synced.is_set()
